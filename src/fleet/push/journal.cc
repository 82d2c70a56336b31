#include "src/fleet/push/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "src/base/transfer.h"

namespace profiler::fleet {
namespace {

constexpr std::string_view kHeading = "profiler push 1 ";
constexpr std::string_view kFlight = "flight ", kDone = "done", kSkip = "skip ", kSent = "sent ";
constexpr size_t kHashDigits = 16;
constexpr size_t kLongestReason = 300;
constexpr size_t kNamesOfLine = 100;
// The journal is rewritten when its size exceeds twice the size after the last rewrite plus this
// many bytes.
constexpr size_t kGrowth = size_t{1} << 20;

std::string HashOf(std::string_view text) {
  return absl::StrFormat("%016x", XXH3_64bits(text.data(), text.size()));
}

std::string Sealed(std::string_view line) {
  return absl::StrCat(View(line), " ", HashOf(line), "\n");
}

// Returns the line without its hash, or nothing if the hash is wrong.
std::optional<std::string_view> Unsealed(std::string_view sealed) {
  if (sealed.size() < kHashDigits + 1) return std::nullopt;
  const std::string_view line = sealed.substr(0, sealed.size() - kHashDigits - 1);
  if (sealed.substr(line.size()) != " " + HashOf(line)) return std::nullopt;
  return line;
}

absl::Status WriteTo(int fd, std::string_view text, const std::string& path) {
  const int error = WriteFully(fd, BytesOfText(text));
  return error == 0 ? absl::OkStatus() : WriteError(error, path);
}

absl::StatusOr<std::string> TextIn(const std::string& path) {
  const auto file = OpenOwnFile(path);
  if (absl::IsNotFound(file.status())) return std::string();
  PROFILER_RETURN_IF_ERROR(file.status());
  struct stat status;
  if (fstat(file->get(), &status) != 0) return ErrnoStatus(errno, path);
  std::string text(static_cast<size_t>(status.st_size), '\0');
  PROFILER_ASSIGN_OR_RETURN(const size_t size,
                            ReadFully(file->get(), std::as_writable_bytes(std::span(text)), path));
  text.resize(size);
  return text;
}

std::string StemOf(const std::string& directory, std::string_view destination) {
  return absl::StrCat(directory, "/push-", HashOf(destination));
}

std::vector<std::string> Names(std::string_view text) {
  return absl::StrSplit(View(text), ' ', absl::SkipEmpty());
}

}  // namespace

PushJournal::PushJournal(std::string directory, std::string destination, UniqueFd lock)
    : directory_(std::move(directory)),
      path_(StemOf(directory_, destination) + ".journal"),
      destination_(std::move(destination)),
      lock_(std::move(lock)) {}

absl::StatusOr<PushJournal> PushJournal::Open(const std::string& directory,
                                              const std::string& destination,
                                              const absl::flat_hash_set<std::string>& existing) {
  const std::string lock_path = StemOf(directory, destination) + ".lock";
  UniqueFd lock(
      open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock.valid()) {
    return ErrnoStatus(errno, lock_path,
                       "push writes its progress beside the segments; run it as their owner");
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": another process already pushes it to ", destination));
  }
  PushJournal journal(directory, destination, std::move(lock));
  PROFILER_RETURN_IF_ERROR(journal.Read());
  journal.KeepOnly(existing);
  PROFILER_RETURN_IF_ERROR(journal.Rewrite());
  return journal;
}

absl::StatusOr<PushJournal> PushJournal::Peek(const std::string& directory,
                                              const std::string& destination) {
  PushJournal journal(directory, destination, UniqueFd());
  PROFILER_RETURN_IF_ERROR(journal.Read());
  return journal;
}

