#include "symbolize/dwarf/sections.h"

#include <string>
#include <string_view>
#include <utility>

#include "symbolize/section_contents.h"

namespace profiler::symbolize::dwarf {
namespace {

constexpr std::array<std::string_view, kSectionCount> kNames = {
    "info",   "abbrev",   "str",  "str_offsets", "line",    "line_str",
    "ranges", "rnglists", "addr", "aranges",     "cu_index"};

}  // namespace

Sections Sections::Load(const ElfImage& image, bool split) {
  Sections loaded;
  for (size_t i = 0; i < kSectionCount; ++i) {
    std::string name = ".debug_" + std::string(kNames[i]);
    // The index of a package has no suffix.
    if (split && SectionId(i) != SectionId::kCuIndex) name += ".dwo";
    SectionContents contents = ReadSectionContents(image, name, {.expansion = kMaxExpansion});
    loaded.sections_[i] = contents.bytes;
    if (!contents.owned.empty()) loaded.decompressed_.push_back(std::move(contents.owned));
  }
  return loaded;
}

bool HasDebugInfo(const ElfImage& image) {
  const auto has = [&image](std::string_view name) {
    const ElfSection* section = image.FindSection(name);
    return section != nullptr && !section->contents.empty();
  };
  return has(".debug_info") || has(".zdebug_info");
}

}  // namespace profiler::symbolize::dwarf
