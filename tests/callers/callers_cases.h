// The programs whose callers are known, and the ways in which they are recorded.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/callers/shown_chains.h"

namespace profiler::tests {

// A program of this folder. In its texts {frame} stands for bytes, {depth} for the recursion,
// {changes} for the time between two changes of the caller in ns, {seconds} for how long it runs,
// {stack} for the KiB of stack that it needs.
struct Program {
  std::string name;
  Language language;
  std::string compiler, package;            // a command, and the Debian package that has it
  std::vector<std::string> sources;         // of tests/callers/programs; $1, $2, … in `build`
  std::string build;                        // shell; makes `program` in the working directory
  std::string command;                      // of the working directory
  std::string calls, deep, leaf;            // see KnownCalls
  std::string comm = "program";             // begins the names of its threads
  bool has_frame = true, has_depth = true;  // false if that cannot be chosen
};

enum class Mode { kLaunched, kAttached, kSystem };

struct CallersCase {
  const Program* program;
  int frame;     // bytes
  int depth;     // calls
  long changes;  // ns between two changes of the caller
  Mode mode;
  std::string options = "-F 1999 --call-graph dwarf";  // of record

  int Frequency() const;
  // Returns the size of the stack that the case needs.
  long KiB() const;
  std::string Name() const;
};

inline void PrintTo(const CallersCase& one, std::ostream* out) { *out << one.Name(); }

// Returns the cases of each test run. With PROFILER_CALLERS=all in the environment: each
// combination of frame, depth, change and mode for C; for other languages, of frame, depth and
// change, with the modes in turn.
std::vector<CallersCase> ChosenCallersCases();

}  // namespace profiler::tests
