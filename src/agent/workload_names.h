// Who runs, by the control groups of a process: what systemd, container runtimes and Kubernetes
// write into their names.
//
//   /proc/PID/cgroup    0::/system.slice/nginx.service                         cgroup2
//                       4:memory:/docker/6f2c…                                 version 1
//                       1:name=systemd:/system.slice/nginx.service
//
//   /system.slice/NAME.service                    service NAME
//   /user.slice/…                                 nobody's service: its program says more
//   …/docker-ID.scope, /docker/ID, …              container ID
//   /kubepods.slice/…-podUID.slice/cri-…-ID.scope container ID, pod UID
//   /lxc.payload.NAME/system.slice/NAME.service   container and service

#pragma once

#include <string>
#include <string_view>

namespace profiler::agent {

// Empty where the groups do not say.
struct WorkloadNames {
  std::string service;    // a unit of systemd, without its kind
  std::string container;  // as its runtime calls it: hexadecimal digits, of LXC and nspawn a name
  std::string pod;        // Kubernetes' uid
  bool operator==(const WorkloadNames&) const = default;
};

// Of the path of one group. Of containers within containers the innermost one counts, and a unit
// within it.
WorkloadNames NamesOfGroup(std::string_view path);

// Of what /proc/PID/cgroup says. A process is in a group of each hierarchy: that which knows most
// counts.
WorkloadNames NamesOfGroups(std::string_view text);

}  // namespace profiler::agent
