// How large the rings are when nobody says.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/procfs/machine.h"

namespace profiler::record {

struct RingSize {
  size_t pages = 0;      // data pages of each ring, a power of two
  size_t min_pages = 0;  // as small as it may become where the limits refuse that; 0: it must not
};

// For a process that may lock memory as it likes: 4 MiB a CPU, which at 25 000 samples a second of
// 400 bytes holds 400 ms. For all others: what kernel.perf_event_mlock_kb allows, 512 KiB by
// default.
//
// `bytes_per_second` is what a CPU is expected to write where samples carry stack bytes, else 0. A
// ring then holds at least 50 ms of it, up to 64 MiB, or the most that the limits allow: besides
// the sysctl those on locked memory, so it has to be tried.
RingSize DefaultRing(const procfs::PerfLimits& limits, uint64_t capabilities, size_t page_size,
                     uint64_t bytes_per_second = 0);

// Whether rings may have any size.
bool MayLockMemory(const procfs::PerfLimits& limits, uint64_t capabilities);

// Of a sample with stack bytes: all the rest, the kernel's part of the chain and registers.
inline constexpr uint64_t kBesideStack = 512;

// Of stack copied with each sample: the most that the kernel takes (a multiple of 8 below 2^16),
// and what it is where memory is dear.
inline constexpr uint32_t kMostStackBytes = 65528;
inline constexpr uint32_t kModestStackBytes = 32768;

// How much of the stack a sample copies at `samples_per_second` a CPU: as much as a record holds,
// 65528 bytes, where the ring that DefaultRing makes of that is small (16 MiB) and its memory may
// be locked; else kModestStackBytes. Of the samples of a C++ compiler 1.4 % reach past 32 KiB and
// 0.25 % past 64 KiB; shallow stacks cost the same with either.
uint32_t DefaultStackBytes(const procfs::PerfLimits& limits, uint64_t capabilities,
                           uint64_t samples_per_second);

// `bytes` rounded up to a power of two of pages, at least one.
RingSize RequestedRing(size_t bytes, size_t page_size);

}  // namespace profiler::record
