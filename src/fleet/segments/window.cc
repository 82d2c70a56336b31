#include "src/fleet/segments/window.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace profiler::fleet {
namespace {

// Names in brackets that do not belong to the kernel.
constexpr std::array<std::string_view, 9> kUserImages = {"[vdso]",    "[vsyscall]", "[JIT]",
                                                         "[anon]",    "[heap]",     "[stack]",
                                                         "[unknown]", "[uprobes]",  "[off-cpu]"};

}  // namespace

std::vector<uint64_t> StackHashes(const Window& window) {
  std::vector<uint64_t> hashes;
  hashes.reserve(window.stacks.size());
  std::string text;
  for (const StackNode& node : window.stacks) {
    const Frame& frame = window.frames[node.frame];
    text.assign(window.strings[frame.function]);
    text += '\0';
    text += window.strings[frame.image];
    text += '\0';
    const uint64_t caller = node.caller == kNoCaller ? 0 : hashes[node.caller];
    hashes.push_back(XXH3_64bits_withSeed(text.data(), text.size(), caller));
  }
  return hashes;
}

uint64_t SamplesOf(const Window& window) {
  uint64_t samples = 0;
  for (const Row& row : window.rows) samples += row.samples;
  return samples;
}

bool IsKernelImage(std::string_view image) {
  if (image.starts_with("bpf_prog_")) return true;
  if (!image.starts_with('[')) return false;
  return std::find(kUserImages.begin(), kUserImages.end(), image) == kUserImages.end();
}

}  // namespace profiler::fleet
