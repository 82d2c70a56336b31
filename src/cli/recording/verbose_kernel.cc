#include "src/cli/recording/verbose_kernel.h"

#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/describe.h"

namespace profiler::cli {
namespace {

std::string AttrBlock(const perf_event_attr& attr) {
  const std::string line = std::string(60, '-') + "\n";
  const auto decoded =
      perf_event::ReadAttr({reinterpret_cast<const std::byte*>(&attr), attr.size}, false);
  if (!decoded.ok()) return line;
  std::string block = line + "perf_event_attr:\n";
  for (const auto& [name, value] : perf_event::DescribeAttr(decoded->attr)) {
    absl::StrAppend(&block, absl::StrFormat("  %-32s %s\n", name, value));
  }
  return block + line;
}

}  // namespace

absl::StatusOr<UniqueFd> VerboseKernel::OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                                  int group_fd, unsigned long flags) {
  std::string block = AttrBlock(attr);
  if (block != last_attr_) print_(block);
  last_attr_ = std::move(block);
  auto fd = kernel_.OpenEvent(attr, pid, cpu, group_fd, flags);
  std::string call = absl::StrFormat("sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#x",
                                     pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
  if (fd.ok()) {
    absl::StrAppend(&call, " = ", fd->get(), "\n");
  } else {
    absl::StrAppend(&call, "\nsys_perf_event_open failed, error ", -ErrnoOf(fd.status()), "\n");
  }
  print_(call);
  return fd;
}

}  // namespace profiler::cli
