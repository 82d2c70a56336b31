#include "src/procfs/process_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "src/base/raised_capabilities.h"
#include "src/base/text.h"
#include "src/base/unique_fd.h"

namespace profiler::procfs {
namespace {

// seq_file hands out a page at a time whatever is asked for.
constexpr size_t kReadSize = 4096;

}  // namespace

absl::Status ReadStart(const std::string& path, size_t most, std::string* text) {
  text->clear();
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  size_t size = 0;
  while (size < most) {
    if (text->size() - size < kReadSize) {
      text->resize(std::max({text->capacity(), text->size() * 2, kReadSize * 2}));
    }
    const ssize_t got =
        read(fd.get(), text->data() + size, std::min(text->size() - size, most - size));
    if (got < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      text->clear();
      return ErrnoStatus(error, path);
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text->resize(size);
  return absl::OkStatus();
}

absl::Status ReadOfProcess(const Roots& roots, uint32_t id, std::string_view name,
                           std::string* text, size_t most) {
  const RaisedCapabilities raised(kToReadProcesses);
  return ReadStart(absl::StrCat(roots.proc, "/", id, "/", View(name)), most, text);
}

}  // namespace profiler::procfs