absl::Status PushJournal::Read() {
  PROFILER_ASSIGN_OR_RETURN(const std::string text, TextIn(path_));
  std::string_view rest = text;
  bool is_first = true;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const auto line = Unsealed(rest.substr(0, end));
    if (is_first && line != absl::StrCat(View(kHeading), destination_)) {
      return absl::DataLossError(
          absl::StrCat(path_, ": this file is not a journal of segments pushed to ", destination_,
                       "; remove it to send all segments again"));
    }
    is_first = false;
    if (end == rest.npos || !line) break;  // cut off
    Take(*line);
    rest.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

void PushJournal::Take(std::string_view line) {
  if (line.starts_with(kFlight)) {
    in_flight_ = Names(line.substr(kFlight.size()));
  } else if (line == kDone) {
    sent_.insert(in_flight_.begin(), in_flight_.end());
    in_flight_.clear();
  } else if (line.starts_with(kSent)) {
    for (std::string& name : Names(line.substr(kSent.size()))) sent_.insert(std::move(name));
  } else if (line.starts_with(kSkip)) {
    line.remove_prefix(kSkip.size());
    const std::string_view name = line.substr(0, line.find(' '));
    skipped_[std::string(name)] = line.substr(std::min(name.size() + 1, line.size()));
    if (in_flight_.size() == 1 && in_flight_.front() == name) in_flight_.clear();
  }
}

absl::Status PushJournal::Append(std::string_view line, bool sync) {
  if (!file_.valid()) PROFILER_RETURN_IF_ERROR(Rewrite());
  const std::string sealed = Sealed(line);
  absl::Status written = WriteTo(file_.get(), sealed, path_);
  if (written.ok() && sync && fdatasync(file_.get()) != 0) written = WriteError(errno, path_);
  size_ += sealed.size();
  // After a failed write, the file may end in half a line. Lines appended to it could not be read.
  if (!written.ok() || size_ > 2 * rewritten_ + kGrowth) file_.Reset();
  return written;
}

absl::Status PushJournal::Begin(std::span<const std::string> names) {
  const std::string line = absl::StrCat(View(kFlight), absl::StrJoin(names, " "));
  PROFILER_RETURN_IF_ERROR(Append(line, true));
  Take(line);
  return absl::OkStatus();
}

absl::Status PushJournal::Done() {
  const absl::Status written = Append(kDone, false);
  Take(kDone);
  return written;
}

absl::Status PushJournal::Skip(const std::string& name, std::string_view reason) {
  std::string line = absl::StrCat(View(kSkip), name, " ");
  AppendPrintable(reason.substr(0, kLongestReason), line);
  const absl::Status written = Append(line, true);
  Take(line);
  return written;
}

void PushJournal::KeepOnly(const absl::flat_hash_set<std::string>& names) {
  absl::erase_if(sent_, [&](const std::string& name) { return !names.contains(name); });
  absl::erase_if(skipped_, [&](const auto& skipped) { return !names.contains(skipped.first); });
}

// Replaces the old file once the new one is on the disk. If the process is killed earlier,
// the unfinished new file stays until the next rewrite overwrites it.
absl::Status PushJournal::Rewrite() {
  std::string text = Sealed(absl::StrCat(View(kHeading), destination_));
  std::vector<std::string> names(sent_.begin(), sent_.end());
  std::ranges::sort(names);
  for (size_t i = 0; i < names.size(); i += kNamesOfLine) {
    const auto some = std::span(names).subspan(i, std::min(kNamesOfLine, names.size() - i));
    text += Sealed(absl::StrCat(View(kSent), absl::StrJoin(some, " ")));
  }
  for (const auto& [name, reason] : skipped_) {
    text += Sealed(absl::StrCat(View(kSkip), name, " ", reason));
  }
  if (!in_flight_.empty()) {
    text += Sealed(absl::StrCat(View(kFlight), absl::StrJoin(in_flight_, " ")));
  }
  const std::string part = path_ + ".part";
  UniqueFd file(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
  if (!file.valid()) return WriteError(errno, part);
  PROFILER_RETURN_IF_ERROR(WriteTo(file.get(), text, part));
  const UniqueFd directory(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fsync(file.get()) != 0 || std::rename(part.c_str(), path_.c_str()) != 0 ||
      fsync(directory.get()) != 0) {
    return WriteError(errno, path_);
  }
  file_ = std::move(file);
  size_ = rewritten_ = text.size();
  return absl::OkStatus();
}

}  // namespace profiler::fleet
