// Lists the BPF programs that are already loaded. The kernel announces later ones by KSYMBOL
// records.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profiler::procfs {

struct BpfFunction {
  uint64_t start = 0;
  uint32_t size = 0;
  std::string name;  // bpf_prog_TAG_NAME; without _NAME for subprograms
};

// Returns the functions of all loaded programs. Empty if this user may not list programs
// (CAP_SYS_ADMIN) or see kernel addresses. Costs some system calls per program. Source: bpf(2);
// bpf_get_prog_name() in kernel/bpf/core.c, Linux 6.18.
std::vector<BpfFunction> LoadedBpfFunctions();

}  // namespace profiler::procfs
