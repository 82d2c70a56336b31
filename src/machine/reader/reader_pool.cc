#include "src/machine/reader/reader_pool.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/passed_descriptor.h"

namespace profiler::reader {
namespace {

// Returns the state letter of proc_pid_stat(5); 'X' if the process is gone.
char StateOf(const std::string& proc, pid_t pid) {
  const std::string stat = BeginningOf(absl::StrCat(proc, "/", pid, "/stat"));
  const size_t name_end = stat.rfind(") ");
  return name_end == stat.npos || name_end + 2 >= stat.size() ? 'X' : stat[name_end + 2];
}

constexpr size_t kExchangesBegin = alignof(Exchange);
static_assert(sizeof(Priority) <= kExchangesBegin);

// A label of the answer to which a file belongs. Each exchange has only one reader.
struct FileLabel {
  uint64_t exchange = 0;
  uint32_t number = 0;
  bool operator==(const FileLabel&) const = default;
};

// An exchange has the same address in all processes.
FileLabel LabelOf(const Exchange& exchange) {
  return {reinterpret_cast<uint64_t>(&exchange), exchange.asked.load(std::memory_order_relaxed)};
}

std::span<char> CharsOf(FileLabel& label) {
  return {reinterpret_cast<char*>(&label), sizeof(label)};
}
std::span<const char> CharsOf(const FileLabel& label) {
  return {reinterpret_cast<const char*>(&label), sizeof(label)};
}

}  // namespace

std::string BeginningOf(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : -1;
  return size <= 0 ? std::string() : std::string(text.data(), static_cast<size_t>(size));
}

std::optional<uint32_t> UserOf(const std::string& proc, uint32_t pid) {
  const std::string status = BeginningOf(absl::StrCat(proc, "/", pid, "/status"));
  constexpr std::string_view kKey = "\nUid:\t";
  const size_t begin = status.find(kKey);
  uint32_t user = 0;
  if (begin == status.npos) return std::nullopt;
  const char* const first = status.data() + begin + kKey.size();
  const auto [end, error] = std::from_chars(first, status.data() + status.size(), user);
  return error == std::errc() ? std::optional(user) : std::nullopt;
}

bool SendFile(int channel, const Exchange& exchange, int fd) {
  const FileLabel label = LabelOf(exchange);
  return SendBeside(channel, CharsOf(label), fd, MSG_DONTWAIT) >= 0;
}

UniqueFd ReaderPool::ReceiveFile() const {
  const FileLabel wanted = LabelOf(current());
  while (true) {
    FileLabel label;
    UniqueFd file;
    const ssize_t size = ReceiveBeside(socket_.get(), CharsOf(label), &file, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    // If the label differs, a reader sent the file just before it was abandoned.
    if (size == sizeof(label) && label == wanted) return file;
  }
}

ReaderPool::~ReaderPool() {
  if (!AreOfParent()) {
    if (socket_.valid()) Order(kEnd);
    socket_.Reset();
    if (forker_ > 0) {
      while (waitpid(forker_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  if (shared_ != nullptr) munmap(shared_, SharedBytes());
}

bool ReaderPool::AreOfParent() const { return is_started_ && starter_ != getpid(); }

size_t ReaderPool::SharedBytes() const {
  return kExchangesBegin + (options_.most_abandoned + 2) * sizeof(Exchange);
}

absl::Status ReaderPool::Start() {
  if (std::exchange(is_started_, true)) return started_;
  starter_ = getpid();
  // The memory is zero, and only touched pages take memory.
  void* const shared = mmap(nullptr, SharedBytes(), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shared == MAP_FAILED) return started_ = ErrnoStatus(errno, "memory for reader processes");
  shared_ = shared;
  priority_ = static_cast<Priority*>(shared);
  exchanges_ = {reinterpret_cast<Exchange*>(static_cast<std::byte*>(shared) + kExchangesBegin),
                options_.most_abandoned + 2};
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return started_ = ErrnoStatus(errno, "socketpair");
  }
  const UniqueFd its(ends[0]);
  socket_ = UniqueFd(ends[1]);
  forker_ = fork();
  if (forker_ == 0) RunForker(its.get(), *priority_, exchanges_, service_);
  if (forker_ < 0) return started_ = ErrnoStatus(errno, "fork");
  started_ = absl::OkStatus();
  for (; forked_ < 2; ++forked_) Order(static_cast<uint8_t>(kFork | forked_));
  return started_;
}

void ReaderPool::TakeOverPriority() {
  if (!Start().ok()) return;
  sched_param param{};
  sched_getparam(0, &param);
  priority_->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  priority_->real_time = param.sched_priority;
  priority_->nice = getpriority(PRIO_PROCESS, 0);
  ++priority_->version;
}

ReaderPool::Answer ReaderPool::Ask() {
  Exchange& exchange = current();
  const uint32_t number = exchange.asked.load(std::memory_order_relaxed) + 1;
  exchange.asked.store(number, std::memory_order_release);
  WakeWaiter(exchange.asked);
  const Answer answer = AwaitAnswer(exchange, number);
  if (answer != Answer::kGiven) Abandon();
  return answer;
}

ReaderPool::Answer ReaderPool::AwaitAnswer(Exchange& exchange, uint32_t number) const {
  const auto is_given = [&] { return exchange.answered.load(std::memory_order_acquire) == number; };
  for (int round = 0; round < options_.most_rounds; ++round) {
    const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(options_.deadline.count());
    do {
      if (is_given()) return Answer::kGiven;
      WaitWhile(exchange.answered, number - 1, &deadline);
    } while (MonotonicNow() < deadline);
    if (is_given()) return Answer::kGiven;
    const pid_t reader = exchange.process;
    if (reader == 0) continue;  // not forked yet
    const char state = reader < 0 ? 'X' : StateOf(options_.proc, reader);
    if (is_given()) return Answer::kGiven;
    if (state == 'X' || state == 'Z') return Answer::kReaderGone;
    if (state != 'R') return Answer::kWaits;
  }
  return exchange.process > 0 ? Answer::kWaits : Answer::kReaderGone;
}

void ReaderPool::Abandon() {
  time_of_abandoned_ += CpuTimeOf(current().process);
  Order(static_cast<uint8_t>(kKill | current_));
  ++current_;
  ++abandoned_;
  if (forked_ < exchanges_.size()) Order(static_cast<uint8_t>(kFork | forked_++));
}

void ReaderPool::Order(uint8_t order) const {
  // If the forker is gone, its readers are, too; the next question notices that.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &order, 1, MSG_NOSIGNAL);
}

std::chrono::nanoseconds ReaderPool::CpuTime() const {
  std::chrono::nanoseconds time = time_of_abandoned_ + CpuTimeOf(forker_);
  for (size_t i = current_; i < forked_; ++i) time += CpuTimeOf(exchanges_[i].process);
  return time;
}

}  // namespace profiler::reader
