#include "src/machine/procfs/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/raised_capabilities.h"
#include "src/base/unique_fd.h"
#include "src/machine/procfs/process_file.h"

namespace profiler::procfs {
namespace {

// Limit of a file's size. The largest file lists the mounts; a namespace may have 100,000 mounts,
// which take less.
constexpr size_t kMostOfFile = size_t{64} << 20;

// Returns the capabilities for reading `path`. Only files whose names the kernel chooses, in /proc
// and /sys, are read with capabilities. Below a directory of the user (--symfs) or a process's
// root, anybody may have chosen the names.
uint64_t CapabilitiesFor(std::string_view path) {
  const bool is_of_kernel = path.starts_with("/proc/") || path.starts_with("/sys/");
  const bool leads_on = path.find("/root/") != path.npos || path.find("/cwd/") != path.npos;
  return is_of_kernel && !leads_on ? kToReadProcesses : 0;
}

}  // namespace

absl::Status ReadFile(const std::string& path, std::string* text) {
  const RaisedCapabilities raised(CapabilitiesFor(path));
  return ReadNamedFile(path, text);
}

absl::Status ReadNamedFile(const std::string& path, std::string* text) {
  return ReadStart(path, kMostOfFile, text);
}

absl::Status ReadLines(const std::string& path,
                       absl::FunctionRef<bool(std::string_view line)> take) {
  UniqueFd fd;
  {
    const RaisedCapabilities raised(CapabilitiesFor(path));
    fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!fd.valid()) return ErrnoStatus(errno, path);
  std::string text(2 * kLongestLine, '\0');
  size_t size = 0;
  while (true) {
    const ssize_t got = read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    size += static_cast<size_t>(got);
    TextScanner lines(std::string_view(text).substr(0, size));
    while (lines.rest().find('\n') != std::string_view::npos) {
      if (!take(lines.Until('\n'))) return absl::OkStatus();
    }
    const bool is_last = got == 0 || lines.rest().size() >= kLongestLine;
    if (is_last && !lines.done() && !take(lines.rest())) return absl::OkStatus();
    if (got == 0) return absl::OkStatus();
    size = is_last ? 0 : lines.rest().size();
    std::memmove(text.data(), lines.rest().data(), size);
  }
}

std::optional<std::string> ReadLine(const std::string& path) {
  std::string text;
  if (!ReadFile(path, &text).ok()) return std::nullopt;
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  const std::optional<std::string> line = ReadLine(path);
  if (!line.has_value()) return std::nullopt;
  return ParseNumber<int64_t>(*line);
}

std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key) {
  TextScanner lines(text);
  while (!lines.done()) {
    const std::string_view line = lines.Until('\n');
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
    if (name != key) continue;
    TextScanner value(line.substr(colon + 1));
    value.SkipSpaces();
    return value.rest();
  }
  return std::nullopt;
}

}  // namespace profiler::procfs
