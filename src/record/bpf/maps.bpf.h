// The maps that both programs in the kernel use. The programs are loaded one after the other; the
// second one gets the maps of the first.

#pragma once

// libbpf's headers need the types of this one, so it comes first.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "src/record/bpf/python_stack.h"

enum { kMostPythonProcesses = 4096, kMostCpus = 8192 };
enum {
  kProgramWalk = 0,
  kProgramFind = 1,
  kProgramFrames = 2,
  kProgramCodes = 3,
  kProgramCopy = 4,
  kPrograms = 5
};

// The PID namespace of the recorder, which has other pids than the kernel; 0: the first namespace.
// The loader sets them (RecorderNamespace).
const volatile __u64 namespace_device = 0, namespace_inode = 0;

// Returns the pid of the sampled process as the recorder sees it; 0 if it runs in another namespace.
static __always_inline __u32 ThisPid(void) {
  if (namespace_inode == 0) return bpf_get_current_pid_tgid() >> 32;
  struct bpf_pidns_info info = {};
  if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &info, sizeof(info)) != 0) {
    return 0;
  }
  return info.tgid;
}

// How the frames of a process are walked. Key: its pid. Preallocated: kernels before 6.1 refuse
// other hash maps in programs of events.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, kMostPythonProcesses);
  __type(key, __u32);
  __type(value, struct PythonProcessEntry);
} processes SEC(".maps");

// The programs that walk. Empty until the first Python is met.
struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, kPrograms);
  __type(key, __u32);
  __type(value, __u32);
} programs SEC(".maps");
