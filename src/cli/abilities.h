// What this user may record and name on this machine, and what would lift a limit: each is tried.

#pragma once

#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/naming/naming_here.h"
#include "src/procfs/proc_file.h"

namespace profiler::cli {

struct Ability {
  std::string name;  // "hardware counters"
  bool works = false;
  std::string text;  // how much of it, or why it does not and what lifts that
};

// Opens some events and closes them again; some milliseconds, or 60 where the kernel's symbols have
// to be read to their end.
std::vector<Ability> FindAbilities(ringbuf::Kernel& kernel, const procfs::Roots& roots);

// Of those that give names to what was recorded.
std::vector<Ability> NamingAbilities(const naming::NamingHere& here);

}  // namespace profiler::cli
