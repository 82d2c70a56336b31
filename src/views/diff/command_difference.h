// Finds out if recordings that are compared ran different commands.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/views/diff/run.h"

namespace profiler::diff {

// kPrograms: programs of different base names, because two builds of a program have different
// paths. kArguments: one program with different arguments.
enum class CommandPart : uint8_t { kNone, kPrograms, kArguments };

// The first difference between the commands of recordings, and two recordings that show it.
struct CommandDifference {
  CommandPart part = CommandPart::kNone;
  const Run* one = nullptr;  // null with kNone
  const Run* other = nullptr;

  // Returns one line that names the difference; "" with kNone.
  std::string Text() const;
};

// Compares the commands of all recordings; different programs come before different arguments.
// Leaves out recordings without a command.
CommandDifference DifferenceOfCommands(std::span<const Run> before, std::span<const Run> after);

}  // namespace profiler::diff
