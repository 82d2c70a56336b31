#include "src/report/positions.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::report {
PositionKeys PositionKeysOf(const ReportOptions& options) {
  PositionKeys keys{.full_paths = options.full_source_paths};
  for (const SortKey key : options.sort) {
    keys.srcline |= key == SortKey::kSrcline;
    keys.srcfile |= key == SortKey::kSrcfile;
    keys.symoff |= key == SortKey::kSymoff;
  }
  return keys;
}

std::string_view PositionTable::FileName(const profile::Line& line) const {
  const std::string_view path = profile_.text(line.file);
  return keys_.full_paths ? path : BaseName(path);
}

// As perf shows code of which no line is known.
std::string PositionTable::WithoutLine(const profile::Frame& frame,
                                       const profile::Line* line) const {
  const bool named = frame.unnamed == profile::Unnamed::kNamed && line != nullptr &&
                     line->symbol != profile::kNoSymbol;
  const profile::Dso& dso = profile_[frame.dso];
  if (named) {
    return absl::StrCat(View(profile_.text(profile_[line->symbol].name)), "+", frame.symbol_offset);
  }
  if (dso.kind == profile::DsoKind::kUnknown) return "??:0";
  return absl::StrCat(View(profile_.text(dso.name)), "[", absl::Hex(profile_.AddressOf(frame)),
                      "]");
}

PositionId PositionTable::Add(const profile::Frame& frame, const profile::Line* line) {
  Position position;
  const bool known = line != nullptr && line->file != StringId::kEmpty;
  if (keys_.srcfile) position.srcfile = texts_.Intern(known ? FileName(*line) : "??");
  if (keys_.srcline) {
    position.srcline = texts_.Intern(known ? absl::StrCat(View(FileName(*line)), ":", line->line)
                                           : WithoutLine(frame, line));
  }
  if (keys_.symoff) {
    const bool named = line != nullptr && line->symbol != profile::kNoSymbol;
    position.symoff =
        texts_.Intern(named ? absl::StrCat(View(profile_.text(profile_[line->symbol].name)), "+0x",
                                           absl::Hex(frame.symbol_offset))
                            : absl::StrCat("0x", absl::Hex(frame.offset.value)));
  }
  const auto [it, is_new] = ids_.try_emplace({position.srcline, position.srcfile, position.symoff},
                                             static_cast<PositionId>(positions_.size()));
  if (is_new) positions_.push_back(position);
  return it->second;
}

StringId PositionTable::IdOf(const Position& position, SortKey key) const {
  if (key == SortKey::kSrcline) return position.srcline;
  if (key == SortKey::kSrcfile) return position.srcfile;
  return position.symoff;
}

std::string_view PositionTable::Text(PositionId position, SortKey key) const {
  return texts_[IdOf(positions_[position], key)];
}

uint32_t PositionTable::TextId(PositionId position, SortKey key) const {
  return static_cast<uint32_t>(IdOf(positions_[position], key));
}

uint32_t PositionTable::Rank(PositionId position, SortKey key) const {
  return ranks_[TextId(position, key)];
}

bool PositionTable::Has(SortKey key) const {
  if (key == SortKey::kSrcline) return keys_.srcline;
  if (key == SortKey::kSrcfile) return keys_.srcfile;
  return key == SortKey::kSymoff && keys_.symoff;
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
