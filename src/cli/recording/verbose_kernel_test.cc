#include "src/cli/recording/verbose_kernel.h"

#include <cerrno>

#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::cli {
namespace {

TEST(VerboseKernelTest, EachAttrIsPrintedOnceAndEachCallWithWhatCameOfIt) {
  ringbuf::FakeKernel fake;
  std::string printed;
  VerboseKernel kernel(fake, [&](const std::string& lines) { printed += lines; });
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = PERF_ATTR_SIZE_VER5;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  const auto first = kernel.OpenEvent(attr, 7, 0, -1);
  const auto second = kernel.OpenEvent(attr, 7, 1, -1);
  ASSERT_TRUE(first.ok() && second.ok());
  const std::string rule = std::string(60, '-') + "\n";
  const std::string call = "sys_perf_event_open: pid 7  cpu ";
  EXPECT_EQ(printed,
            rule +
                "perf_event_attr:\n"
                "  type                             1 (PERF_TYPE_SOFTWARE)\n"
                "  size                             112\n"
                "  config                           0x9 (PERF_COUNT_SW_DUMMY)\n"
                "  disabled                         1\n" +
                rule + call + "0  group_fd -1  flags 0x8 = " + std::to_string(first->get()) + "\n" +
                call + "1  group_fd -1  flags 0x8 = " + std::to_string(second->get()) + "\n");
}

}  // namespace
}  // namespace profiler::cli
