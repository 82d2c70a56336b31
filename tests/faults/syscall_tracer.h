// Runs a program and lets one of its system calls fail, or kills the program after that call.
//
//   program      openat ─── pwrite ─── writev ─── pwrite ─── …
//   counted         1          2          3          4
//                                         └ the call that Fault::at names
//
// A seccomp filter stops the program at the watched calls, and ptrace(2) changes the chosen one. So
// tests run the same binary as users.

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
    kError,              // returns `error` once, without making the call
    kErrorsFromThereOn,  // like kError, also for every later call
    kShortWrite,         // writes about half of the bytes; counts writes of 2 bytes or more only
    kKill,               // SIGKILL after the call
  };
  Kind kind = Kind::kNone;
  int error = 0;
  size_t at = 0;  // number of the call, from 1; only calls that this kind can spoil count
};

// A counted call. It creates, writes, syncs, truncates, links, renames or maps a file of the
// watched directory, or maps a ring of the kernel. Memory without a file is not counted: failing
// allocations are tested elsewhere. unlink(2) is not counted, because a program can do nothing if
// it fails.
struct CountedCall {
  std::string name;    // "pwrite64"
  std::string path;    // the file; for a rename, its old path
  uint64_t bytes = 0;  // bytes to write; 0 for other calls
  int64_t result = 0;  // as the program saw it, -errno for an error
};

struct Traced {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  bool timed_out = false;  // it hung and was killed
  std::string out, err;
  std::vector<CountedCall> calls;
  std::optional<size_t> spoilt;  // index of the first spoilt call; none if there were too few
};

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's environment
  std::string folder;                    // its working directory; its output goes to files there
  std::string watched;                   // counted directory: absolute, without symbolic links
  bool has_hard_links = true;            // false: link(2) fails there as on FAT
};

// Returns why Trace cannot be used here; empty if it can.
std::string WhyNothingIsTraced();

// Runs `program` with `fault`. Runs one program at a time, and the caller must have no other
// children. Processes that the program starts are also traced, and end with the program.
Traced Trace(const Program& program, const Fault& fault);

}  // namespace profiler::tests
