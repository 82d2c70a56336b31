#include "src/machine/target/targets.h"

#include <fnmatch.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::target {
namespace {

absl::Status Missing(const char* what, pid_t id, const absl::Status& status) {
  if (!absl::IsNotFound(status)) return status;
  return ErrnoStatus(ESRCH, absl::StrCat(what, " ", id));
}

#ifdef PROFILER_PORTABLE
// Finds only users in /etc/passwd. getpwnam(3) finds more, but it loads libraries, which a static
// program cannot do.
std::optional<uid_t> FindUser(const std::string& name) {
  const std::unique_ptr<FILE, int (*)(FILE*)> users(fopen("/etc/passwd", "re"), fclose);
  while (users != nullptr) {
    const passwd* const user = fgetpwent(users.get());
    if (user == nullptr) break;
    if (user->pw_name == name) return user->pw_uid;
  }
  return std::nullopt;
}
#else
std::optional<uid_t> FindUser(const std::string& name) {
  const passwd* const user = getpwnam(name.c_str());
  return user == nullptr ? std::nullopt : std::optional(user->pw_uid);
}
#endif

absl::StatusOr<uid_t> UserId(const std::string& user) {
  if (const auto id = procfs::ParseNumber<uid_t>(user)) return *id;
  const std::optional<uid_t> found = FindUser(user);
  if (!found) return absl::NotFoundError(absl::StrCat("unknown user '", user, "'"));
  return *found;
}

}  // namespace

absl::Status CheckTargets(const Targets& targets, const std::string& verb) {
  if (targets.command.empty() && !targets.has_threads() && !targets.system_wide) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nothing to ", verb,
        "; name processes (-p PID), threads (-t TID), all CPUs (-a) or a command (-- CMD ARGS…)"));
  }
  if (targets.system_wide && targets.has_threads()) {
    return absl::InvalidArgumentError(
        absl::StrCat("-a ", verb, "s everything, so -p and -t cannot be used with it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> ChooseCpus(const procfs::Roots& roots, const Targets& targets) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<int> online, procfs::OnlineCpus(roots));
  if (targets.cpus.empty()) return online;
  for (const int cpu : targets.cpus) {
    if (std::binary_search(online.begin(), online.end(), cpu)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("CPU ", cpu, " is not online; online CPUs: ", absl::StrJoin(online, ",")));
  }
  std::vector<int> cpus = targets.cpus;
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

absl::StatusOr<std::vector<pid_t>> ProcessesOfUser(const procfs::Roots& roots,
                                                   const std::string& user) {
  PROFILER_ASSIGN_OR_RETURN(const uid_t id, UserId(user));
  PROFILER_ASSIGN_OR_RETURN(std::vector<pid_t> pids, procfs::ProcessIds(roots));
  std::erase_if(pids, [&](pid_t pid) {
    struct stat folder;
    const bool is_there = stat(absl::StrCat(roots.proc, "/", pid).c_str(), &folder) == 0;
    return !is_there || folder.st_uid != id || pid == getpid();
  });
  if (!pids.empty()) return pids;
  return absl::NotFoundError(absl::StrCat("no process of user '", user, "' runs"));
}

absl::StatusOr<std::vector<pid_t>> ProcessesNamed(const procfs::Roots& roots,
                                                  const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(std::vector<pid_t> pids, procfs::ProcessIds(roots));
  std::erase_if(pids, [&](pid_t pid) {
    const std::vector<std::string> names = procfs::NamesOf(roots, pid);
    const bool is_called_so = std::any_of(names.begin(), names.end(), [&](const auto& called) {
      return fnmatch(name.c_str(), called.c_str(), 0) == 0;
    });
    return !is_called_so || pid == getpid();
  });
  if (!pids.empty()) return pids;
  return absl::NotFoundError(absl::StrCat("no running process is named '", name, "'"));
}

absl::StatusOr<std::vector<pid_t>> DescendantsOf(const procfs::Roots& roots,
                                                 const std::vector<pid_t>& pids) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<procfs::ProcessParent> parents,
                            procfs::ProcessParents(roots));
  absl::flat_hash_map<pid_t, std::vector<pid_t>> children;
  for (const procfs::ProcessParent& process : parents) {
    children[process.parent].push_back(process.pid);
  }
  absl::flat_hash_set<pid_t> known(pids.begin(), pids.end());
  known.insert(getpid());
  std::vector<pid_t> found, next = pids;
  while (!next.empty()) {
    const pid_t parent = next.back();
    next.pop_back();
    for (const pid_t child : children[parent]) {
      if (!known.insert(child).second) continue;
      found.push_back(child);
      next.push_back(child);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

absl::StatusOr<std::vector<Thread>> FindThreads(const procfs::Roots& roots,
                                                const Targets& targets) {
  std::vector<Thread> threads;
  for (const pid_t pid : targets.pids) {
    const auto tids = procfs::ThreadIds(roots, pid);
    if (absl::IsNotFound(tids.status()) && targets.pids_may_be_gone) continue;
    if (!tids.ok()) return Missing("process", pid, tids.status());
    for (const pid_t tid : *tids) threads.push_back({pid, tid});
  }
  for (const pid_t tid : targets.tids) {
    const auto pid = procfs::ProcessOf(roots, tid);
    if (!pid.ok()) return Missing("thread", tid, pid.status());
    threads.push_back({*pid, tid});
  }
  return threads;
}

}  // namespace profiler::target
