#include "src/profile/frame_namer.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace profiler::profile {
namespace {

Unnamed UnnamedBecause(symbolize::Reason reason) {
  switch (reason) {
    case symbolize::Reason::kNamed:
      return Unnamed::kNamed;
    case symbolize::Reason::kNoImageFile:
      return Unnamed::kNoImageFile;
    case symbolize::Reason::kBuildIdMismatch:
      return Unnamed::kBuildIdMismatch;
    case symbolize::Reason::kNotElf:
      return Unnamed::kNotElf;
    case symbolize::Reason::kNoSymbol:
      return Unnamed::kNoSymbol;
    case symbolize::Reason::kRestricted:
      return Unnamed::kRestricted;
  }
  return Unnamed::kNoSymbol;
}

}  // namespace

void FrameNamer::NameFrames() {
  std::vector<uint32_t> order(profile_.frames.size() - named_);
  std::iota(order.begin(), order.end(), static_cast<uint32_t>(named_));
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    const Frame &left = profile_.frames[a], &right = profile_.frames[b];
    if (left.dso != right.dso) return left.dso < right.dso;
    if (left.offset != right.offset) return left.offset < right.offset;
    return a < b;
  });
  for (uint32_t frame : order) Name(profile_.frames[frame]);
  named_ = profile_.frames.size();
}

void FrameNamer::Name(Frame& frame) {
  frame.first_line = static_cast<uint32_t>(profile_.lines.size());
  if (frame.dso == images_.unknown_dso()) return;
  FileOffset offset = frame.offset;
  if (frame.return_address && offset.value != 0) --offset.value;
  const symbolize::Naming naming = symbolizer_.Name(images_.ImageOf(frame.dso), offset);
  frame.unnamed = UnnamedBecause(naming.reason);
  frame.line_count = static_cast<uint32_t>(naming.functions.size());
  frame.symbol_offset = naming.distance + (frame.offset.value - offset.value);
  for (const symbolize::NamedFunction& function : naming.functions) {
    profile_.lines.push_back({.symbol = InternSymbol(function, frame.dso),
                              .inlined = function.inlined,
                              .file = profile_.strings.Intern(function.file),
                              .line = function.line});
  }
}

SymbolId FrameNamer::InternSymbol(const symbolize::NamedFunction& function, DsoId dso) {
  const Symbol symbol{.name = profile_.strings.Intern(function.name),
                      .dso = dso,
                      .start = function.start,
                      .size = function.size};
  return SymbolId(symbols_.FindOrInsert(
      Mix(symbol.start.value,
          static_cast<uint64_t>(symbol.name) << 32 | static_cast<uint64_t>(symbol.dso)),
      [&](uint32_t id) {
        const Symbol& known = profile_.symbols[id];
        return known.start == symbol.start && known.name == symbol.name && known.dso == symbol.dso;
      },
      [&] {
        profile_.symbols.push_back(symbol);
        return static_cast<uint32_t>(profile_.symbols.size() - 1);
      }));
}

}  // namespace profiler::profile
