// A counter of the calling thread, read without a system call if the kernel permits it.
//
//   perf_event_attr cycles{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
//   auto counter = Counter::Open(cycles);
//   const auto before = (*counter)->Read();
//   …
//   const auto after = (*counter)->Read();             after->value − before->value: cycles of …
//
// The kernel maps one page per counter. The page names the hardware register that counts, and a
// number to add to the register's value (counter_page.h). Reading the register takes some tens of
// cycles. Programs may read it under these conditions:
//
//   x86        /sys/bus/event_source/devices/cpu/rdpmc is 1 (the default) or 2
//   AArch64    the sysctl kernel.perf_user_access is 1 (the default is 0), and bit 1 of config1
//              is set. Open sets it for PERF_TYPE_HARDWARE, _HW_CACHE and _RAW. Other types name a
//              PMU, and only the caller knows whether its config1 has that bit.
//
// Everywhere else Read makes one system call, about 0.3 µs. Read also makes one while the counter
// has no register, because the counter is disabled or other counters occupy all registers.
//
// Source: perf_event_open(2); include/uapi/linux/perf_event.h, drivers/perf/arm_pmuv3.c,
// Linux 6.18.

#pragma once

#include <linux/perf_event.h>

#include <memory>

#include "ringbuf/counter_page.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::ringbuf {

// A counter of the thread that opened it. Other threads must not use it, because they would read
// their own registers. Holds one descriptor and one page of locked memory; the destructor releases
// both.
class Counter {
 public:
  // Opens a counter of the calling thread. It counts at once, or after Enable if attr.disabled is
  // set. attr.size and attr.read_format are ignored, because Open sets them. With attr.inherit,
  // threads that the calling thread starts are counted too, and every Read is a system call.
  // Errors: those of perf_event_open(2), with their errno (ErrnoOf).
  static absl::StatusOr<std::unique_ptr<Counter>> Open(perf_event_attr attr);
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter();

  absl::Status Enable();
  absl::Status Disable();

  // Returns the count since Open. Does not allocate on success. Errors: those of read(2);
  // kUnavailable for a pinned counter (attr.pinned) that got no hardware register.
  absl::StatusOr<CounterReading> Read() const;
  // Like Read, but always by a system call.
  absl::StatusOr<CounterReading> ReadFromKernel() const;
  // True if Read would make no system call now.
  bool reads_in_user_space() const;

 private:
  Counter(UniqueFd fd, const volatile perf_event_mmap_page* page)
      : fd_(std::move(fd)), page_(page) {}

  UniqueFd fd_;
  const volatile perf_event_mmap_page* page_;  // null if mmap failed
  const ProcessorReads processor_ = ThisProcessor();
};

}  // namespace profiler::ringbuf
