#include "src/machine/events/modifiers.h"

#include <algorithm>
#include <cstdint>

namespace profiler::events {
namespace {

using perf_event::Attr;

struct Mode {
  char letter;
  perf_event::AttrFlag excludes;
};

constexpr Mode kLevels[] = {{'u', perf_event::kAttrExcludeUser},
                            {'k', perf_event::kAttrExcludeKernel},
                            {'h', perf_event::kAttrExcludeHv}};
constexpr Mode kMachines[] = {{'H', perf_event::kAttrExcludeHost},
                              {'G', perf_event::kAttrExcludeGuest}};

// If at least one of the modes is named, excludes all modes that are not named.
template <size_t kCount>
void Choose(const Mode (&modes)[kCount], const Modifiers& modifiers, Attr* attr) {
  uint64_t all = 0, named = 0;
  for (const Mode& mode : modes) {
    all |= mode.excludes;
    if (modifiers.has(mode.letter)) named |= mode.excludes;
  }
  if (named == 0) return;
  if ((attr->flags & all) == 0) attr->flags |= all;
  attr->flags &= ~named;
}

}  // namespace

absl::Status ApplyModifiers(const Modifiers& modifiers, bool is_leader, std::string_view text,
                            Attr* attr) {
  Choose(kLevels, modifiers, attr);
  Choose(kMachines, modifiers, attr);
  if (modifiers.has('I')) attr->flags |= perf_event::kAttrExcludeIdle;
  if (modifiers.has('D') && is_leader) attr->flags |= perf_event::kAttrPinned;
  if (modifiers.has('e') && is_leader) attr->flags |= perf_event::kAttrExclusive;
  uint64_t precise =
      (attr->flags & perf_event::kAttrPreciseIpMask) >> perf_event::kAttrPreciseIpShift;
  precise +=
      static_cast<uint64_t>(std::count(modifiers.letters.begin(), modifiers.letters.end(), 'p'));
  if (precise > 3) return ErrorAt(text, modifiers.position, "at most three 'p' are allowed");
  if (modifiers.has('P')) precise = 3;
  attr->flags &= ~perf_event::kAttrPreciseIpMask;
  attr->flags |= precise << perf_event::kAttrPreciseIpShift;
  return absl::OkStatus();
}

}  // namespace profiler::events
