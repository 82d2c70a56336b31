#include "src/machine/reader/patient_files.h"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/byte_reader.h"
#include "src/base/file_systems.h"
#include "src/base/mount_info.h"
#include "src/base/raised_capabilities.h"

namespace profiler::reader {

enum class Question : uint8_t { kOpen, kFileId, kLink, kNames, kStart };

namespace {

// Capabilities to open files as root, and to adopt the program's priority.
constexpr uint64_t kToServeFiles = Capability(CAP_DAC_OVERRIDE) | Capability(CAP_DAC_READ_SEARCH) |
                                   Capability(CAP_SYS_NICE) | kToReadProcesses | kToOpenImages;

// ---- content of requests and answers: numbers in native order, texts after their length

class Writer {
 public:
  explicit Writer(Exchange& exchange) : exchange_(exchange) { exchange_.request_bytes = 0; }

  template <class Number>
  Writer& Put(Number number) {
    return PutBytes(std::as_bytes(std::span(&number, 1)));
  }
  Writer& PutText(std::string_view text) {
    return Put(static_cast<uint32_t>(text.size())).PutBytes(std::as_bytes(std::span(text)));
  }
  // False if the content did not fit.
  bool ok() const { return ok_; }

 private:
  Writer& PutBytes(std::span<const std::byte> bytes) {
    uint64_t& size = exchange_.request_bytes;
    ok_ = ok_ && bytes.size() <= exchange_.data.size() - size;
    if (!ok_ || bytes.empty()) return *this;
    std::memcpy(exchange_.data.data() + size, bytes.data(), bytes.size());
    size += bytes.size();
    return *this;
  }

  Exchange& exchange_;
  bool ok_ = true;
};

std::span<const std::byte> Content(const Exchange& exchange) {
  return std::span(exchange.data).first(std::min<uint64_t>(exchange.request_bytes, kDataBytes));
}

std::string ReadText(ByteReader& from) {
  const std::span<const std::byte> bytes = from.ReadBytes(from.Read<uint32_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void PutStatus(const absl::Status& status, Writer& to) {
  to.Put(static_cast<int32_t>(status.code()))
      .PutText({status.message().data(), status.message().size()});
}

absl::Status ReadStatus(ByteReader& from) {
  const auto code = static_cast<absl::StatusCode>(from.Read<int32_t>());
  const std::string message = ReadText(from);
  return code == absl::StatusCode::kOk ? absl::OkStatus() : absl::Status(code, message);
}

// ---- in the reader process

// Returns the lines about refused files; the program passes them to WarnOfUnknownFileSystem.
std::vector<std::string>& Warnings() {
  static auto* const warnings = new std::vector<std::string>;
  return *warnings;
}

absl::Status AnswerOpen(FileAccess& files, const std::string& path, const std::string& root,
                        const Exchange& exchange, int channel) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd file, files.OpenRegularFile(path, root));
  if (SendFile(channel, exchange, file.get())) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat(path, ": cannot pass on the open file"));
}

void AnswerFile(FileAccess& files, Exchange& exchange, int channel) {
  ByteReader from(Content(exchange));
  const auto question = static_cast<Question>(from.Read<uint8_t>());
  const auto raised_ones = from.Read<uint64_t>();
  const auto most = from.Read<uint64_t>();
  const std::string path = ReadText(from), root = ReadText(from);
  const RaisedCapabilities raised(raised_ones);
  absl::Status status;
  std::string text;
  std::optional<FileId> id;
  std::vector<std::string> names;
  switch (question) {
    case Question::kOpen:
      WarnOfUnknownFileSystems([](std::string_view line) { Warnings().emplace_back(line); });
      status = AnswerOpen(files, path, root, exchange, channel);
      break;
    case Question::kFileId:
      id = files.FileIdOf(path);
      if (!id) status = absl::NotFoundError("");
      break;
    case Question::kLink:
      text = files.LinkAt(path);
      break;
    case Question::kNames:
      names = files.NamesIn(path);
      break;
    case Question::kStart:
      status = files.ReadStart(path, most, &text);
      break;
  }
  Writer to(exchange);
  PutStatus(status, to);
  to.PutText(absl::StrJoin(std::exchange(Warnings(), {}), "\n"));
  if (id) to.Put(uint64_t{id->device}).Put(uint64_t{id->inode});
  if (question == Question::kLink || question == Question::kStart) to.PutText(text);
  if (question == Question::kNames) {
    to.Put(static_cast<uint32_t>(names.size()));
    for (const std::string& name : names) to.PutText(name);
  }
  if (to.ok()) return;
  Writer again(exchange);
  PutStatus(absl::ResourceExhaustedError(absl::StrCat(path, ": too many entries")), again);
  again.PutText("");
}

// ---- in the program

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

// Returns the process of a path below /proc/PID.
std::optional<uint32_t> ProcessOf(std::string_view path, std::string_view proc) {
  if (!path.starts_with(proc) || path.substr(proc.size(), 1) != "/") return std::nullopt;
  path.remove_prefix(proc.size() + 1);
  uint32_t pid = 0;
  const std::string_view number = path.substr(0, path.find('/'));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  return is_number ? std::optional(pid) : std::nullopt;
}

// Returns the mount point of the path. Compares only text, and does not follow links.
std::string MountOf(const std::string& path, const std::string& proc) {
  std::ifstream file(proc + "/self/mountinfo");
  const std::string mounts(std::istreambuf_iterator<char>(file), {});
  std::string point = "/";
  ForEachMount(mounts, [&](const Mount& mount) {
    const bool holds = path.starts_with(mount.point) && path.substr(mount.point.size(), 1) == "/";
    if (holds && mount.point.size() > point.size()) point = mount.point;
    return true;
  });
  return point;
}

// Returns the path as a reader needs it: its working directory is "/", and /proc/self/fd of the
// program is /proc/PID/fd.
std::string AsSeenByOthers(const std::string& path, const std::string& proc) {
  if (!path.empty() && !path.starts_with('/')) {
    std::error_code error;
    const std::filesystem::path directory = std::filesystem::current_path(error);
    // A working directory that was removed has no path. The reader must not look in "/" instead.
    if (error) return absl::StrCat(proc, "/", getpid(), "/cwd/", path);
    return (directory / path).native();
  }
  const std::string self = proc + "/self/";
  if (!path.starts_with(self)) return path;
  return absl::StrCat(proc, "/", getpid(), "/", path.substr(self.size()));
}

// True if only this process can see the path: the kernel hides the descriptors of a program with
// capabilities.
bool IsHidden(const std::string& path, const std::string& proc) {
  return RaisableCapabilities() != 0 && path.starts_with(proc + "/self/");
}

// True for directories that only root can change.
bool IsOfSystem(std::string_view path) {
  constexpr auto kSystem = std::to_array<std::string_view>(
      {"/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/", "/boot/", "/opt/", "/etc/"});
  return std::ranges::any_of(kSystem, [&](std::string_view at) { return path.starts_with(at); });
}

}  // namespace

