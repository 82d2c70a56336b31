// Runs a program and lets one of its system calls fail, or kills the program after that call.
//
//   program      openat ─── pwrite ─── writev ─── pwrite ─── …
//   counted         1          2          3          4
//                                         └ the call that Fault::at names
//
// A seccomp filter stops the program at the watched calls, and ptrace(2) changes the chosen call.
// So tests run the same binary as users.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profiler::tests {

struct Fault {
  enum class Kind {
    kNone,
    kError,              // one call returns `error` and is not made
    kErrorsFromThereOn,  // the call and all later calls return `error`
    kShortWrite,         // a write of 2 bytes or more writes about half of them
    kKill,               // SIGKILL ends the program after the call
  };
  Kind kind = Kind::kNone;
  int error = 0;
  // Number of the call to spoil; the first call is 1. Only calls that this kind of fault can spoil
  // are counted.
  size_t at = 0;
};

// A counted call. It creates, writes, syncs, truncates, links, renames or maps a file of the
// watched directory, or maps a ring of the kernel. Memory without a file is not counted: failing
// allocations are tested elsewhere. unlink(2) is not counted, because a program can do nothing if
// it fails.
struct CountedCall {
  std::string name;    // name of the system call, such as "pwrite64"
  std::string path;    // path of the file; for a rename, the old path
  uint64_t bytes = 0;  // bytes to write; 0 if the call writes no bytes
  int64_t result = 0;  // result that the program saw; -errno for an error
};

struct Traced {
  int exit_code = -1;  // -1 if a signal ended the program
  int signal = 0;
  bool timed_out = false;  // True if the program hung and was killed
  std::string out, err;
  std::vector<CountedCall> calls;
  std::optional<size_t> spoilt;  // index in `calls` of the first spoilt call; none: too few calls
};

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's environment
  std::string folder;                    // working directory; output goes to files in it
  std::string watched;                   // watched directory: absolute, no symbolic links
  bool has_hard_links = true;            // false: link(2) fails, as on a FAT file system
};

// Returns why Trace cannot be used here; empty if it can.
std::string WhyNothingIsTraced();

// Runs `program` with `fault`. Runs one program at a time, and the caller must have no other
// children. Processes that the program starts are also traced, and end with the program.
Traced Trace(const Program& program, const Fault& fault);

}  // namespace profiler::tests
