#include "src/views/annotate/generated_code.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::annotate {

using profile::Frame;
using profile::Profile;
using profile::SymbolId;

GeneratedCode::GeneratedCode(const Profile& profile, profile::ImageId image) : profile_(profile) {
  for (const Frame& frame : profile.frames) {
    const auto lines = profile.LinesOf(frame);
    if (frame.image != image || lines.empty() || lines.back().symbol == profile::kNoSymbol)
      continue;
    const SymbolId function = lines.back().symbol;
    loaded_.push_back({frame.ip.value - frame.symbol_offset, function});
    longest_ = std::max(longest_, profile[function].size);
  }
  std::ranges::sort(loaded_);
  loaded_.erase(std::unique(loaded_.begin(), loaded_.end()), loaded_.end());
}

std::optional<uint64_t> GeneratedCode::StartOf(SymbolId function) const {
  const auto found = std::ranges::find(loaded_, function, &Loaded::function);
  if (found == loaded_.end()) return std::nullopt;
  return found->start;
}

std::string GeneratedCode::NameAt(uint64_t address) const {
  const Loaded* only = nullptr;
  const auto after = std::ranges::upper_bound(loaded_, address, {}, &Loaded::start);
  for (auto at = after; at != loaded_.begin();) {
    const Loaded& code = *--at;
    const uint64_t distance = address - code.start;
    if (distance >= longest_) break;
    if (distance >= profile_[code.function].size) continue;
    if (only != nullptr) return {};
    only = &code;
  }
  if (only == nullptr) return {};
  std::string name(profile_.text(profile_[only->function].name));
  if (address != only->start) absl::StrAppend(&name, "+0x", absl::Hex(address - only->start));
  return name;
}

}  // namespace profiler::annotate
