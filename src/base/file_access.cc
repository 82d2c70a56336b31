#include "src/base/file_access.h"

#include <dirent.h>
#include <linux/limits.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>

namespace profiler {
namespace {

FileAccess* access_of_others = nullptr;

}  // namespace

void AccessFilesThrough(FileAccess& access) { access_of_others = &access; }

FileAccess* AccessOfOthers() { return access_of_others; }

std::string LinkAt(const std::string& path) {
  if (access_of_others != nullptr) return access_of_others->LinkAt(path);
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  const bool is_whole = size >= 0 && static_cast<size_t>(size) < target.size();
  return is_whole ? std::string(target.data(), static_cast<size_t>(size)) : std::string();
}

std::vector<std::string> NamesIn(const std::string& directory) {
  if (access_of_others != nullptr) return access_of_others->NamesIn(directory);
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace profiler
