// Decides whether a file may be opened as a program. The decision depends on the file system that
// holds the file.
//
// Files of a pseudo file system are commands to the kernel, and opening one is enough: opening
// tracefs' free_buffer frees the ring of ftrace, and reading /proc/kmsg consumes messages. Programs
// are mapped from file systems on block devices and from some others, which file_systems.cc lists.
// All functions accept descriptors opened with O_PATH.
//
// Thread-safe.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler {

enum class FileSystemKind : uint8_t {
  kOfPrograms,
  kPseudo,   // never opened, whatever the user says
  kUnknown,  // opened if the user trusts it
};

// Classifies a file system. `magic` is f_type of statfs(2), `device` is st_dev of stat(2).
FileSystemKind KindOfFileSystem(uint64_t magic, dev_t device);

// Returns OK if programs may lie on the file system of `fd`. `path` is for messages; if it is below
// /proc/PID, the mounts of that process are used. Errors: those of fstatfs(2) and fstat(2);
// kPermissionDenied for a pseudo file system, for an unknown file system that is not trusted, and
// for an untrusted FUSE file system of another user. Such a user could make a read last for ever.
// Costs two system calls; for FUSE also two files of /proc.
absl::Status CheckHoldsPrograms(int fd, const std::string& path);

// The relevant fields of a line of /proc/PID/mountinfo.
struct MountFacts {
  std::string type;
  // The user who mounted a FUSE file system, from the mount option `user_id=`.
  std::optional<uid_t> fuse_user;
};
// Finds mount `number` in the text of a mountinfo file.
std::optional<MountFacts> FindMount(std::string_view mountinfo, std::string_view number);

// Returns OK if the user trusts a file system of unknown kind, otherwise kPermissionDenied. `type`
// is empty if the file system is not mounted in this mount namespace.
absl::Status CheckTrusted(uint64_t magic, const std::string& type, const std::string& path);

// Trusts a refused file system from now on. `name` is a type as in /proc/self/mountinfo
// ("orangefs"), or the number of statfs(2) in hexadecimal ("0x20030528").
void TrustFileSystem(std::string_view name);

// Calls `warn` once for each file system that could be trusted, when a file on it is first refused,
// in the thread that refuses it. Null: no call.
void WarnOfUnknownFileSystems(std::function<void(std::string_view line)> warn);
// Calls the function set by WarnOfUnknownFileSystems, with a line that another process made.
void WarnOfUnknownFileSystem(std::string_view line);

}  // namespace profiler
