#include "src/machine/target/refusal.h"

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace profiler::target {

bool IsRefusal(int error) { return error == EACCES || error == EPERM; }

bool IsMissing(int error) {
  return error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == ENXIO;
}

std::string NowIs(const std::optional<int64_t>& sysctl) {
  return sysctl.has_value() ? absl::StrCat(" (now ", *sysctl, ")") : "";
}

absl::Status ExplainRefusal(int error, const std::string& doing, const std::string& event,
                            const RefusedTarget& target, const procfs::PerfLimits& limits) {
  const std::string now = NowIs(limits.paranoid);
  if (target.system_wide) {
    return ErrnoStatus(error, doing + " all CPUs",
                       "run as root, give the program CAP_PERFMON, or `sudo sysctl "
                       "kernel.perf_event_paranoid=0`" +
                           now);
  }
  if (limits.paranoid.value_or(0) > 2) {
    return ErrnoStatus(error, doing + " as an ordinary user",
                       "run as root, or `sudo sysctl kernel.perf_event_paranoid=2`" + now);
  }
  if (target.other_process != 0) {
    return ErrnoStatus(error, absl::StrCat(doing, " process ", target.other_process),
                       "it may belong to another user; run as root");
  }
  return ErrnoStatus(error, absl::StrCat("event ", event),
                     "run as root, or `sudo sysctl kernel.perf_event_paranoid=1`" + now);
}

}  // namespace profiler::target
