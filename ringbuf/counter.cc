#include "ringbuf/counter.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "ringbuf/kernel.h"
#include "src/base/raised_capabilities.h"

namespace profiler::ringbuf {
namespace {

size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Returns the bits of config1 that ask for permission to read the register; 0 if the architecture
// has none.
uint64_t UserAccess(const perf_event_attr& attr) {
#if defined(__aarch64__)
  const bool is_core_event = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE ||
                             attr.type == PERF_TYPE_RAW;
  return is_core_event ? 2 : 0;
#else
  static_cast<void>(attr);
  return 0;
#endif
}

absl::StatusOr<UniqueFd> OpenWithUserAccess(perf_event_attr attr) {
  const uint64_t asked = attr.config1;
  attr.config1 |= UserAccess(attr);
  auto opened = LinuxKernel().OpenEvent(attr, 0, -1, -1);
  if (opened.ok() || attr.config1 == asked) return opened;
  attr.config1 = asked;
  return LinuxKernel().OpenEvent(attr, 0, -1, -1);
}

const volatile perf_event_mmap_page* MapPage(int fd) {
  const RaisedCapabilities raised(kCapIpcLock);
  void* page = mmap(nullptr, PageSize(), PROT_READ, MAP_SHARED, fd, 0);
  return page == MAP_FAILED ? nullptr : static_cast<perf_event_mmap_page*>(page);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Counter>> Counter::Open(perf_event_attr attr) {
  attr.size = sizeof(attr);
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  auto fd = OpenWithUserAccess(attr);
  if (!fd.ok()) return fd.status();
  const auto* page = MapPage(fd->get());
  return std::unique_ptr<Counter>(new Counter(*std::move(fd), page));
}

Counter::~Counter() {
  if (page_ != nullptr) munmap(const_cast<perf_event_mmap_page*>(page_), PageSize());
}

absl::Status Counter::Enable() { return LinuxKernel().Enable(fd_.get()); }
absl::Status Counter::Disable() { return LinuxKernel().Disable(fd_.get()); }

absl::StatusOr<CounterReading> Counter::Read() const {
  if (page_ != nullptr) {
    if (const auto reading = ReadCounterPage(*page_, processor_)) return *reading;
  }
  return ReadFromKernel();
}

absl::StatusOr<CounterReading> Counter::ReadFromKernel() const {
  std::array<uint64_t, 3> values{};
  const auto size = LinuxKernel().ReadCounter(fd_.get(), std::as_writable_bytes(std::span(values)));
  if (!size.ok()) return size.status();
  // read(2) returns 0 bytes for an event in error state: a pinned event that got no register.
  if (*size != sizeof(values))
    return absl::UnavailableError("the counter has no place on the hardware");
  return CounterReading{.value = values[0], .enabled = values[1], .running = values[2]};
}

bool Counter::reads_in_user_space() const {
  return page_ != nullptr && ReadCounterPage(*page_, processor_).has_value();
}

}  // namespace profiler::ringbuf
