#include "src/fleet/agent/workload_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "src/machine/procfs/proc_file.h"

namespace profiler::agent {
namespace {

// Length of a container's id in docker, containerd, CRI-O and podman.
constexpr size_t kIdDigits = 64;
constexpr size_t kUidDigits = 32;

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// True for a whole container id, 64 digits. Group names never contain shortened ids.
bool IsContainerId(std::string_view text) {
  return text.size() == kIdDigits && std::ranges::all_of(text, IsHexDigit);
}

std::string_view WithoutEnd(std::string_view text, std::string_view end) {
  if (text.ends_with(end)) text.remove_suffix(end.size());
  return text;
}

std::optional<std::string_view> Behind(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return std::nullopt;
  return text.substr(start.size());
}

// Decodes escapes such as "\x2d", which systemd writes in unit names for characters such as '-'.
std::string Unescaped(std::string_view name) {
  constexpr size_t kLength = sizeof("\\x2d") - 1;
  std::string text;
  while (!name.empty()) {
    const auto code = name.starts_with("\\x") && name.size() >= kLength
                          ? procfs::ParseNumber<unsigned>(name.substr(2, 2), 16)
                          : std::nullopt;
    text += code ? static_cast<char>(*code) : name.front();
    name.remove_prefix(code ? kLength : 1);
  }
  return text;
}

// Finds the container id. Runtimes write it as "docker-ID.scope", "cri-containerd-ID.scope",
// "libpod-ID.scope", "…slice:cri-containerd:ID", or only ID. The monitor of a container
// ("crio-conmon-ID.scope") runs outside the container.
std::optional<std::string> ContainerOf(std::string_view group) {
  if (group.find("conmon") != std::string_view::npos) return std::nullopt;
  if (const auto name = Behind(group, "lxc.payload.")) return Unescaped(*name);
  if (const auto name = Behind(group, "machine-"); name && group.ends_with(".scope")) {
    return Unescaped(WithoutEnd(*name, ".scope"));
  }
  const std::string_view id = WithoutEnd(group, ".scope");
  const std::string_view last = id.substr(id.find_last_of("-:") + 1);
  if (!IsContainerId(last)) return std::nullopt;
  return std::string(last);
}

// Finds the uid in "podUID", or in "kubepods-burstable-podUID.slice" with '_' for each '-'.
std::optional<std::string> PodOf(std::string_view group) {
  const std::string_view name = group.substr(0, group.find(".slice"));
  const size_t at = name.starts_with("pod") ? 0 : name.find("-pod");
  if (at == std::string_view::npos) return std::nullopt;
  std::string uid(name.substr(at + (at == 0 ? 3 : 4)));
  std::ranges::replace(uid, '_', '-');
  const auto digits = std::ranges::count_if(uid, IsHexDigit);
  const auto dashes = std::ranges::count(uid, '-');
  if (digits != kUidDigits || digits + dashes != static_cast<ptrdiff_t>(uid.size())) {
    return std::nullopt;
  }
  return uid;
}

// Finds the service. Ignores scopes of systemd-run and of logins, because their names are numbers,
// and scopes of container monitors.
std::optional<std::string> ServiceOf(std::string_view group) {
  if (group.ends_with(".service")) return Unescaped(WithoutEnd(group, ".service"));
  if (!group.ends_with(".scope")) return std::nullopt;
  if (group.starts_with("run-") || group.starts_with("session-")) return std::nullopt;
  const std::string_view name = WithoutEnd(group, ".scope");
  if (IsContainerId(name.substr(name.find_last_of("-:") + 1))) return std::nullopt;
  return Unescaped(name);
}

}  // namespace

WorkloadNames NamesOfGroup(std::string_view path) {
  WorkloadNames names;
  procfs::TextScanner groups(path);
  std::string_view before;
  while (!groups.done()) {
    const std::string_view group = groups.Until('/');
    if (group.empty()) continue;
    auto container = ContainerOf(group);
    // In cgroup version 1, LXC's group is only the container's name.
    if (!container && before == "lxc") container = Unescaped(group);
    if (group == "user.slice") {
      // The groups below it belong to a login, and their units are those of the desktop.
      names.service.clear();
      while (!groups.done() && !container) container = ContainerOf(groups.Until('/'));
    }
    if (container) {
      names.service.clear();
      names.container = *std::move(container);
    } else if (auto pod = PodOf(group)) {
      names.pod = *std::move(pod);
    } else if (auto service = ServiceOf(group)) {
      names.service = *std::move(service);
    }
    before = group;
  }
  return names;
}

WorkloadNames NamesOfGroups(std::string_view text) {
  const auto knowledge = [](const WorkloadNames& names) {
    return 4 * !names.container.empty() + 2 * !names.pod.empty() + !names.service.empty();
  };
  WorkloadNames best;
  procfs::TextScanner lines(text);
  while (!lines.done()) {
    procfs::TextScanner line(lines.Until('\n'));
    line.Until(':');
    line.Until(':');
    WorkloadNames names = NamesOfGroup(line.rest());
    if (knowledge(names) > knowledge(best)) best = std::move(names);
  }
  return best;
}

}  // namespace profiler::agent
