// A counter's value from the page that the kernel shares of it, and the register that the page
// names.
//
//   perf_event_mmap_page        what is read of it
//   lock                        odd or changed: the kernel writes; all is read again
//   index        0              not on the hardware now: only read(2) knows
//                n              register n − 1 of the processor
//   offset                      value = offset + the register, as a number of pmc_width bits with
//   pmc_width                   a sign
//   time_enabled, time_running  nanoseconds, up to when the page was written; since then passed
//   time_offset, time_mult,       time_offset + ((clock · time_mult) >> time_shift),
//   time_shift                  of the processor's clock, which is time_cycles with
//   time_cycles, time_mask      cap_user_time_short, plus what differs under time_mask
//
// Source: include/uapi/linux/perf_event.h, struct perf_event_mmap_page, Linux 6.18.

#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

namespace profiler::ringbuf {

struct CounterReading {
  uint64_t value = 0;
  uint64_t enabled = 0;  // nanoseconds since the counter was opened in which it was to count
  uint64_t running = 0;  // nanoseconds of these in which it did: fewer where counters are shared
};

// The processor, as a program in user space reads it. Tests put another in its place.
struct ProcessorReads {
  uint64_t (*counter)(uint32_t number);  // of index − 1
  uint64_t (*clock)();
};

// The one that this runs on. On an architecture that is neither x86 nor AArch64 both are null.
ProcessorReads ThisProcessor();

// Makes no system call. Nothing where the page does not permit it, or the counter is not on the
// hardware: read(2) then tells. Only right in the thread that the counter counts.
std::optional<CounterReading> ReadCounterPage(const volatile perf_event_mmap_page& page,
                                              const ProcessorReads& processor);

}  // namespace profiler::ringbuf
