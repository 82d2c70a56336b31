// Declares the programs whose call chains the tests know, and the ways to record them.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/callers/shown_chains.h"

namespace profiler::tests {

// A program in tests/callers/programs. Its strings may contain placeholders: {frame} is a frame
// size in bytes, {depth} the recursion depth, {changes} the time in ns between two changes of the
// caller, {seconds} the run time in seconds, and {stack} the stack size in KiB that the
// program needs.
struct Program {
  std::string name;
  Language language;
  std::string compiler, package;     // a command, and the Debian package that contains it
  std::vector<std::string> sources;  // in tests/callers/programs; `build` gets them as $1, $2, …
  std::string build;                 // shell command that writes the file `program`
  std::string command;               // shell command that runs `program`
  std::string calls, deep, leaf;     // arguments of KnownCalls
  std::string comm = "program";      // prefix of the program's thread names
  // False if the program cannot choose its frame size or its recursion depth.
  bool has_frame = true, has_depth = true;
  // True if all chains are whole, provided that the stack can be read.
  bool is_whole = false;
};

enum class Mode { kLaunched, kAttached, kSystem };

struct CallersCase {
  const Program* program;
  int frame;     // frame size in bytes
  int depth;     // recursion depth in calls
  long changes;  // time between two changes of the caller, in ns
  Mode mode;
  std::string options = "-F 1999 --call-graph dwarf";  // options of `record`

  int Frequency() const;
  // True if the stack is too large for a sample, and a program in the kernel reads the rest.
  bool HasLargeStack() const;
  // Returns the stack size that the case needs, in KiB.
  long KiB() const;
  std::string Name() const;
};

inline void PrintTo(const CallersCase& one, std::ostream* out) { *out << one.Name(); }

// Returns the cases that every test run tries. With PROFILER_CALLERS=all in the environment,
// returns each combination of frame, depth, changes and mode for C. Other languages get each
// combination of frame, depth and changes, and the modes take turns.
std::vector<CallersCase> ChosenCallersCases();

}  // namespace profiler::tests
