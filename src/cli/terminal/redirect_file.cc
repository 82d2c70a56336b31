#include "src/cli/terminal/redirect_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/own_directory.h"
#include "src/base/transfer.h"
#include "src/base/unique_fd.h"

namespace profiler::cli {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string PlaceOfDirectory() {
  const std::string runtime = Variable("XDG_RUNTIME_DIR");
  if (runtime.starts_with('/') && OpenOwnDirectory(runtime, IfMissing::kFail).ok()) return runtime;
  const std::string temporary = Variable("TMPDIR");
  return temporary.starts_with('/') ? temporary : "/tmp";
}

}  // namespace

absl::StatusOr<std::unique_ptr<RedirectFile>> RedirectFile::Create(const std::string& url) {
  std::string directory = PlaceOfDirectory() + "/profiler-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return ErrnoStatus(errno, directory);
  std::unique_ptr<RedirectFile> file(new RedirectFile(directory));
  const UniqueFd fd(open(file->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, file->path_);
  const std::string text = absl::StrCat(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>profiler</title>"
      "<meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0;url=",
      url, "\"></head>\n<body><a href=\"", url, "\">The page of profiler open</a></body></html>\n");
  const int error = WriteFully(fd.get(), BytesOfText(text));
  if (error != 0) return WriteError(error, file->path_);
  return file;
}

RedirectFile::~RedirectFile() {
  unlink(path_.c_str());
  rmdir(directory_.c_str());
}

}  // namespace profiler::cli
