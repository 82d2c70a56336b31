#include "src/format/perf_data/rewrite/rewrite_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/shared_directory.h"

namespace profiler::perf_data {
namespace {

// Returns the input file that overwriting would destroy; nullopt for a pipe.
std::optional<FileId> InputFile(const std::string& from) {
  struct stat status;
  const int error = from == "-" ? fstat(STDIN_FILENO, &status) : stat(from.c_str(), &status);
  if (error != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

// True unless the file is empty or missing; an empty file is not worth keeping.
bool HasBytes(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && status.st_size != 0;
}

}  // namespace

absl::StatusOr<RewriteTarget> RewriteTarget::Open(const std::string& to, const std::string& from) {
  RewriteTarget target(InputFile(from));
  PROFILER_RETURN_IF_ERROR(to != "-" && AtomicFile::CanReplace(to) ? target.OpenBeside(to)
                                                                   : target.OpenAsItIs(to));
  return target;
}

absl::Status RewriteTarget::OpenBeside(const std::string& to) {
  PROFILER_RETURN_IF_ERROR(CheckSharedName(to, FileOfOthers::kReplaced));
  PROFILER_RETURN_IF_ERROR(CheckNotBeingWritten(to));
  PROFILER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(to));
  file_.emplace(std::move(file));
  std::error_code error;
  if (const std::string kept = NameOfOld(); std::filesystem::is_directory(kept, error)) {
    return ErrnoStatus(EISDIR, absl::StrCat("cannot rename ", to, " to ", kept));
  }
  output_ = {UniqueFd(fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0)), to, /*stream=*/false};
  return output_.fd.valid() ? absl::OkStatus() : ErrnoStatus(errno, to);
}

absl::Status RewriteTarget::OpenAsItIs(const std::string& to) {
  // Check before opening, because opening truncates a regular file.
  if (input_ && input_ == (to == "-" ? FileIdOf(STDOUT_FILENO) : FileAccess().FileIdOf(to))) {
    return absl::InvalidArgumentError(
        absl::StrCat(to == "-" ? "standard output" : to, " is the input; write to another file"));
  }
  PROFILER_ASSIGN_OR_RETURN(output_, OpenOutput(to));
  return absl::OkStatus();
}

std::string RewriteTarget::NameOfOld() const {
  std::string name = file_->target() + ".old";
  while (input_ && input_ == FileAccess().FileIdOf(name)) name += ".old";
  return name;
}

absl::Status RewriteTarget::Commit(const absl::Status& reading,
                                   std::vector<std::string>* warnings) {
  if (!file_) return absl::OkStatus();
  const std::string& target = file_->target();
  if (!reading.ok() && input_ && input_ == FileAccess().FileIdOf(target)) {
    return absl::Status(reading.code(), absl::StrCat(reading.message(),
                                                     "; it stays as it is: with -o, what can be "
                                                     "read is written to another file"));
  }
  AtomicFile::CommitOptions options;
  if (HasBytes(target)) options.keep_old_as = NameOfOld();
  PROFILER_RETURN_IF_ERROR(file_->Commit(options));
  const std::string usual = target + ".old";
  if (!options.keep_old_as.empty() && options.keep_old_as != usual) {
    warnings->push_back(absl::StrCat("the former ", target, " is kept as ", options.keep_old_as,
                                     ", because ", usual, " is the input"));
  }
  return absl::OkStatus();
}

}  // namespace profiler::perf_data
