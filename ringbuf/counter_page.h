// Computes a counter's value from the page that the kernel shares for it and from the hardware
// register that the page names.
//
//   field                      meaning
//   lock                       odd or changed if the kernel was writing; then read everything again
//   index        0             the counter is not on the hardware; only read(2) has its value
//                n             register n − 1 of the processor
//   offset                     value = offset + register; the register is a signed number of
//   pmc_width                    pmc_width bits
//   time_enabled, time_running nanoseconds, up to the moment the page was written
//   time_offset, time_mult,    nanoseconds since then:
//   time_shift                   time_offset + ((clock · time_mult) >> time_shift)
//   time_cycles, time_mask     with cap_user_time_short, clock =
//                                time_cycles + ((processor's clock − time_cycles) & time_mask)
//
// Source: include/uapi/linux/perf_event.h, struct perf_event_mmap_page, Linux 6.18.

#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

namespace profiler::ringbuf {

struct CounterReading {
  uint64_t value = 0;
  // Nanoseconds since the counter was opened during which it was enabled.
  uint64_t enabled = 0;
  // Nanoseconds during which the counter was also on the hardware. Less than `enabled` if counters
  // shared registers.
  uint64_t running = 0;
};

// Functions that read the processor from user space. Tests replace them.
struct ProcessorReads {
  uint64_t (*counter)(uint32_t number);  // register number = index − 1
  uint64_t (*clock)();
};

// Returns the functions for this processor. Both are null unless it is x86-64 or AArch64.
ProcessorReads ThisProcessor();

// Reads the counter without a system call. Returns nullopt if the page does not permit it or the
// counter is not on the hardware; then only read(2) has the value. Correct only in the thread that
// the counter counts.
std::optional<CounterReading> ReadCounterPage(const volatile perf_event_mmap_page& page,
                                              const ProcessorReads& processor);

}  // namespace profiler::ringbuf
