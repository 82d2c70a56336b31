#include "src/machine/events/trace_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"

namespace profiler::events {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
// Limit in bytes for the records of a batch, and for their text.
constexpr uint32_t kMostBatchBytes = 1 << 24;

struct BatchHead {
  uint32_t records = 0;
  uint32_t bytes = 0;
};
struct RecordHead {
  uint32_t cpu = 0;
  uint32_t size = 0;
};

template <class T>
void AppendBytes(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
// Removes the value from the front of the text. Returns false if the text is too short.
template <class T>
bool TakeBytes(std::string_view& text, T* value) {
  if (text.size() < sizeof(*value)) return false;
  std::memcpy(value, text.data(), sizeof(*value));
  text.remove_prefix(sizeof(*value));
  return true;
}

bool SendAll(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

// Returns false if the stream ends, or if `deadline` passes, before `size` bytes have come.
bool ReceiveAll(int socket, std::byte* to, size_t size, steady_clock::time_point deadline) {
  while (size != 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
    constexpr std::chrono::milliseconds kHour = std::chrono::hours(1);
    if (poll(&wait, 1, static_cast<int>(std::min(left, kHour).count())) <= 0) continue;
    const ssize_t got = recv(socket, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool SendText(int socket, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  return SendAll(socket, BytesOf(size)) && SendAll(socket, BytesOfText(text));
}

std::string FieldLines(const TraceFormats& formats) {
  std::string lines;
  for (const EventFields& event : formats.Fields()) {
    lines += event.event;
    for (const std::string& field : event.fields) lines += ' ' + field;
    lines += '\n';
  }
  return lines;
}

// Runs in the child until the parent closes the socket.
void Serve(int socket, std::string_view section, const TraceParts& parts) {
  constexpr auto kForever = steady_clock::time_point::max();
  const auto formats = TraceFormats::Parse(section);
  const absl::string_view wrong = formats.status().message();
  if (!SendText(socket, {wrong.data(), wrong.size()}) || !formats.ok()) return;
  BatchHead head;
  std::string batch, text, answer;
  while (ReceiveAll(socket, reinterpret_cast<std::byte*>(&head), sizeof(head), kForever)) {
    batch.resize(head.bytes);
    if (!ReceiveAll(socket, reinterpret_cast<std::byte*>(batch.data()), batch.size(), kForever)) {
      return;
    }
    answer = head.records == 0 ? FieldLines(*formats) : "";
    std::string_view rest = batch;
    for (uint32_t i = 0; i < head.records; ++i) {
      RecordHead record;
      if (!TakeBytes(rest, &record) || record.size > rest.size()) return;
      text.clear();
      formats->AppendParts(BytesOfText(rest.substr(0, record.size)), record.cpu, parts, &text);
      rest.remove_prefix(record.size);
      AppendBytes(static_cast<uint32_t>(text.size()), answer);
      answer += text;
    }
    if (!SendText(socket, answer)) return;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceProcess>> TraceProcess::Start(std::string_view section,
                                                                  const TraceParts& parts) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrnoStatus(
        errno, "cannot make the socket of the process that reads the formats of tracepoints");
  }
  UniqueFd ours(ends[0]), its(ends[1]);
  const pid_t child = fork();
  if (child < 0)
    return ErrnoStatus(errno, "cannot start the process that reads the formats of tracepoints");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If this child kept the parent's output open, its reader would also wait for this child.
    close(STDOUT_FILENO);
    ours = UniqueFd();
    Serve(its.get(), section, parts);
    _exit(0);
  }
  std::unique_ptr<TraceProcess> process(new TraceProcess(child, std::move(ours)));
  its = UniqueFd();
  std::string wrong;
  PROFILER_RETURN_IF_ERROR(process->Receive(&wrong));
  if (!wrong.empty()) return absl::DataLossError(wrong);
  return process;
}

TraceProcess::~TraceProcess() { End(); }

void TraceProcess::End() {
  if (child_ == 0) return;
  socket_ = UniqueFd();
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
}

absl::Status TraceProcess::Receive(std::string* out) {
  const auto deadline = steady_clock::now() + kPatience;
  const size_t before = out->size();
  uint32_t size = 0;
  if (ReceiveAll(socket_.get(), reinterpret_cast<std::byte*>(&size), sizeof(size), deadline) &&
      size <= kMostBatchBytes) {
    out->resize(before + size);
    if (ReceiveAll(socket_.get(), reinterpret_cast<std::byte*>(out->data() + before), size,
                   deadline)) {
      return absl::OkStatus();
    }
  }
  out->resize(before);
  End();
  return absl::DataLossError(
      "TRACING_DATA: libtraceevent crashes on the recording's formats of tracepoints, so these are "
      "shown without fields from there on");
}

absl::Status TraceProcess::Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) {
  const TraceRecord record(cpu, TextOf(raw));
  std::vector<std::string> texts;
  PROFILER_RETURN_IF_ERROR(Texts({&record, 1}, &texts));
  *out += texts.front();
  return absl::OkStatus();
}

absl::Status TraceProcess::Texts(std::span<const TraceRecord> records,
                                 std::vector<std::string>* texts) {
  texts->assign(records.size(), "");
  std::string batch;
  for (const auto& [cpu, raw] : records) {
    AppendBytes(RecordHead{cpu, static_cast<uint32_t>(raw.size())}, batch);
    batch += raw;
  }
  if (child_ == 0 || records.empty() || batch.size() > kMostBatchBytes) return absl::OkStatus();
  const BatchHead head{static_cast<uint32_t>(records.size()), static_cast<uint32_t>(batch.size())};
  // If sending fails, the child is gone, and Receive returns the error.
  if (SendAll(socket_.get(), BytesOf(head))) SendAll(socket_.get(), BytesOfText(batch));
  std::string answer;
  PROFILER_RETURN_IF_ERROR(Receive(&answer));
  std::string_view rest = answer;
  for (std::string& text : *texts) {
    uint32_t size = 0;
    if (!TakeBytes(rest, &size) || size > rest.size()) break;
    text = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<EventFields>> TraceProcess::Fields() {
  std::vector<EventFields> all;
  if (child_ == 0) return all;
  SendAll(socket_.get(), BytesOf(BatchHead()));
  std::string lines;
  PROFILER_RETURN_IF_ERROR(Receive(&lines));
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    std::vector<std::string> words = absl::StrSplit(line, ' ');
    EventFields& event = all.emplace_back();
    event.event = std::move(words.front());
    event.fields.assign(words.begin() + 1, words.end());
  }
  return all;
}

}  // namespace profiler::events
