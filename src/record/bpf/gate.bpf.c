// Runs at each sample. Passes samples of known Python processes on to the program that walks their
// frames. It uses no types of the kernel, so that loading it takes a millisecond and no BTF.

#include "src/record/bpf/maps.bpf.h"

SEC("perf_event") int gate(void* ctx) {
  const __u32 pid = ThisPid();
  if (bpf_map_lookup_elem(&processes, &pid)) bpf_tail_call(ctx, &programs, kProgramWalk);
  return 1;
}

char kLicense[] SEC("license") = "Dual MIT/GPL";
