#include "src/base/file_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

namespace profiler {
namespace {

FileAccess* current_access = nullptr;

}  // namespace

void AccessFilesThrough(FileAccess* access) { current_access = access; }

FileAccess& CurrentFileAccess() {
  static FileAccess file_system;
  return current_access == nullptr ? file_system : *current_access;
}

std::string FileAccess::LinkAt(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  const bool is_whole = size >= 0 && static_cast<size_t>(size) < target.size();
  return is_whole ? std::string(target.data(), static_cast<size_t>(size)) : std::string();
}

std::vector<std::string> FileAccess::NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

absl::Status FileAccess::ReadStart(const std::string& path, size_t most, std::string* text) {
  // seq_file returns at most a page per read, even if more is requested.
  constexpr size_t kReadSize = 4096;
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

std::string LinkAt(const std::string& path) { return CurrentFileAccess().LinkAt(path); }

std::vector<std::string> NamesIn(const std::string& directory) {
  return CurrentFileAccess().NamesIn(directory);
}

}  // namespace profiler
