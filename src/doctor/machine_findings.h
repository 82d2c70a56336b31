// Finds out what this user may record on this machine, by trying it, and what would lift each
// limit.

#pragma once

#include <vector>

#include "ringbuf/kernel.h"
#include "src/doctor/finding.h"
#include "src/doctor/machine_state.h"
#include "src/machine/procfs/proc_file.h"
#include "src/profile/naming/naming_here.h"

namespace profiler::doctor {

// System calls that a seccomp filter may deny. A call is tried with arguments that the kernel
// refuses for another reason than rights, so a refusal for rights comes from the filter.
struct FilteredCalls {
  bool bpf = false;
  int bpf_load = 0;  // errno of loading the smallest program; 0: it was loaded
  bool ptrace = false;
  bool process_vm_readv = false;
};
FilteredCalls FindFilteredCalls(const procfs::Roots& roots);

// Returns all findings in groups. Opens some events and closes them again. Takes a few
// milliseconds, or 60 ms if all symbols of the kernel must be read.
std::vector<FindingGroup> FindOnMachine(ringbuf::Kernel& kernel, const procfs::Roots& roots,
                                        const FilteredCalls& filtered,
                                        const naming::NamingHere& naming);

}  // namespace profiler::doctor
