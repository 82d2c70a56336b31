// Reads /proc/PID/mountinfo (proc_pid_mountinfo(5)), one line for each mount:
//
//   36 35 98:0 /root /mnt rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
//   id                point                     type           options of the file system

#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"

namespace profiler {

// A mount. The texts point into the file, in which spaces are written as \040.
struct Mount {
  std::string_view id;
  std::string_view point;
  std::string_view type;     // "ext4", "fuse.sshfs"
  std::string_view options;  // "rw,user_id=1000"
};

// Calls `visit` for each mount, in the order of the file, until it returns false. Skips lines that
// are cut.
void ForEachMount(std::string_view mountinfo, absl::FunctionRef<bool(const Mount&)> visit);

}  // namespace profiler
