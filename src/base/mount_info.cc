#include "src/base/mount_info.h"

#include <algorithm>

namespace profiler {
namespace {

// Removes the text before the next `end` and the `end` itself from `rest`, and returns the text.
std::string_view TakeUntil(char end, std::string_view& rest) {
  const size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

}  // namespace

void ForEachMount(std::string_view mountinfo, absl::FunctionRef<bool(const Mount&)> visit) {
  constexpr std::string_view kDash = " - ";  // follows a number of optional fields
  while (!mountinfo.empty()) {
    std::string_view line = TakeUntil('\n', mountinfo);
    Mount mount;
    mount.id = TakeUntil(' ', line);
    for (int i = 0; i < 3; ++i) TakeUntil(' ', line);  // skips the parent, the device and the root
    mount.point = TakeUntil(' ', line);
    const size_t dash = line.find(kDash);
    if (dash == line.npos) continue;
    line.remove_prefix(dash + kDash.size());
    mount.type = TakeUntil(' ', line);
    TakeUntil(' ', line);  // skips the source
    mount.options = TakeUntil(' ', line);
    if (!visit(mount)) return;
  }
}

}  // namespace profiler
