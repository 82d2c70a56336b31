// Finds out by trying which data this user may record and name on this machine. For each limit,
// says what would lift it.

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
  std::string text;  // details; if the ability is missing, reason and remedy
};

// Returns all abilities. Opens some events and closes them again. Takes a few milliseconds, or 60
// ms if all of the kernel's symbols must be read.
std::vector<Ability> FindAbilities(ringbuf::Kernel& kernel, const procfs::Roots& roots);

// Returns the abilities that give names to recorded code.
std::vector<Ability> NamingAbilities(const naming::NamingHere& here);

}  // namespace profiler::cli
