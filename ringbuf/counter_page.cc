#include "ringbuf/counter_page.h"

#include <array>
#include <atomic>
#include <utility>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace profiler::ringbuf {
namespace {

#if defined(__x86_64__)

uint64_t ReadRegister(uint32_t number) { return __rdpmc(static_cast<int>(number)); }
uint64_t ReadClock() { return __rdtsc(); }

#elif defined(__aarch64__)

// The register's number is part of the instruction, so each register has its own function.
#define PROFILER_EVENT_COUNTER(number)                             \
  [] {                                                             \
    uint64_t value;                                                \
    asm volatile("mrs %0, pmevcntr" #number "_el0" : "=r"(value)); \
    return value;                                                  \
  }
#define PROFILER_TEN_EVENT_COUNTERS(tens)                               \
  PROFILER_EVENT_COUNTER(tens##0), PROFILER_EVENT_COUNTER(tens##1),     \
      PROFILER_EVENT_COUNTER(tens##2), PROFILER_EVENT_COUNTER(tens##3), \
      PROFILER_EVENT_COUNTER(tens##4), PROFILER_EVENT_COUNTER(tens##5), \
      PROFILER_EVENT_COUNTER(tens##6), PROFILER_EVENT_COUNTER(tens##7), \
      PROFILER_EVENT_COUNTER(tens##8), PROFILER_EVENT_COUNTER(tens##9)

uint64_t ReadCycleCounter() {
  uint64_t value;
  asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
  return value;
}

constexpr uint32_t kCycleCounter = 31;

uint64_t ReadRegister(uint32_t number) {
  static constexpr std::array<uint64_t (*)(), kCycleCounter> kEventCounters = {
      PROFILER_TEN_EVENT_COUNTERS(), PROFILER_TEN_EVENT_COUNTERS(1), PROFILER_TEN_EVENT_COUNTERS(2),
      PROFILER_EVENT_COUNTER(30)};
  // Without the barrier, earlier instructions might not be counted yet.
  asm volatile("isb");
  return number < kCycleCounter ? kEventCounters[number]() : ReadCycleCounter();
}

uint64_t ReadClock() {
  uint64_t value;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value));
  return value;
}

#endif

// A consistent copy of the page, with the processor's counter and clock of that moment.
struct Moment {
  perf_event_mmap_page page;
  uint64_t counter;
  uint64_t clock;
};

std::optional<Moment> ReadMoment(const volatile perf_event_mmap_page& page,
                                 const ProcessorReads& processor) {
  Moment moment;
  perf_event_mmap_page& copy = moment.page;
  uint32_t lock;
  do {
    lock = page.lock;
    // The kernel writes the page from an interrupt on this very processor, so a compiler barrier is
    // enough.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    copy.capabilities = page.capabilities;
    copy.index = page.index;
    copy.pmc_width = page.pmc_width;
    if (!copy.cap_user_rdpmc || !copy.cap_user_time || copy.index == 0) return std::nullopt;
    if (copy.pmc_width == 0 || copy.pmc_width > 64) return std::nullopt;
    copy.offset = page.offset;
    copy.time_enabled = page.time_enabled;
    copy.time_running = page.time_running;
    copy.time_offset = page.time_offset;
    copy.time_mult = page.time_mult;
    copy.time_shift = page.time_shift;
    copy.time_cycles = page.time_cycles;
    copy.time_mask = page.time_mask;
    moment.counter = processor.counter(copy.index - 1);
    moment.clock = processor.clock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while ((lock & 1) != 0 || page.lock != lock);
  return moment;
}

uint64_t WithSign(uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
}

uint64_t NanosecondsSinceWritten(const Moment& moment) {
  const perf_event_mmap_page& page = moment.page;
  uint64_t clock = moment.clock;
  if (page.cap_user_time_short) {
    clock = page.time_cycles + ((clock - page.time_cycles) & page.time_mask);
  }
  const auto product = static_cast<unsigned __int128>(clock) * page.time_mult;
  return page.time_offset + static_cast<uint64_t>(product >> page.time_shift);
}

}  // namespace

ProcessorReads ThisProcessor() {
#if defined(__x86_64__) || defined(__aarch64__)
  return {&ReadRegister, &ReadClock};
#else
  return {};
#endif
}

std::optional<CounterReading> ReadCounterPage(const volatile perf_event_mmap_page& page,
                                              const ProcessorReads& processor) {
  if (processor.counter == nullptr) return std::nullopt;
  const std::optional<Moment> moment = ReadMoment(page, processor);
  if (!moment) return std::nullopt;
  const perf_event_mmap_page& copy = moment->page;
  const uint64_t since = NanosecondsSinceWritten(*moment);
  return CounterReading{
      .value = static_cast<uint64_t>(copy.offset) + WithSign(moment->counter, copy.pmc_width),
      .enabled = copy.time_enabled + since,
      .running = copy.time_running + since,
  };
}

}  // namespace profiler::ringbuf
