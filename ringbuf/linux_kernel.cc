#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "ringbuf/kernel.h"
#include "src/base/clock.h"
#include "src/base/raised_capabilities.h"
#include "src/base/uninterrupted.h"

namespace profiler::ringbuf {
namespace {

class LinuxRing final : public MappedRing {
 public:
  LinuxRing(void* base, size_t size, size_t page_size)
      : base_(base),
        size_(size),
        view_(base, {static_cast<std::byte*>(base) + page_size, size - page_size}) {}
  LinuxRing(const LinuxRing&) = delete;
  LinuxRing& operator=(const LinuxRing&) = delete;
  ~LinuxRing() override { munmap(base_, size_); }

  RingView& view() override { return view_; }

 private:
  void* base_;
  size_t size_;
  RingView view_;
};

absl::Status EventIoctl(int fd, unsigned long request, unsigned long argument, const char* name) {
  if (ioctl(fd, request, argument) != 0) return ErrnoStatus(errno, name);
  return absl::OkStatus();
}

// Returns the capabilities to raise. CAP_PERFMON is enough if it can be raised. CAP_SYS_PTRACE is
// then left out, because the kernel resolves the path of a probe with the caller's capabilities.
uint64_t ToOpenEvents() {
  const bool has_perfmon = (RaisableCapabilities() & kCapPerfmon) != 0;
  return has_perfmon ? kCapPerfmon : kCapSysAdmin | kCapSysPtrace;
}

class RealKernel final : public Kernel {
 public:
  absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd,
                                     unsigned long flags) override {
    // A copy, because the kernel writes its own size into an attr that is too big for it. The
    // kernel refuses an attr of more than a page.
    alignas(perf_event_attr) std::array<std::byte, 4096> copy;
    if (attr.size > copy.size()) return ErrnoStatus(E2BIG, "perf_event_open");
    std::memcpy(copy.data(), &attr, std::max<size_t>(attr.size, PERF_ATTR_SIZE_VER0));
    const RaisedCapabilities raised(ToOpenEvents());
    const long fd =
        syscall(SYS_perf_event_open, copy.data(), pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
      const int error = errno;
      return ErrnoStatus(error, pid < 0
                                    ? absl::StrCat("perf_event_open on CPU ", cpu)
                                    : absl::StrCat("perf_event_open of ", pid, " on CPU ", cpu));
    }
    return UniqueFd(static_cast<int>(fd));
  }

  absl::Status SetFilter(int fd, const std::string& filter) override {
    if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter.c_str()) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, absl::StrCat("the kernel refuses the filter '", filter, "'"));
  }

  absl::Status SetProgram(int fd, int program) override {
    return EventIoctl(fd, PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(program),
                      "PERF_EVENT_IOC_SET_BPF");
  }

  absl::StatusOr<uint64_t> EventId(int fd) override {
    uint64_t id = 0;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) return ErrnoStatus(errno, "PERF_EVENT_IOC_ID");
    return id;
  }

  absl::Status SetOutput(int fd, int ring_fd) override {
    return EventIoctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd, "PERF_EVENT_IOC_SET_OUTPUT");
  }
  absl::Status Enable(int fd) override {
    return EventIoctl(fd, PERF_EVENT_IOC_ENABLE, 0, "PERF_EVENT_IOC_ENABLE");
  }
  absl::Status Disable(int fd) override {
    return EventIoctl(fd, PERF_EVENT_IOC_DISABLE, 0, "PERF_EVENT_IOC_DISABLE");
  }

  absl::StatusOr<size_t> ReadCounter(int fd, std::span<std::byte> buffer) override {
    const ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size < 0) return ErrnoStatus(errno, "reading a counter");
    return static_cast<size_t>(size);
  }

  absl::StatusOr<std::unique_ptr<MappedRing>> MapRing(int fd, size_t data_pages) override {
    const size_t page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t size = (1 + data_pages) * page_size;
    const RaisedCapabilities raised(kCapIpcLock);
    void* const base = Uninterrupted(
        [&] { return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); });
    if (base == MAP_FAILED) return ErrnoStatus(errno, "mmap of a ring");
    return std::make_unique<LinuxRing>(base, size, page_size);
  }

  uint64_t MonotonicNow() override { return profiler::MonotonicNow(); }

  uint64_t FileLimit() override {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }

  uint64_t RaiseFileLimit(uint64_t wanted) override {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (wanted > limit.rlim_max) {
      const RaisedCapabilities raised(kCapSysResource);
      const rlimit beyond{wanted, wanted};
      if (setrlimit(RLIMIT_NOFILE, &beyond) == 0) return wanted;
    }
    const rlim_t allowed = std::min<rlim_t>(wanted, limit.rlim_max);
    if (limit.rlim_cur < allowed) {
      limit.rlim_cur = allowed;
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    return FileLimit();
  }

  uint64_t RingMemoryLimitKib() override {
    unsigned long long kib = 0;
    FILE* file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
    if (file == nullptr) return 0;
    if (fscanf(file, "%llu", &kib) != 1) kib = 0;
    fclose(file);
    return kib;
  }
};

}  // namespace

bool Kernel::IsCallFiltered() {
  constexpr unsigned long kUnknownFlag = 1UL << 31;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  const int error = ErrnoOf(OpenEvent(attr, 0, -1, -1, kUnknownFlag).status());
  return error == EPERM || error == EACCES;
}

Kernel& LinuxKernel() {
  static RealKernel kernel;
  return kernel;
}

}  // namespace profiler::ringbuf