PatientFiles::~PatientFiles() {
  if (&CurrentFileAccess() == this) AccessFilesThrough(nullptr);
}

ReaderPool& PatientFiles::StartedPool() {
  if (pool_ == nullptr || pool_->AreOfParent()) {
    const auto answer = [files = options_.files](Exchange& exchange, int channel) {
      static FileAccess file_system;
      AnswerFile(files != nullptr ? *files : file_system, exchange, channel);
    };
    pool_ = std::make_unique<ReaderPool>(
        PoolOptions{.proc = options_.proc,
                    .deadline = options_.deadline,
                    .most_rounds = 3,
                    .most_abandoned = kMostFilesAbandoned},
        Service{.answer = answer, .capabilities = kToServeFiles, .sends_files = true});
  }
  (void)pool_->Start();
  return *pool_;
}

void PatientFiles::Start() {
  const std::lock_guard lock(mutex_);
  StartedPool();
}

absl::Status PatientFiles::Standing(const std::string& path) const {
  const std::string entry = path + "/";
  bool has_waited = std::ranges::any_of(
      waits_, [&](const std::string& waited) { return entry.starts_with(waited + "/"); });
  if (const auto pid = ProcessOf(path, options_.proc); pid && !users_.empty()) {
    const std::optional<uint32_t> user = UserOf(options_.proc, *pid);
    has_waited = has_waited || (user && users_.contains(*user));
  }
  const bool are_too_many =
      pool_ != nullptr && pool_->abandoned() >= kMostFilesAbandoned && !IsOfSystem(path);
  if (!has_waited && !are_too_many) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      path, has_waited ? " was not opened: its file system did not answer before"
                       : " was not opened: too many file systems did not answer before"));
}

void PatientFiles::CountWait(const std::string& path) {
  const std::optional<uint32_t> pid = ProcessOf(path, options_.proc);
  if (!pid) {
    const std::string mount = MountOf(path, options_.proc);
    waits_.push_back(mount == "/" ? DirectoryOf(path) : mount);
    return;
  }
  waits_.push_back(absl::StrCat(options_.proc, "/", *pid));
  // Root and this user could stop this program anyway, so do not refuse all of their processes.
  const std::optional<uint32_t> user = UserOf(options_.proc, *pid);
  if (user && *user != 0 && *user != getuid()) users_.insert(*user);
}

