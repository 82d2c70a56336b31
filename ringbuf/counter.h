// One counter of the calling thread, read without a system call where the kernel permits it.
//
//   perf_event_attr cycles{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
//   auto counter = Counter::Open(cycles);
//   const auto before = (*counter)->Read();
//   …
//   const auto after = (*counter)->Read();             after->value − before->value: cycles of …
//
// The kernel maps a page for each counter, which names the register that it is in and what to add
// to it (counter_page.h). A program may read that register itself, some tens of cycles, where
//
//   x86        /sys/bus/event_source/devices/cpu/rdpmc is 1 (the default) or 2
//   AArch64    the sysctl kernel.perf_user_access is 1 (the default is 0), and config1 asks for it:
//              bit 1; Open sets it for PERF_TYPE_HARDWARE, _HW_CACHE and _RAW. Other types name a
//              PMU, and only the caller knows whether its config1 has that bit.
//
// Everywhere else, and while the counter is not on the hardware (disabled, or others have its
// place), Read makes one system call, about 0.3 µs.
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

// Belongs to the thread that opened it: in another, the register is that thread's own. Takes one
// descriptor and one page of locked memory; gives both back when it goes.
class Counter {
 public:
  // Counts the calling thread from now on, or, with attr.disabled, from Enable on. attr.size and
  // attr.read_format are set here. With attr.inherit, threads that it starts are counted too, and
  // every Read is a system call. Errors: those of perf_event_open(2), with their errno (ErrnoOf).
  static absl::StatusOr<std::unique_ptr<Counter>> Open(perf_event_attr attr);
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter();

  absl::Status Enable();
  absl::Status Disable();

  // What has been counted since it was opened. No allocation where it succeeds. Errors: those of
  // read(2); kUnavailable for a pinned counter (attr.pinned) that found no place on the hardware.
  absl::StatusOr<CounterReading> Read() const;
  // The same by a system call, whatever the page permits.
  absl::StatusOr<CounterReading> ReadFromKernel() const;
  // Whether Read would make no system call now.
  bool reads_in_user_space() const;

 private:
  Counter(UniqueFd fd, const volatile perf_event_mmap_page* page)
      : fd_(std::move(fd)), page_(page) {}

  UniqueFd fd_;
  const volatile perf_event_mmap_page* page_;  // null where it could not be mapped
  const ProcessorReads processor_ = ThisProcessor();
};

}  // namespace profiler::ringbuf
