#include "src/profile/jit_codes.h"

#include <algorithm>

namespace profiler::profile {

using symbolize::ImageId;
using symbolize::JitCode;

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
