// The workload of a process: its service, container and pod, from the names that systemd, container
// runtimes and Kubernetes give to control groups.
//
//   /proc/PID/cgroup    0::/system.slice/nginx.service                         cgroup2
//                       4:memory:/docker/6f2c…                                 version 1
//                       1:name=systemd:/system.slice/nginx.service
//
//   /system.slice/NAME.service                    service NAME
//   /user.slice/…                                 no service: the program's name says more
//   …/docker-ID.scope, /docker/ID, …              container ID
//   /kubepods.slice/…-podUID.slice/cri-…-ID.scope container ID, pod UID
//   /lxc.payload.NAME/system.slice/NAME.service   container and service

#pragma once

#include <string>
#include <string_view>

namespace profiler::agent {

// The names; empty if the groups do not contain them.
struct WorkloadNames {
  std::string service;    // a unit of systemd, without ".service"
  std::string container;  // the runtime's id: hexadecimal digits; for LXC and nspawn a name
  std::string pod;        // Kubernetes' uid
  bool operator==(const WorkloadNames&) const = default;
};

// Returns the names in the path of one group. If containers are nested, returns the innermost
// container and the unit inside it.
WorkloadNames NamesOfGroup(std::string_view path);

// Returns the names in the text of /proc/PID/cgroup. A process is in one group per hierarchy;
// returns the names of the group with the most names.
WorkloadNames NamesOfGroups(std::string_view text);

}  // namespace profiler::agent
