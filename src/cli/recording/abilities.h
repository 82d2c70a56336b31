// Finds out what this user may record and name on this machine, by trying, and how to lift each
// limit.

#pragma once

#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/machine/procfs/proc_file.h"
#include "src/profile/naming/naming_here.h"

namespace profiler::cli {

struct Ability {
  std::string name;  // "hardware counters"
  bool works = false;
  std::string text;  // details; if it does not work, the reason and the remedy
};

// Returns all abilities. Opens some events and closes them again. Takes some milliseconds, or 60 ms
// if the kernel's symbols must be read to their end.
std::vector<Ability> FindAbilities(ringbuf::Kernel& kernel, const procfs::Roots& roots);

// Returns the abilities that give names to recorded code.
std::vector<Ability> NamingAbilities(const naming::NamingHere& here);

}  // namespace profiler::cli
