#include "src/annotate/generated_code.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::annotate {

using profile::Frame;
using profile::Profile;
using profile::SymbolId;

GeneratedCode::GeneratedCode(const Profile& profile, profile::DsoId dso) : profile_(profile) {
  for (const Frame& frame : profile.frames) {
    const auto lines = profile.LinesOf(frame);
    if (frame.dso != dso || lines.empty() || lines.back().symbol == profile::kNoSymbol) continue;
    const SymbolId function = lines.back().symbol;
    places_.push_back({frame.ip.value - frame.symbol_offset, function});
    longest_ = std::max(longest_, profile[function].size);
  }
  std::ranges::sort(places_);
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

std::optional<uint64_t> GeneratedCode::StartOf(SymbolId function) const {
  const auto found = std::ranges::find(places_, function, &Place::function);
  if (found == places_.end()) return std::nullopt;
  return found->start;
}

std::string GeneratedCode::NameAt(uint64_t address) const {
  const Place* only = nullptr;
  const auto after = std::ranges::upper_bound(places_, address, {}, &Place::start);
  for (auto at = after; at != places_.begin();) {
    const Place& place = *--at;
    const uint64_t distance = address - place.start;
    if (distance >= longest_) break;
    if (distance >= profile_[place.function].size) continue;
    if (only != nullptr) return {};
    only = &place;
  }
  if (only == nullptr) return {};
  std::string name(profile_.text(profile_[only->function].name));
  if (address != only->start) absl::StrAppend(&name, "+0x", absl::Hex(address - only->start));
  return name;
}

}  // namespace profiler::annotate
