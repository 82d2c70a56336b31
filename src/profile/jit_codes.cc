#include "src/profile/jit_codes.h"

#include <algorithm>
#include <iterator>

namespace profiler::profile {

using symbolize::JitCode;

namespace {

using Placed = std::map<uint64_t, const JitCode*>;

// Returns the first piece of code whose end lies behind `start`.
Placed::iterator FirstBehind(Placed& placed, uint64_t start) {
  auto it = placed.lower_bound(start);
  if (it != placed.begin()) {
    const auto before = std::prev(it);
    if (start - before->first < before->second->size) it = before;
  }
  return it;
}

symbolize::Mapping MappingOf(const JitCode& code, symbolize::ImageId dump) {
  return {code.start, code.size, code.offset, dump};
}

}  // namespace

void JitCodes::Add(uint32_t pid, symbolize::ImageId image, std::span<const JitCode> codes) {
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
      spaces.Process(dump.pid).Map(MappingOf(code, dump.image));
      auto it = FirstBehind(dump.placed, code.start.value);
      while (it != dump.placed.end() &&
             (it->first < code.start.value || it->first - code.start.value < code.size)) {
        it = dump.placed.erase(it);
      }
      dump.placed.emplace(code.start.value, &code);
      dump.left = dump.left.subspan(1);
    }
  }
  FindNext();
}

void JitCodes::Cover(uint32_t pid, uint64_t start, uint64_t size,
                     symbolize::AddressSpaces& spaces) {
  for (Dump& dump : dumps_) {
    if (dump.pid != pid) continue;
    for (auto it = FirstBehind(dump.placed, start);
         it != dump.placed.end() && (it->first < start || it->first - start < size); ++it) {
      spaces.Process(pid).Map(MappingOf(*it->second, dump.image));
    }
  }
}

void JitCodes::FindNext() {
  next_ = kNever;
  for (const Dump& dump : dumps_) {
    if (!dump.left.empty()) next_ = std::min(next_, dump.left.front().time);
  }
}

}  // namespace profiler::profile
