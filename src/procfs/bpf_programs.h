// The BPF programs that the kernel has compiled, as it announces others while they are loaded
// (KSYMBOL records).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profiler::procfs {

struct BpfFunction {
  uint64_t start = 0;
  uint32_t size = 0;
  std::string name;  // bpf_prog_TAG_NAME; without _NAME for those that a program calls
};

// Empty for who may not ask (CAP_SYS_ADMIN), or may not know addresses of the kernel. Costs some
// system calls a program.
// Source: bpf(2); bpf_get_prog_name() in kernel/bpf/core.c, Linux 6.18.
std::vector<BpfFunction> LoadedBpfFunctions();

}  // namespace profiler::procfs
