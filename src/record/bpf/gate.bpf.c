// Runs at each sample. Passes samples of threads with large stacks on to the program that reads
// them, and samples of known Python processes on to the program that walks their frames. It uses no
// types of the kernel, so that loading it takes a millisecond and no BTF.

#include "src/record/bpf/maps.bpf.h"

// The number of entries of followed_threads. Without any, the gate looks up no thread.
volatile __u32 followed = 0;

static __always_inline void WalkPython(void* ctx, __u32 pid) {
  if (bpf_map_lookup_elem(&processes, &pid)) bpf_tail_call(ctx, &programs, kProgramWalk);
}

SEC("perf_event") int gate(void* ctx) {
  const struct bpf_pidns_info task = ThisTask();
  if (followed != 0) {
    const __u32 tid = task.pid;
    if (bpf_map_lookup_elem(&followed_threads, &tid)) {
      bpf_tail_call(ctx, &programs, kProgramStack);
    }
  }
  WalkPython(ctx, task.tgid);
  return 1;
}

// Runs at each context switch of --off-cpu. Stacks of waiting threads are read later.
SEC("perf_event") int gate_of_switches(void* ctx) {
  WalkPython(ctx, ThisPid());
  return 1;
}

char kLicense[] SEC("license") = "Dual MIT/GPL";
