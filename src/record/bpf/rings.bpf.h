// The map of a program that writes into the ring of its CPU: an output event for each CPU, by which
// it writes. The loader fills it. Each such program has its own, because the gate has none.

#pragma once

#include "src/record/bpf/maps.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(max_entries, kMostCpus);
  __type(key, __u32);
  __type(value, __u32);
} rings SEC(".maps");
