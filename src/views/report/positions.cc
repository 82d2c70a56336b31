#include "src/views/report/positions.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::report {

PositionKeys PositionKeysOf(const ReportOptions& options) {
  PositionKeys keys{.full_paths = options.full_source_paths};
  for (const SortKey key : options.sort) {
    if (PositionKeys::Are(key)) keys.wanted[PositionKeys::IndexOf(key)] = true;
  }
  return keys;
}

std::string_view PositionTable::FileName(const profile::Line& line) const {
  const std::string_view path = profile_.text(line.file);
  return keys_.full_paths ? path : BaseName(path);
}

// Returns perf's text for code without a known line.
std::string PositionTable::WithoutLine(const profile::Frame& frame,
                                       const profile::Line* line) const {
  const bool named = frame.unnamed == profile::Unnamed::kNamed && line != nullptr &&
                     line->symbol != profile::kNoSymbol;
  const profile::Image& image = profile_[frame.image];
  if (named) {
    return absl::StrCat(View(profile_.text(profile_[line->symbol].name)), "+", frame.symbol_offset);
  }
  if (image.kind == symbolize::ImageKind::kUnknown) return "??:0";
  return absl::StrCat(View(profile_.text(image.name)), "[", absl::Hex(profile_.AddressOf(frame)),
                      "]");
}

std::string PositionTable::TextAt(const profile::Frame& frame, const profile::Line* line,
                                  SortKey key) const {
  if (key == SortKey::kSymoff) {
    const bool named = line != nullptr && line->symbol != profile::kNoSymbol;
    if (!named) return absl::StrCat("0x", absl::Hex(frame.place.value));
    return absl::StrCat(View(profile_.text(profile_[line->symbol].name)), "+0x",
                        absl::Hex(frame.symbol_offset));
  }
  const bool known = line != nullptr && line->file != StringId::kEmpty;
  if (key == SortKey::kSrcfile) return std::string(known ? FileName(*line) : "??");
  return known ? absl::StrCat(View(FileName(*line)), ":", line->line) : WithoutLine(frame, line);
}

PositionId PositionTable::Add(const profile::Frame& frame, const profile::Line* line) {
  Position position{};
  for (const SortKey key : {SortKey::kSrcline, SortKey::kSrcfile, SortKey::kSymoff}) {
    if (Has(key)) position[PositionKeys::IndexOf(key)] = texts_.Intern(TextAt(frame, line, key));
  }
  const auto [it, is_new] = ids_.try_emplace(position, static_cast<PositionId>(positions_.size()));
  if (is_new) positions_.push_back(position);
  return it->second;
}

void PositionTable::RankTexts() {
  std::vector<uint32_t> order(texts_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return texts_[StringId{a}] < texts_[StringId{b}]; });
  ranks_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) ranks_[order[i]] = i;
}

}  // namespace profiler::report
