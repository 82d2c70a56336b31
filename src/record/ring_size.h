// Chooses the size of the rings if the user gives none.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/machine/procfs/machine.h"

namespace profiler::record {

struct RingSize {
  size_t pages = 0;      // data pages of each ring, a power of two
  size_t min_pages = 0;  // smallest size to try if a limit forbids `pages`; 0: none
};

// Returns the size of each ring. A process that may lock any amount of memory gets 4 MiB per CPU.
// If samples have 400 bytes, this holds 25 000 samples per second for 400 ms. Other processes get
// the limit of kernel.perf_event_mlock_kb, 512 KiB by default.
//
// `bytes_per_second` is the expected output of a CPU if samples carry stack bytes, else 0. A ring
// then holds at least 50 ms of it, up to 64 MiB. That may exceed the sysctl and count against the
// limit on locked memory, so the caller has to try the size.
RingSize DefaultRing(const procfs::PerfLimits& limits, uint64_t capabilities, size_t page_size,
                     uint64_t bytes_per_second = 0);

// True if rings may have any size.
bool MayLockMemory(const procfs::PerfLimits& limits, uint64_t capabilities);

// Bytes of a sample besides its stack bytes: the kernel's part of the chain, registers and the
// rest.
inline constexpr uint64_t kBesideStack = 512;

// Stack bytes copied with each sample: the kernel's maximum (a multiple of 8 below 2^16), and the
// default if memory is scarce.
inline constexpr uint32_t kMostStackBytes = 65528;
inline constexpr uint32_t kModestStackBytes = 32768;

// Returns how many stack bytes each sample copies at `samples_per_second` per CPU. It is
// kMostStackBytes if the resulting ring is small (16 MiB) and its memory may be locked, else
// kModestStackBytes. Among the samples of a C++ compiler, 1.4 % reach beyond 32 KiB and 0.25 %
// beyond 64 KiB. Shallow stacks cost the same with both values.
uint32_t DefaultStackBytes(const procfs::PerfLimits& limits, uint64_t capabilities,
                           uint64_t samples_per_second);

// Rounds `bytes` up to a power of two of pages, at least one.
RingSize RequestedRing(size_t bytes, size_t page_size);

}  // namespace profiler::record
