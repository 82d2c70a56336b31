#include "src/report/places.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace profiler::report {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

PlaceKeys PlaceKeysOf(const ReportOptions& options) {
  PlaceKeys keys{.full_paths = options.full_source_paths};
  for (const SortKey key : options.sort) {
    keys.srcline |= key == SortKey::kSrcline;
    keys.srcfile |= key == SortKey::kSrcfile;
    keys.symoff |= key == SortKey::kSymoff;
  }
  return keys;
}

std::string_view PlaceTable::FileName(const profile::Line& line) const {
  const std::string_view path = profile_.text(line.file);
  return keys_.full_paths ? path : path.substr(path.rfind('/') + 1);
}

// As perf shows code of which no line is known.
std::string PlaceTable::WithoutLine(const profile::Frame& frame, const profile::Line* line) const {
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

PlaceId PlaceTable::Add(const profile::Frame& frame, const profile::Line* line) {
  Place place;
  const bool known = line != nullptr && line->file != StringId::kEmpty;
  if (keys_.srcfile) place.srcfile = texts_.Intern(known ? FileName(*line) : "??");
  if (keys_.srcline) {
    place.srcline = texts_.Intern(known ? absl::StrCat(View(FileName(*line)), ":", line->line)
                                        : WithoutLine(frame, line));
  }
  if (keys_.symoff) {
    const bool named = line != nullptr && line->symbol != profile::kNoSymbol;
    place.symoff =
        texts_.Intern(named ? absl::StrCat(View(profile_.text(profile_[line->symbol].name)), "+0x",
                                           absl::Hex(frame.symbol_offset))
                            : absl::StrCat("0x", absl::Hex(frame.offset.value)));
  }
  const auto [it, is_new] = ids_.try_emplace({place.srcline, place.srcfile, place.symoff},
                                             static_cast<PlaceId>(places_.size()));
  if (is_new) places_.push_back(place);
  return it->second;
}

StringId PlaceTable::IdOf(const Place& place, SortKey key) const {
  if (key == SortKey::kSrcline) return place.srcline;
  if (key == SortKey::kSrcfile) return place.srcfile;
  return place.symoff;
}

std::string_view PlaceTable::Text(PlaceId place, SortKey key) const {
  return texts_[IdOf(places_[place], key)];
}

uint32_t PlaceTable::TextId(PlaceId place, SortKey key) const {
  return static_cast<uint32_t>(IdOf(places_[place], key));
}

uint32_t PlaceTable::Rank(PlaceId place, SortKey key) const { return ranks_[TextId(place, key)]; }

bool PlaceTable::Has(SortKey key) const {
  if (key == SortKey::kSrcline) return keys_.srcline;
  if (key == SortKey::kSrcfile) return keys_.srcfile;
  return key == SortKey::kSymoff && keys_.symoff;
}

void PlaceTable::RankTexts() {
  std::vector<uint32_t> order(texts_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return texts_[StringId{a}] < texts_[StringId{b}]; });
  ranks_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) ranks_[order[i]] = i;
}

}  // namespace profiler::report
