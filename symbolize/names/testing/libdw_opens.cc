#include "symbolize/names/testing/libdw_opens.h"

#include <dlfcn.h>
#include <linux/fcntl.h>  // <fcntl.h> may define the functions below as inline functions
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <string_view>
#include <utility>

namespace profiler::symbolize {
namespace {

std::vector<std::string>& Paths() {
  static std::vector<std::string> paths;
  return paths;
}

bool IsInElfutils(void* code) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view file = info.dli_fname;
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libdw.so") || name.starts_with("libelf.so") ||
         name.starts_with("libdw-") || name.starts_with("libelf-");
}

int Open(void* caller, int directory, const char* path, int flags, va_list rest) {
  if (IsInElfutils(caller)) Paths().emplace_back(path);
  const bool has_mode = (flags & (O_CREAT | O_TMPFILE)) != 0;
  const unsigned mode = has_mode ? va_arg(rest, unsigned) : 0;
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

}  // namespace

std::vector<std::string> TakePathsOpenedByLibdw() { return std::exchange(Paths(), {}); }

}  // namespace profiler::symbolize

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int fd =
      profiler::symbolize::Open(__builtin_return_address(0), AT_FDCWD, path, flags, rest);
  va_end(rest);
  return fd;
}

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int fd =
      profiler::symbolize::Open(__builtin_return_address(0), directory, path, flags, rest);
  va_end(rest);
  return fd;
}

// open64 is for programs with 64-bit file offsets. On 64-bit machines it is the same as open.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char* path, int flags, ...) __attribute__((alias("openat")));

}  // extern "C"
