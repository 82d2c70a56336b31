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
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kLongestText = 1 << 16;
constexpr int64_t kSecond = 1'000'000'000;

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

int64_t Now(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return Nanoseconds(now);
}

// As whom the process runs: its real, effective, saved and file system's user, of the line "Uid:"
// in /proc/PID/status. None where it has ended.
std::vector<uid_t> UsersOf(const std::string& process) {
  std::vector<uid_t> users;
  const auto status = ReadTextFile(process + "/status", kLongestText);
  if (!status.ok()) return users;
  constexpr std::string_view kLine = "\nUid:\t";
  const std::string_view text = TextOf(*status);
  const size_t line = text.find(kLine);
  if (line == std::string_view::npos) return users;
  const std::string_view ids = text.substr(line + kLine.size());
  for (const absl::string_view id : absl::StrSplit(View(ids.substr(0, ids.find('\n'))), '\t')) {
    uint32_t user = 0;
    if (absl::SimpleAtoi(id, &user)) users.push_back(user);
  }
  return users;
}

// When the process began, in nanoseconds of CLOCK_REALTIME as it goes now: field 22 of
// /proc/PID/stat, in ticks since the machine started. Empty where it has ended.
std::optional<int64_t> BeginOf(const std::string& process) {
  const auto stat = ReadTextFile(process + "/stat", kLongestText);
  if (!stat.ok()) return std::nullopt;
  const std::string_view text = TextOf(*stat);
  const size_t name_end = text.rfind(") ");  // a name may have brackets and spaces
  if (name_end == std::string_view::npos) return std::nullopt;
  constexpr size_t kThirdField = 3, kStartField = 22;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(View(text.substr(name_end + 2)), ' ');
  int64_t ticks = 0;
  if (fields.size() <= kStartField - kThirdField ||
      !absl::SimpleAtoi(fields[kStartField - kThirdField], &ticks)) {
    return std::nullopt;
  }
  const int64_t a_second = sysconf(_SC_CLK_TCK);
  const int64_t since_boot = ticks / a_second * kSecond + ticks % a_second * (kSecond / a_second);
  return Now(CLOCK_REALTIME) - Now(CLOCK_BOOTTIME) + since_boot;
}

bool MayBeItsFile(uid_t owner, const std::string& process) {
  if (IsUserOrRoot(owner)) return true;
  const std::vector<uid_t> users = UsersOf(process);
  return std::ranges::find(users, owner) != users.end();
}

// The clocks of files and of processes are not read at the same moment, and both are rounded.
bool IsOlder(const timespec& written, const std::string& process) {
  const std::optional<int64_t> begin = BeginOf(process);
  return begin && Nanoseconds(written) < *begin - kSecond;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenJitFile(const std::string& path, const std::string& root,
                                     const std::string& process) {
  PROFILER_ASSIGN_OR_RETURN(UniqueFd file, OpenRegularFile(path, root));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (!MayBeItsFile(status.st_uid, process)) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " is owned by another user than the process, you or root"));
  }
  if (IsOlder(status.st_mtim, process)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is of an earlier process of that number"));
  }
  return file;
}

}  // namespace profiler::symbolize
