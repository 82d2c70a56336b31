#include "src/profile/jit_codes.h"

#include <algorithm>

namespace profiler::profile {

using symbolize::ImageId;
using symbolize::JitCode;

bool IsJitDump(std::string_view filename) {
  filename.remove_prefix(filename.rfind('/') + 1);
  constexpr std::string_view kPrefix = "jit-", kSuffix = ".dump";
  if (!filename.starts_with(kPrefix) || !filename.ends_with(kSuffix)) return false;
  filename.remove_prefix(kPrefix.size());
  filename.remove_suffix(std::min(kSuffix.size(), filename.size()));
  return !filename.empty() && filename.find_first_not_of("0123456789") == std::string_view::npos;
}

void JitCodes::Add(uint32_t pid, ImageId image, std::span<const JitCode> codes) {
  const bool known = std::any_of(dumps_.begin(), dumps_.end(), [&](const Dump& dump) {
    return dump.pid == pid && dump.image == image;
  });
  if (known) return;
  dumps_.push_back({pid, image, codes});
  FindNext();
}

void JitCodes::Forget(uint32_t pid) {
  std::erase_if(dumps_, [pid](const Dump& dump) { return dump.pid == pid; });
  FindNext();
}

void JitCodes::PlaceUntil(uint64_t time, symbolize::AddressSpaces& spaces) {
  for (Dump& dump : dumps_) {
    while (!dump.left.empty() && dump.left.front().time <= time) {
      const JitCode& code = dump.left.front();
      spaces.Process(dump.pid).Map({code.start, code.size, code.offset, dump.image});
      dump.left = dump.left.subspan(1);
    }
  }
  FindNext();
}

void JitCodes::FindNext() {
  next_ = kNever;
  for (const Dump& dump : dumps_) {
    if (!dump.left.empty()) next_ = std::min(next_, dump.left.front().time);
  }
}

}  // namespace profiler::profile
