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
