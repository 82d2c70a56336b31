#include "src/machine/target/refusal.h"

#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/raised_capabilities.h"

namespace profiler::target {
namespace {

const char kParanoid[] = "kernel.perf_event_paranoid";

Remedy Capability() {
  return {"give the program CAP_PERFMON", "sudo setcap cap_perfmon=p PATH/profiler",
          "Everybody who may run this copy may observe the kernel and all processes."};
}

// Returns the remedy that sets kernel.perf_event_paranoid to `value`.
Remedy Sysctl(int value, const PerfRights& rights) {
  const std::string command = absl::StrCat("sudo sysctl ", kParanoid, "=", value);
  return {absl::StrCat("`", command, "`", NowIs(rights.limits.paranoid)), command,
          value <= 0   ? "All users may observe all CPUs until the next boot."
          : value == 1 ? "All users may observe the kernel in their own programs until the next "
                         "boot, which helps attacks on it."
                       : "All users may record their own programs until the next boot."};
}

// True if the capabilities permit all events, in the namespace where the kernel asks for them.
bool MayObserveAll(const PerfRights& rights) {
  return (rights.capabilities & (kCapPerfmon | kCapSysAdmin)) != 0;
}

}  // namespace

bool IsRefusal(int error) { return error == EACCES || error == EPERM; }

bool IsMissing(int error) {
  return error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == ENXIO;
}

PerfRights ReadPerfRights(const procfs::Roots& roots, bool is_filtered) {
  return {.limits = procfs::ReadPerfLimits(roots),
          .capabilities = procfs::PermittedCapabilities(roots),
          .is_root = procfs::IsRoot(roots),
          .in_user_namespace = procfs::IsInUserNamespace(roots),
          .is_filtered = is_filtered};
}

Remedy MoreRights(const PerfRights& rights, const std::string& capability) {
  if (rights.in_user_namespace) return {"record from the host, as root", "", ""};
  if (!rights.is_root) return {"run as root", "sudo profiler …", ""};
  return {absl::StrCat("give this container or service CAP_", capability,
                       ", which it lacks although "
                       "it runs as root"),
          absl::StrCat("docker run --cap-add ", capability, " …"), ""};
}

std::string NowIs(const std::optional<int64_t>& sysctl) {
  return sysctl.has_value() ? absl::StrCat(" (now ", *sysctl, ")") : "";
}

Refusal FindRefusal(const RefusedTarget& target, const PerfRights& rights) {
  if (rights.is_filtered) {
    return {
        "a system call filter (seccomp) denies perf_event_open, as in a container",
        {{"start the container with CAP_PERFMON, which Docker's filter respects since version 23",
          "docker run --cap-add PERFMON …",
          "The container may observe the kernel and all processes of the host."},
         {"start it with a filter that permits perf_event_open",
          "docker run --security-opt seccomp=FILE …", ""},
         {"record from the host, where the processes of the container are visible", "", ""}}};
  }
  if (MayObserveAll(rights) && rights.in_user_namespace) {
    return {
        "this process has its capabilities only in a user namespace, as in a rootless "
        "container, and the kernel ignores them for events",
        {{"record from the host, as root", "", ""}, Sysctl(target.system_wide ? 0 : 1, rights)}};
  }
  if (rights.limits.paranoid.value_or(0) > 2 && (rights.capabilities & kCapSysAdmin) == 0) {
    return {"", {MoreRights(rights, "SYS_ADMIN"), Sysctl(2, rights)}};
  }
  if (MayObserveAll(rights)) {
    return {"the capabilities suffice, so a security module (LSM) such as SELinux may deny it",
            {{"look for the denial in the kernel's log", "sudo dmesg | grep -i denied", ""}}};
  }
  std::vector<Remedy> remedies = {MoreRights(rights, "PERFMON")};
  // The bounding set of a root without capabilities also lacks those of files.
  const bool may_get_capability = !rights.is_root;
  if (may_get_capability && (target.system_wide || target.other_process != 0)) {
    remedies.push_back(Capability());
  }
  if (target.other_process != 0 && !target.system_wide) {
    return {"it may belong to another user", std::move(remedies)};
  }
  remedies.push_back(Sysctl(target.system_wide ? 0 : 1, rights));
  return {"", std::move(remedies)};
}

absl::Status ExplainRefusal(int error, const std::string& doing, const std::string& event,
                            const RefusedTarget& target, const PerfRights& rights) {
  const Refusal refusal = FindRefusal(target, rights);
  const bool whole_user = rights.limits.paranoid.value_or(0) > 2;
  const std::string subject = target.system_wide ? doing + " all CPUs"
                              : whole_user       ? doing + " as an ordinary user"
                              : target.other_process != 0
                                  ? absl::StrCat(doing, " process ", target.other_process)
                                  : absl::StrCat("event ", event);
  std::string remedies;
  for (size_t i = 0; i < refusal.remedies.size(); ++i) {
    absl::StrAppend(&remedies,
                    i == 0                            ? ""
                    : i + 1 < refusal.remedies.size() ? ", "
                                                      : ", or ",
                    refusal.remedies[i].text);
  }
  return ErrnoStatus(error, subject,
                     absl::StrCat(refusal.cause, refusal.cause.empty() ? "" : ": ", remedies));
}

}  // namespace profiler::target
