// Runs a program and lets one of its system calls fail, or kills the program behind it.
//
//   program      openat ─── pwrite ─── writev ─── pwrite ─── …
//   counted         1          2          3          4
//                                         └ the call that Fault::at names
//
// A seccomp filter stops the program at the calls that matter, and ptrace(2) changes the one that
// is meant: the program is the one that users run, and knows nothing of it.

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
    kError,              // the call is not made and returns `error`, once
    kErrorsFromThereOn,  // and so does every later one
    kShortWrite,         // about half of the bytes are written; of the calls that write, alone
    kKill,               // SIGKILL when the call has been made
  };
  Kind kind = Kind::kNone;
  int error = 0;
  size_t at = 0;  // which call, counted from 1; of those that this kind concerns
};

// A call that was counted: one that creates, writes, syncs, cuts, links, renames or maps a file of
// the directory that is watched, or maps a ring of the kernel's. Memory that has no file is not
// counted: what an allocation that fails does is not the matter here. unlink(2) is not, either: who
// cannot remove a file can do nothing about it.
struct CountedCall {
  std::string name;    // "pwrite64"
  std::string path;    // the file; of a rename, the one that is renamed
  uint64_t bytes = 0;  // of a call that writes, how many were to be written
  int64_t result = 0;  // as the program saw it, -errno for an error
};

struct Traced {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;  // it hung and was killed
  std::string out, err;
  std::vector<CountedCall> calls;
  std::optional<size_t> spoilt;  // which of `calls`, the first of them; none when there were fewer
};

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE, beside our own
  std::string folder;                    // its working directory; its output goes to files there
  std::string watched;                   // an absolute path, without links
  bool has_hard_links = true;            // false: link(2) fails there as on FAT
};

// Why Trace cannot be used here, in words; empty where it can.
std::string WhyNothingIsTraced();

// One at a time, and while the caller has no other children. What the program starts is traced,
// too, and ends with it.
Traced Trace(const Program& program, const Fault& fault);

}  // namespace profiler::tests
