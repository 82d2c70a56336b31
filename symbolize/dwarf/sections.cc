#include "symbolize/dwarf/sections.h"

#include <string>
#include <utility>

#include "symbolize/elf/section_contents.h"

namespace profiler::symbolize::dwarf {
namespace {

constexpr std::array<std::string_view, kSectionCount> kSuffixes = {
    "info",     "abbrev", "str",      "str_offsets", "line",
    "line_str", "ranges", "rnglists", "addr",        "cu_index"};

// Returns the string table up to its last NUL, because libdw 0.188 searches for the end of a string
// without checking the end of the section.
Bytes UpToLastNul(Bytes strings) {
  while (!strings.empty() && strings.back() != std::byte{0}) {
    strings = strings.first(strings.size() - 1);
  }
  return strings;
}

}  // namespace

std::string_view SectionSuffix(SectionId id) { return kSuffixes[static_cast<size_t>(id)]; }

Sections Sections::Load(const ElfImage& image, bool split) {
  Sections loaded;
  uint64_t left = MostDecompressed(image);
  for (size_t i = 0; i < kSectionCount; ++i) {
    const auto id = static_cast<SectionId>(i);
    std::string name = ".debug_" + std::string(SectionSuffix(id));
    // The index of a package has no ".dwo" suffix.
    if (split && id != SectionId::kCuIndex) name += ".dwo";
    SectionContents contents =
        ReadSectionContents(image, name, {.expansion = kMaxExpansion, .bytes = left});
    left -= contents.owned.size();
    const bool strings = id == SectionId::kStr || id == SectionId::kLineStr;
    loaded.views_[id] = strings ? UpToLastNul(contents.bytes) : contents.bytes;
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
