#include "src/analysis/function_name.h"

#include "absl/strings/str_cat.h"

namespace profiler::analysis {

std::string FunctionName(const profile::Profile& profile, profile::FrameId id, bool with_offset) {
  if (id == profile::kNoFrame) return "";
  const profile::Frame& frame = profile[id];
  const auto lines = profile.LinesOf(frame);
  if (lines.empty() || lines.back().symbol == profile::kNoSymbol) return "";
  std::string name(profile.text(profile[lines.back().symbol].name));
  if (with_offset) absl::StrAppend(&name, "+0x", absl::Hex(frame.symbol_offset));
  return name;
}

}  // namespace profiler::analysis
