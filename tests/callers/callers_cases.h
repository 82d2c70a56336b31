// Declares the programs whose call chains the tests know, and the ways to record them.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/callers/shown_chains.h"

namespace profiler::tests {

// A program of this folder. Its strings may contain placeholders: {frame} is a frame size in bytes,
// {depth} the recursion depth, {changes} the time between two changes of the caller in ns,
// {seconds} the run time, and {stack} the KiB of stack that the program needs.
struct Program {
  std::string name;
  Language language;
  std::string compiler, package;     // a command, and the Debian package that contains it
  std::vector<std::string> sources;  // below tests/callers/programs; `build` gets $1, $2, …
  std::string build;                 // shell command; makes `program` in the working directory
  std::string command;               // runs in the working directory
  std::string calls, deep, leaf;     // see KnownCalls
  std::string comm = "program";      // prefix of the program's thread names
  bool has_frame = true, has_depth = true;  // false: cannot be chosen
};

enum class Mode { kLaunched, kAttached, kSystem };

struct CallersCase {
  const Program* program;
  int frame;     // bytes
  int depth;     // calls
  long changes;  // ns between two changes of the caller
  Mode mode;
  std::string options = "-F 1999 --call-graph dwarf";  // options of `record`

  int Frequency() const;
  // Returns the size of the stack that the case needs.
  long KiB() const;
  std::string Name() const;
};

inline void PrintTo(const CallersCase& one, std::ostream* out) { *out << one.Name(); }

// Returns the cases that every test run tries. With PROFILER_CALLERS=all in the environment,
// returns each combination of frame, depth, changes and mode for C. Other languages get each
// combination of frame, depth and changes, and the modes take turns.
std::vector<CallersCase> ChosenCallersCases();

}  // namespace profiler::tests
