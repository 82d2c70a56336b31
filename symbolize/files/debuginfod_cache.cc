#include "symbolize/files/debuginfod_cache.h"

#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/base/unique_fd.h"

namespace profiler::symbolize {
namespace {

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Returns the cache directory by libdebuginfod's rules.
std::string CacheDirectory() {
  if (const auto path = Variable(DEBUGINFOD_CACHE_PATH_ENV_VAR); !path.empty()) {
    return std::string(path);
  }
  std::string home(Variable("HOME"));
  if (home.empty()) home = "/";
  const std::string old = home + "/.debuginfod_client_cache";
  if (access(old.c_str(), F_OK) == 0) return old;
  std::string caches(Variable("XDG_CACHE_HOME"));
  if (caches.empty()) caches = home + "/.cache";
  return caches + "/debuginfod_client";
}

void RemoveFile(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

}  // namespace

DebuginfodCache::DebuginfodCache() : directory_(CacheDirectory()) {}

std::string DebuginfodCache::PathOf(FileKind kind, std::span<const std::byte> build_id) const {
  return absl::StrCat(directory_, "/", HexOf(build_id),
                      kind == FileKind::kExecutable ? "/executable" : "/debuginfo");
}

void DebuginfodCache::Remove(FileKind kind, std::span<const std::byte> build_id) const {
  RemoveFile(PathOf(kind, build_id));
}

void DebuginfodCache::RemoveMiss(FileKind kind, std::span<const std::byte> build_id) const {
  struct stat status;
  if (stat(PathOf(kind, build_id).c_str(), &status) == 0 && status.st_size == 0) {
    Remove(kind, build_id);
  }
}

DebuginfodCache::Unfinished::Unfinished(const std::string& path)
    : mark_(path + ".unfinished"), was_there_(access(mark_.c_str(), F_OK) == 0) {
  std::error_code unwritable;  // ignored: then the cache cannot be written either
  std::filesystem::create_directories(std::filesystem::path(mark_).parent_path(), unwritable);
  const UniqueFd created(open(mark_.c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
}

DebuginfodCache::Unfinished::~Unfinished() { RemoveFile(mark_); }

}  // namespace profiler::symbolize
