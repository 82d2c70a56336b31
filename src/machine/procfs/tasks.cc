#include "src/machine/procfs/tasks.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/machine/procfs/process_file.h"

namespace profiler::procfs {
namespace {

constexpr size_t kMaxComm = 15;  // TASK_COMM_LEN without the NUL

absl::StatusOr<std::vector<pid_t>> NumberedEntries(const std::string& path) {
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  // If /proc is mounted with hidepid=, it lists a process only for users who may inspect the
  // process.
  const RaisedCapabilities raised(kToReadProcesses);
  const std::unique_ptr<DIR, CloseDir> dir(opendir(path.c_str()));
  if (dir == nullptr) return ErrnoStatus(errno, path);
  std::vector<pid_t> ids;
  while (const dirent* entry = readdir(dir.get())) {
    if (const auto id = ParseNumber<pid_t>(entry->d_name); id.has_value() && *id > 0) {
      ids.push_back(*id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

absl::StatusOr<pid_t> NumberInStatus(const Roots& roots, pid_t id, std::string_view key) {
  std::string text;
  // The start of the file is enough: the requested numbers precede the list of groups, which may be
  // long.
  PROFILER_RETURN_IF_ERROR(ReadOfProcess(roots, static_cast<uint32_t>(id), "status", &text));
  const auto value = ValueOf(text, key);
  const auto number = value.has_value() ? ParseNumber<pid_t>(*value) : std::nullopt;
  // If a task exits while its file is read, the file is empty.
  if (!number.has_value()) return ErrnoStatus(ESRCH, absl::StrCat("process ", id));
  return *number;
}

// Returns the fields of a stat file from the third on, the state; empty if it cannot be read. The
// second field, the name, may contain blanks and parentheses, so it ends with the last one.
std::string StatBehindName(const std::string& directory) {
  std::string stat;
  if (!ReadStart(directory + "/stat", kMostOfProcessFile, &stat).ok()) return "";
  const size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2);
}

// True if the thread of this /proc directory runs. A thread that has ended may stay as a zombie
// until its parent waits for it.
bool LivesAt(const std::string& directory) {
  const std::string stat = StatBehindName(directory);
  return !stat.empty() && stat[0] != 'Z' && stat[0] != 'X';
}

}  // namespace

absl::StatusOr<std::vector<pid_t>> ProcessIds(const Roots& roots) {
  return NumberedEntries(roots.proc);
}

absl::StatusOr<std::vector<pid_t>> ThreadIds(const Roots& roots, pid_t pid) {
  auto ids = NumberedEntries(absl::StrCat(roots.proc, "/", pid, "/task"));
  if (ids.ok() && ids->empty()) return ErrnoStatus(ESRCH, absl::StrCat("process ", pid));
  return ids;
}

std::optional<pid_t> LivingThread(const Roots& roots, pid_t pid) {
  const auto tids = ThreadIds(roots, pid);
  if (!tids.ok()) return std::nullopt;
  for (const pid_t tid : *tids) {
    if (LivesAt(absl::StrCat(roots.proc, "/", pid, "/task/", tid))) return tid;
  }
  return std::nullopt;
}

bool ThreadLives(const Roots& roots, pid_t tid) {
  return LivesAt(absl::StrCat(roots.proc, "/", tid));
}

absl::StatusOr<pid_t> ProcessOf(const Roots& roots, pid_t tid) {
  return NumberInStatus(roots, tid, "Tgid");
}

absl::StatusOr<std::string> CommOf(const Roots& roots, pid_t pid, pid_t tid) {
  const std::string path = absl::StrCat(roots.proc, "/", pid, "/task/", tid, "/comm");
  std::string comm;
  PROFILER_RETURN_IF_ERROR(ReadStart(path, kMostOfProcessFile, &comm));
  // Remove only the newline that the kernel adds; a name may contain others.
  if (!comm.empty() && comm.back() == '\n') comm.pop_back();
  if (comm.size() > kMaxComm) comm.resize(kMaxComm);
  return comm;
}

absl::StatusOr<pid_t> ParentOf(const Roots& roots, pid_t pid) {
  return NumberInStatus(roots, pid, "PPid");
}

absl::StatusOr<std::vector<ProcessParent>> ProcessParents(const Roots& roots) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> pids, ProcessIds(roots));
  std::vector<ProcessParent> parents;
  std::string text;
  for (const pid_t pid : pids) {
    if (!ReadOfProcess(roots, static_cast<uint32_t>(pid), "status", &text).ok()) continue;
    const auto parent = ValueOf(text, "PPid");
    const auto number = parent ? ParseNumber<pid_t>(*parent) : std::nullopt;
    const std::string_view state = ValueOf(text, "State").value_or("");
    // A first thread that has ended stays a zombie while others run.
    const bool first_has_ended = state.starts_with('Z') || state.starts_with('X');
    const bool has_ended = first_has_ended && !LivingThread(roots, pid);
    if (number && !has_ended) parents.push_back({pid, *number});
  }
  return parents;
}

ProcessTimes TimesOf(const std::string& directory) {
  const std::string stat = StatBehindName(directory);
  TextScanner fields(stat);
  constexpr int kBetween = 11;  // state is field 3; utime, stime, cutime and cstime are 14 to 17
  for (int i = 0; i < kBetween; ++i) fields.Word();
  int64_t ticks[4] = {};
  for (int64_t& field : ticks) field = ParseNumber<int64_t>(fields.Word()).value_or(0);
  return {.own = ClockTicks(ticks[0] + ticks[1]),
          .ended_children = ClockTicks(ticks[2] + ticks[3])};
}

std::vector<std::string> NamesOf(const Roots& roots, pid_t pid) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    name = name.substr(name.rfind('/') + 1);
    if (!name.empty()) names.emplace_back(name);
  };
  if (const auto comm = CommOf(roots, pid, pid); comm.ok()) names.push_back(*comm);
  const uint32_t thread = LivingThreadOf(roots.proc, static_cast<uint32_t>(pid));
  const std::string folder = absl::StrCat(roots.proc, "/", thread);
  std::error_code error;
  const RaisedCapabilities raised(kToReadProcesses);
  add(std::filesystem::read_symlink(folder + "/exe", error).native());
  std::string command;
  if (ReadOfProcess(roots, thread, "cmdline", &command).ok())
    add(command.substr(0, command.find('\0')));
  return names;
}

}  // namespace profiler::procfs
