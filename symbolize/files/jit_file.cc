#include "symbolize/files/jit_file.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"
#include "src/base/clock.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kLongestText = 1 << 16;

// Returns the value of "NAME:" in /proc/PID/status; several numbers are separated by tabs. Empty if
// the process has ended.
std::string StatusField(const std::string& process, std::string_view name) {
  const auto status = ReadTextFile(process + "/status", kLongestText);
  if (!status.ok()) return {};
  const std::string_view text = TextOf(*status);
  const std::string label = absl::StrCat("\n", View(name), ":\t");
  const size_t line = text.find(label);
  if (line == std::string_view::npos) return {};
  const std::string_view value = text.substr(line + label.size());
  return std::string(value.substr(0, value.find('\n')));
}

// Returns the process's real, effective, saved and file system user. Empty if the process has
// ended.
std::vector<uid_t> UsersOf(const std::string& process) {
  std::vector<uid_t> users;
  for (const absl::string_view id : absl::StrSplit(StatusField(process, "Uid"), '\t')) {
    uint32_t user = 0;
    if (absl::SimpleAtoi(id, &user)) users.push_back(user);
  }
  return users;
}

// Returns the pid of a process in its own, innermost pid namespace.
std::string NamespacePid(const std::string& process) {
  const std::string pids = StatusField(process, "NStgid");
  return pids.substr(pids.rfind('\t') + 1);
}

bool MayBeItsFile(uid_t owner, const std::string& process) {
  if (IsUserOrRoot(owner)) return true;
  if (process.empty()) return false;
  const std::vector<uid_t> users = UsersOf(process);
  return std::ranges::find(users, owner) != users.end();
}

// Returns the possible error of a file's time, in nanoseconds. Clocks of files and processes are
// read at different moments and rounded. Some file systems store whole seconds.
int64_t SlackOf(const timespec& written) {
  return written.tv_nsec == 0 ? kNanosecondsPerSecond : kTimeSlack;
}

// Returns true if an earlier process of that pid wrote the file. `process` is empty if the recorded
// process is gone.
bool IsOlder(const timespec& written, const std::string& process, const ProcessLife& life) {
  const int64_t latest = Nanoseconds(written) + SlackOf(written);
  if (life.began != ProcessLife::kUnknown && latest < life.began) return true;
  if (process.empty()) return false;
  const std::optional<int64_t> begin = BeginOfProcess(process);
  return begin && latest < *begin;
}

// Returns true if the file was written by a later process of that pid, or by the program that the
// process executes now.
bool IsNewer(const timespec& written, const ImageSpec& spec, const std::string& process,
             const SymbolizerOptions& options) {
  const int64_t earliest = Nanoseconds(written) - SlackOf(written);
  const ProcessLife& life = spec.life;
  const bool is_over = process.empty() || life.is_replaced;
  if (is_over && life.over != ProcessLife::kUnknown && earliest > life.over) return true;
  if (!process.empty()) return false;
  const std::optional<int64_t> later =
      BeginOfProcess(absl::StrCat(options.proc_path, "/", PidOf(spec.pid)));
  return later && Nanoseconds(written) + SlackOf(written) > *later;
}

}  // namespace

JitMapPlaces PlacesOfJitMap(const ImageSpec& spec, const SymbolizerOptions& options) {
  JitMapPlaces places;
  const uint32_t pid = PidOf(spec.pid);
  if (pid == 0) return places;
  const std::string process = DirectoryOfProcess(spec, options);
  if (!process.empty()) {
    places.root = process + "/root";
    if (const std::string inside = NamespacePid(process); !inside.empty()) {
      places.paths.push_back(
          absl::StrCat(places.root, options.jit_map_directory, "/perf-", inside, ".map"));
    }
  }
  places.paths.push_back(absl::StrCat(options.jit_map_directory, "/perf-", pid, ".map"));
  return places;
}

absl::StatusOr<UniqueFd> OpenJitFile(const std::string& path, const std::string& root,
                                     const ImageSpec& spec, const SymbolizerOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(UniqueFd file, OpenRegularFile(path, root));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  const std::string process = DirectoryOfProcess(spec, options);
  // The process existed when the path was built, but its pid may have been reused since.
  if (process.empty() && !root.empty() && path.starts_with(root)) {
    return absl::NotFoundError(absl::StrCat(path, ": the process has ended"));
  }
  if (!MayBeItsFile(status.st_uid, process)) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " is owned by another user than the process, you or root"));
  }
  if (IsOlder(status.st_mtim, process, spec.life)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " belongs to an earlier process with the same id"));
  }
  if (IsNewer(status.st_mtim, spec, process, options)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " belongs to a later process with the same id"));
  }
  return file;
}

}  // namespace profiler::symbolize
