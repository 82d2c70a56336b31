// Tests the real kernel without privileges: its errors come through with their errno.

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "gtest/gtest.h"
#include "ringbuf/kernel.h"

namespace profiler::ringbuf {
namespace {

TEST(LinuxKernel, OpenErrorsKeepTheirErrno) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  // The group's descriptor does not exist: EBADF. A sandbox that forbids the call returns its own
  // errno.
  const auto opened = LinuxKernel().OpenEvent(attr, 0, -1, 1 << 20);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(ErrnoOf(opened.status()), 0);
}

TEST(LinuxKernel, AttrsBeyondAPageAreTooBig) {
  std::vector<char> bytes(8192);
  auto* attr = reinterpret_cast<perf_event_attr*>(bytes.data());
  attr->size = 8192;
  EXPECT_EQ(ErrnoOf(LinuxKernel().OpenEvent(*attr, 0, -1, -1).status()), E2BIG);
}

TEST(LinuxKernel, CallsOnABadDescriptorSayWhichAndWhy) {
  Kernel& kernel = LinuxKernel();
  EXPECT_EQ(kernel.EventId(-1).status().message(), "PERF_EVENT_IOC_ID: Bad file descriptor");
  EXPECT_EQ(kernel.SetOutput(-1, -1).message(), "PERF_EVENT_IOC_SET_OUTPUT: Bad file descriptor");
  EXPECT_EQ(kernel.Enable(-1).message(), "PERF_EVENT_IOC_ENABLE: Bad file descriptor");
  EXPECT_EQ(kernel.Disable(-1).message(), "PERF_EVENT_IOC_DISABLE: Bad file descriptor");
  const auto ring = kernel.MapRing(-1, 1);
  EXPECT_EQ(ring.status().message(), "mmap of a ring: Bad file descriptor");
  EXPECT_EQ(ErrnoOf(ring.status()), EBADF);
}

TEST(LinuxKernel, ClockGoesForward) {
  const uint64_t before = LinuxKernel().MonotonicNow();
  EXPECT_GE(LinuxKernel().MonotonicNow(), before);
  EXPECT_GT(before, 0u);
}

TEST(LinuxKernel, RaisesTheFileLimitUpToTheHardOne) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit low{64, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(LinuxKernel().FileLimit(), 64u);
  EXPECT_EQ(LinuxKernel().RaiseFileLimit(100), 100u);
  EXPECT_EQ(LinuxKernel().RaiseFileLimit(70), 100u);  // does not lower the limit
  EXPECT_EQ(LinuxKernel().RaiseFileLimit(old.rlim_max), old.rlim_max);
  setrlimit(RLIMIT_NOFILE, &old);
}

}  // namespace
}  // namespace profiler::ringbuf
