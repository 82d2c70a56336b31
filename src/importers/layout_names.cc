#include "src/importers/layout_names.h"

#include <span>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/names/facts_builder.h"

namespace profiler::importers {
namespace {

using profile::Frame;
using profile::Line;
using profile::Profile;
using profile::Unnamed;
using symbolize::AddressFacts;
using symbolize::Reason;

Reason ReasonOf(Unnamed unnamed) {
  switch (unnamed) {
    case Unnamed::kNamed:
      return Reason::kNamed;
    case Unnamed::kNoImageFile:
      return Reason::kNoImageFile;
    case Unnamed::kBuildIdMismatch:
      return Reason::kBuildIdMismatch;
    case Unnamed::kNotElf:
      return Reason::kNotElf;
    case Unnamed::kRestricted:
      return Reason::kRestricted;
    case Unnamed::kNoMapping:
    case Unnamed::kNoSymbol:
      return Reason::kNoSymbol;
  }
  return Reason::kNoSymbol;
}

AddressFacts::Line PositionOf(const Profile& profile, const Line& line) {
  return {profile.text(line.file), line.line};
}

AddressFacts FactsOf(const Profile& profile, const Frame& frame,
                     std::vector<AddressFacts::Inlined>& inlined) {
  AddressFacts facts;
  facts.reason = ReasonOf(frame.unnamed);
  std::span<const Line> lines = profile.LinesOf(frame);
  if (lines.empty() || lines.back().symbol == profile::kNoSymbol) {
    if (facts.reason == Reason::kNamed) facts.reason = Reason::kNoSymbol;
    return facts;
  }
  const profile::Symbol& symbol = profile[lines.back().symbol];
  const bool has_name = frame.unnamed == Unnamed::kNamed;
  // A symbol that only stands for the start of code without a name is stored without a name:
  // readers make a name from that start.
  facts.function = {.name = has_name ? profile.text(symbol.name) : std::string_view(),
                    .start = symbol.start,
                    .size = symbol.size};
  const uint64_t back = frame.return_address && frame.symbol_offset != 0 ? 1 : 0;
  facts.address = ElfAddress{symbol.start.value + frame.symbol_offset - back};
  facts.at = PositionOf(profile, lines.back());
  inlined.clear();
  for (const Line& line : lines.first(lines.size() - 1)) {
    if (line.symbol == profile::kNoSymbol) continue;
    inlined.push_back({profile.text(profile[line.symbol].name), PositionOf(profile, line)});
  }
  facts.inlined = inlined;
  return facts;
}

}  // namespace

symbolize::NameFacts NamesOf(const Profile& profile, const CodeLayout& layout) {
  symbolize::NameFactsBuilder names;
  for (uint32_t i = 0; i < layout.images.size(); ++i) {
    names.AddImage(symbolize::ImageId{i}, layout.images[i].spec);
  }
  std::vector<AddressFacts::Inlined> inlined;
  for (size_t i = 0; i < layout.frames.size(); ++i) {
    const PlacedCode& placed = layout.frames[i];
    if (placed.image == PlacedCode::kNone) continue;
    names.AddAddress(symbolize::ImageId{placed.image}, placed.place,
                     FactsOf(profile, profile.frames[i], inlined));
  }
  return names.Take(/*has_lines=*/true, /*is_complete=*/true);
}

}  // namespace profiler::importers
