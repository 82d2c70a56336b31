#include "src/record/frame_pointers.h"

namespace profiler::record {
namespace {

using symbolize::UnwindRule;

constexpr uint64_t kSampledAddresses = 256;

}  // namespace

std::optional<bool> KeepsFramePointers(const symbolize::ElfImage& image) {
  const symbolize::ElfSection* text = image.FindSection(".text");
  if (text == nullptr || text->size == 0) return std::nullopt;
  const auto table = symbolize::CfiTable::Create(image);
  if (!table.ok()) return std::nullopt;
  return KeepsFramePointers(**table, *text);
}

std::optional<bool> KeepsFramePointers(symbolize::CfiTable& table,
                                       const symbolize::ElfSection& text) {
  uint64_t with = 0;
  uint64_t without = 0;
  const auto leaf = static_cast<int32_t>(2 * symbolize::WordSize(table.architecture()));
  const bool describes_by_sp = table.architecture()->describes_by_stack_pointer;
  for (uint64_t i = 0; i < kSampledAddresses; ++i) {
    const uint64_t distance = text.size / kSampledAddresses * i;
    const UnwindRule rule = table.Find(ElfAddress{text.address.value + distance});
    if (rule.kind == UnwindRule::kFromFramePointer || rule.kind == UnwindRule::kRealigned) {
      ++with;
    } else if (rule.kind == UnwindRule::kFromStackPointer) {
      // Some frames are found by the stack pointer even if there is a frame pointer.
      if (describes_by_sp && rule.frame_slot != 0) ++with;
      // A leaf without a frame, and a prologue, prove nothing.
      if (rule.cfa_offset > leaf && !(describes_by_sp && rule.frame_slot != 0)) ++without;
    }
  }
  if (with + without == 0) return std::nullopt;
  return with > without;
}

}  // namespace profiler::record
