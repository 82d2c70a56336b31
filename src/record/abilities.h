// Finds out by trying which data this user may record on this machine. For each limit,
// says what would lift it.

#pragma once

#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::record {

struct Ability {
  std::string name;  // "hardware counters"
  bool works = false;
  std::string text;  // details; if the ability is missing, reason and remedy
};

// Returns all abilities. Opens some events and closes them again. Takes a few milliseconds, or 60
// ms if all of the kernel's symbols must be read.
std::vector<Ability> FindAbilities(ringbuf::Kernel& kernel, const procfs::Roots& roots);

}  // namespace profiler::record
