// Decides by its file system whether a file may be opened as a program.
//
// Files of a pseudo file system are orders to the kernel, and opening one is enough: free_buffer of
// tracefs frees the ring of ftrace, and what is read from /proc/kmsg is gone for others. Programs
// are mapped from file systems on block devices and from some others, which are listed in the
// source. Everything here works on a descriptor, also on one that was opened with O_PATH only.
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

// `magic` is f_type of statfs(2), `device` is st_dev of stat(2).
FileSystemKind KindOfFileSystem(uint64_t magic, dev_t device);

// OK if programs may lie on the file system of `fd`. `path` is for messages, and below /proc/PID
// its mounts are that process's. Errors: those of fstatfs(2) and fstat(2); kPermissionDenied for a
// pseudo file system, for one that is unknown and not trusted, and for a FUSE file system of
// another user that is not trusted: that user decides when a read of it ends. Costs two system
// calls, for FUSE two files of /proc besides.
absl::Status CheckHoldsPrograms(int fd, const std::string& path);

// A line of /proc/PID/mountinfo, as far as it matters here.
struct MountFacts {
  std::string type;
  std::optional<uid_t> fuse_user;  // `user_id=` of FUSE: the user who mounted it
};
// Finds the mount with that number in the text of a mountinfo.
std::optional<MountFacts> FindMount(std::string_view mountinfo, std::string_view number);

// As CheckHoldsPrograms for a file system of no known kind. `type` is empty if it is not mounted in
// this mount namespace.
absl::Status CheckTrusted(uint64_t magic, const std::string& type, const std::string& path);

// From now on, files of refused file systems with this name are opened. A name is a type as in
// /proc/self/mountinfo ("orangefs"), or the number of statfs(2) in hexadecimal ("0x20030528").
void TrustFileSystem(std::string_view name);

// `warn` is called with a line for each name of a file system that could be trusted, the first time
// that a file on it is refused. It is called in the thread that refuses the file. Null: no call.
void WarnOfUnknownFileSystems(std::function<void(std::string_view line)> warn);
// Calls it with a line that another process made.
void WarnOfUnknownFileSystem(std::string_view line);

}  // namespace profiler