absl::StatusOr<PatientFiles::Reply> PatientFiles::Ask(Question question, const std::string& path,
                                                      const std::string& root, uint64_t most) {
  const std::lock_guard lock(mutex_);
  PROFILER_RETURN_IF_ERROR(Standing(path));
  ReaderPool& pool = StartedPool();
  if (!pool.started().ok()) return pool.started();
  if (!pool.HasReader()) return absl::UnavailableError("no reader process");
  Writer to(pool.current());
  to.Put(question)
      .Put(RaisedCapabilities::InForce())
      .Put(most)
      .PutText(AsSeenByOthers(path, options_.proc))
      .PutText(AsSeenByOthers(root, options_.proc));
  if (!to.ok()) return absl::InvalidArgumentError("the path is too long");
  const Exchange& exchange = pool.current();
  switch (pool.Ask()) {
    case ReaderPool::Answer::kGiven:
      break;
    case ReaderPool::Answer::kWaits:
      CountWait(path);
      return absl::DeadlineExceededError(
          absl::StrCat(path, " was not opened: its file system did not answer in time"));
    case ReaderPool::Answer::kReaderGone:
      return absl::InternalError(absl::StrCat(path, ": the reader process ended"));
  }
  Reply reply;
  ByteReader from(Content(exchange));
  PROFILER_RETURN_IF_ERROR([&] {
    absl::Status status = ReadStatus(from);
    const std::string warnings = ReadText(from);
    if (!warnings.empty()) WarnOfUnknownFileSystem(warnings);
    return status;
  }());
  const std::span<const std::byte> rest = from.ReadBytes(from.remaining());
  reply.text.assign(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (question == Question::kOpen) {
    reply.file = pool.ReceiveFile();
    if (!reply.file.valid()) {
      return absl::ResourceExhaustedError(absl::StrCat(path, ": too many open files"));
    }
  }
  return reply;
}

absl::StatusOr<UniqueFd> PatientFiles::OpenRegularFile(const std::string& path,
                                                       const std::string& root) {
  if (IsHidden(path, options_.proc)) return FileAccess::OpenRegularFile(path, root);
  auto reply = Ask(Question::kOpen, path, root);
  PROFILER_RETURN_IF_ERROR(reply.status());
  return std::move(reply->file);
}

std::optional<FileId> PatientFiles::FileIdOf(const std::string& path) {
  if (IsHidden(path, options_.proc)) return FileAccess::FileIdOf(path);
  const auto reply = Ask(Question::kFileId, path);
  if (!reply.ok()) return std::nullopt;
  ByteReader from(BytesOfText(reply->text));
  FileId id;
  id.device = from.Read<uint64_t>();
  id.inode = from.Read<uint64_t>();
  return from.ok() ? std::optional(id) : std::nullopt;
}

std::string PatientFiles::LinkAt(const std::string& path) {
  const bool is_of_kernel = path.starts_with(options_.proc + "/") &&
                            path.find("/root/") == std::string::npos &&
                            path.find("/cwd/") == std::string::npos;
  if (is_of_kernel) return FileAccess::LinkAt(path);
  const auto reply = Ask(Question::kLink, path);
  if (!reply.ok()) return {};
  ByteReader from(BytesOfText(reply->text));
  return ReadText(from);
}

std::vector<std::string> PatientFiles::NamesIn(const std::string& directory) {
  const auto reply = Ask(Question::kNames, directory);
  if (!reply.ok()) return {};
  ByteReader from(BytesOfText(reply->text));
  std::vector<std::string> names;
  const auto count = from.Read<uint32_t>();
  for (uint32_t i = 0; i < count && from.ok(); ++i) names.push_back(ReadText(from));
  return names;
}

absl::Status PatientFiles::ReadStart(const std::string& path, size_t most, std::string* text) {
  text->clear();
  auto reply = Ask(Question::kStart, path, {}, most);
  PROFILER_RETURN_IF_ERROR(reply.status());
  ByteReader from(BytesOfText(reply->text));
  *text = ReadText(from);
  return absl::OkStatus();
}

std::vector<std::string> PatientFiles::TakeNotes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> notes;
  if (pool_ == nullptr) return notes;
  if (!pool_->started().ok() && !std::exchange(has_noted_start_, true)) {
    notes.push_back(absl::StrCat("cannot start a process that opens files (",
                                 pool_->started().message(), "): code has no names"));
  }
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.deadline).count();
  for (; noted_ < waits_.size(); ++noted_) {
    if (const auto pid = ProcessOf(waits_[noted_], options_.proc)) {
      notes.push_back(absl::StrCat("a file system of process ", *pid, " did not answer within ",
                                   milliseconds,
                                   " ms: code of this and other processes of its user may lack "
                                   "names and callers"));
    } else {
      notes.push_back(absl::StrCat("the file system of ", waits_[noted_], " did not answer within ",
                                   milliseconds,
                                   " ms, so files below it were not opened: their code may lack "
                                   "names and callers"));
    }
    if (noted_ + 1 < kMostFilesAbandoned) continue;
    notes.push_back(absl::StrCat(kMostFilesAbandoned,
                                 " file systems did not answer: after that, only files of the "
                                 "system's directories (/usr, /lib and so on) were opened"));
  }
  return notes;
}

std::chrono::nanoseconds PatientFiles::CpuTime() {
  const std::lock_guard lock(mutex_);
  return pool_ == nullptr ? std::chrono::nanoseconds(0) : pool_->CpuTime();
}

}  // namespace profiler::reader
