// The maps that several programs in the kernel use. The gate is loaded first; the other programs get
// its maps.

#pragma once

// libbpf's headers need the types of this one, so it comes first.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "src/record/bpf/python_stack.h"
#include "src/record/bpf/stack_record.h"

enum { kMostPythonProcesses = 4096, kMostFollowedThreads = 4096, kMostCpus = 8192 };
enum {
  kProgramWalk = 0,
  kProgramFind = 1,
  kProgramFrames = 2,
  kProgramCodes = 3,
  kProgramCopy = 4,
  kProgramStack = 5,
  kPrograms = 6
};

// Hides from the compiler what it knows about a variable, so that the verifier sees the checks that
// follow.
#define BARRIER(variable) asm volatile("" : "+r"(variable))

// The PID namespace of the recorder, which has other pids than the kernel; 0: the first namespace.
// The loader sets them (RecorderNamespace).
const volatile __u64 namespace_device = 0, namespace_inode = 0;

// The ids of the sampled thread as the recorder sees them; 0 if it runs in another namespace.
static __always_inline struct bpf_pidns_info ThisTask(void) {
  struct bpf_pidns_info info = {};
  if (namespace_inode == 0) {
    const __u64 ids = bpf_get_current_pid_tgid();
    info.tgid = ids >> 32;
    info.pid = (__u32)ids;
  } else {
    bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &info, sizeof(info));
  }
  return info;
}
static __always_inline __u32 ThisPid(void) { return ThisTask().tgid; }
static __always_inline __u32 ThisTid(void) { return ThisTask().pid; }

// How the frames of a process are walked. Key: its pid. Preallocated: kernels before 6.1 refuse
// other hash maps in programs of events.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, kMostPythonProcesses);
  __type(key, __u32);
  __type(value, struct PythonProcessEntry);
} processes SEC(".maps");

// The threads whose stacks are read to the end. Key: the thread's id.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, kMostFollowedThreads);
  __type(key, __u32);
  __type(value, struct FollowedThread);
} followed_threads SEC(".maps");

// The programs behind the gate. Empty until they are needed.
struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, kPrograms);
  __type(key, __u32);
  __type(value, __u32);
} programs SEC(".maps");
