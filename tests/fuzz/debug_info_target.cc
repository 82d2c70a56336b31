// Fuzzes debug information and the files that it names. Each input is an image, and is also used as
// the image's own split file, package and alternate file.

#include <cstring>
#include <string>
#include <string_view>

#include "src/base/byte_reader.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/dwarf/testing/small_dwarf.h"
#include "symbolize/elf/elf_image.h"
#include "tests/fuzz/compiled_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

using symbolize::dwarf::DwarfBytes;
using symbolize::dwarf::SectionBytes;

// Looks up addresses in the code of the small seeds, and 64 addresses in each segment.
void LookUp(symbolize::dwarf::DebugInfo& info, const symbolize::ElfImage& image) {
  for (uint64_t address = 0x1000; address < 0x1100; address += 8) (void)info.Find({address});
  for (const symbolize::ElfSegment& segment : image.segments()) {
    for (uint64_t i = 0; i < 64; ++i) {
      (void)info.Find({segment.address.value + segment.memory_size / 64 * i});
    }
  }
}

// A file with an index section is read as a package, and then has no units of its own. So inputs
// call the section kInputIndex, and ToPackage renames it.
constexpr std::string_view kPackageIndex = ".debug_cu_index", kInputIndex = ".input_cu_index";

Bytes ToPackage(std::span<const std::byte> input) {
  Bytes package(input.begin(), input.end());
  const size_t at = TextOf(input).find(kInputIndex);
  if (at != std::string_view::npos) {
    std::memcpy(package.data() + at, kPackageIndex.data(), kPackageIndex.size());
  }
  return package;
}

// Writes a copy of the input for each other file that the image refers to.
void WriteOtherFiles(const symbolize::ElfImage& image, std::span<const std::byte> input,
                     const ScratchDirectory& directory) {
  const auto write = [&](const char* name, std::string_view section, const auto& content) {
    directory.Remove(name);  // removes the previous input's file
    if (image.FindSection(section) != nullptr) directory.Write(name, content(input));
  };
  const auto unchanged = [](std::span<const std::byte> bytes) { return bytes; };
  write("program.dwo", ".debug_info.dwo", unchanged);
  write("image.dwp", kInputIndex, ToPackage);
  write("image.alt", ".gnu_debugaltlink", unchanged);
}

void ReadDebugInfo(std::span<const std::byte> input) {
  static const ScratchDirectory directory;
  const auto image = symbolize::ElfImage::Parse(input);
  if (!image.ok()) return;
  WriteOtherFiles(*image, input, directory);
  symbolize::dwarf::DebugInfoFiles files;
  files.image = files.debug = &*image;
  files.image_path = files.debug_path = directory.PathOf("image");
  files.follow_names = true;
  files.debug_directories = {directory.path()};
  (void)MissingAlternate(files);
  if (const auto info = symbolize::dwarf::DebugInfo::Open(files)) LookUp(*info, *image);
}

// Returns a package with one DWARF 5 unit, whose skeleton is in the same file.
Bytes SmallPackage() {
  constexpr uint64_t kId = 0x1122334455667788;
  constexpr uint8_t kSkeleton = 4, kSplit = 5;
  DwarfBytes skeleton_entry, abbreviations, skeleton, unit, index;
  // Attributes: the split file's name and directory, the base in .debug_addr, the code's range.
  skeleton_entry.List(
      {1, 0x4a, 0, 0x76, 0x08, 0x1b, 0x08, 0x73, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, 0});
  skeleton.U32(0).U16(5).U8(kSkeleton).U8(8).U32(0).U64(kId);
  skeleton.U8(1).String("program.dwo").String(".").U32(8).U64(0x1000).U32(0x800);
  // A function whose address is an index, and a function whose range list is an index.
  abbreviations.List({1, 0x11, 1, 0x03, 0x08, 0, 0});
  abbreviations.List({2, 0x2e, 0, 0x03, 0x25, 0x11, 0x1b, 0x12, 0x06, 0, 0});
  abbreviations.List({3, 0x2e, 0, 0x03, 0x25, 0x55, 0x23, 0, 0, 0});
  unit.U32(0).U16(5).U8(kSplit).U8(8).U32(0).U64(kId);
  unit.U8(1).String("a.cc");
  unit.U8(2).U8(0).U8(0).U32(0x20);
  unit.U8(3).U8(1).U8(0).U8(0);
  DwarfBytes addresses, strings, offsets, ranges;
  addresses.U32(0).U16(5).U8(8).U8(0).U64(0x1010).U64(0x1040);
  strings.String("first").String("second");
  offsets.U32(0).U16(5).U16(0).U32(0).U32(6);
  // One range list: 16 bytes at the second address, then 16 bytes at an offset from that address.
  ranges.U32(0).U16(5).U8(8).U8(0).U32(1).U32(4);
  ranges.U8(3).U8(1).U8(0x10).U8(1).U8(1).U8(4).U8(0x20).U8(0x30).U8(0);
  const std::vector<std::byte> unit_bytes = unit.WithLength();
  const auto size = static_cast<uint32_t>(unit_bytes.size());
  // A hash table of two slots, of which the first is empty. Then one row with four sections.
  index.U16(5).U16(0).U32(4).U32(1).U32(2).U64(0).U64(kId).U32(0).U32(1);
  index.U32(1).U32(3).U32(6).U32(8);
  index.U32(0).U32(0).U32(0).U32(0);
  index.U32(size).U32(abbreviations.size() + 1).U32(offsets.size()).U32(ranges.size());
  const SectionBytes sections = {{".debug_abbrev", skeleton_entry.bytes()},
                                 {".debug_info", skeleton.WithLength()},
                                 {".debug_addr", addresses.WithLength()},
                                 {".debug_abbrev.dwo", abbreviations.U8(0).bytes()},
                                 {".debug_info.dwo", unit_bytes},
                                 {".debug_str.dwo", strings.bytes()},
                                 {".debug_str_offsets.dwo", offsets.WithLength()},
                                 {".debug_rnglists.dwo", ranges.WithLength()},
                                 {std::string(kInputIndex), index.bytes()}};
  return symbolize::dwarf::ElfWith(sections);
}

// Returns a unit whose names and origins are in its alternate file, which is the same file.
Bytes SmallAlternate() {
  constexpr uint8_t kId[] = {0x11, 0x22, 0x33, 0x44};
  DwarfBytes abbreviations, note, link;
  abbreviations.List({1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0});
  abbreviations.List({2, 0x2e, 0, 0x03, 0x1f21, 0x11, 0x01, 0x12, 0x06, 0, 0});
  abbreviations.List({3, 0x2e, 0, 0x31, 0x1f20, 0x11, 0x01, 0x12, 0x06, 0, 0});
  abbreviations.List({4, 0x2e, 0, 0x03, 0x08, 0, 0});
  DwarfBytes unit;
  unit.U32(0).U16(4).U32(0).U8(8);
  unit.U8(1).U64(0x1000).U32(0x800);
  const uint32_t origin = unit.size();
  unit.U8(4).String("origin");
  unit.U8(2).U32(1).U64(0x1010).U32(0x20);
  unit.U8(3).U32(origin).U64(0x1040).U32(0x20).U8(0);
  DwarfBytes strings;
  strings.String("").String("shared");
  note.U32(4).U32(sizeof(kId)).U32(NT_GNU_BUILD_ID).String("GNU");
  link.String("image.alt");
  for (const uint8_t byte : kId) {
    note.U8(byte);
    link.U8(byte);
  }
  return symbolize::dwarf::ElfWith({{".debug_abbrev", abbreviations.U8(0).bytes()},
                                    {".debug_info", unit.WithLength()},
                                    {".debug_str", strings.bytes()},
                                    {".note.gnu.build-id", note.bytes()},
                                    {".gnu_debugaltlink", link.bytes()}});
}

std::vector<Bytes> DebugInfoSeeds() {
  std::vector<Bytes> seeds = CompiledPrograms();
  seeds.push_back(symbolize::dwarf::ElfWith(symbolize::dwarf::SmallDwarf()));
  seeds.push_back(SmallPackage());
  seeds.push_back(SmallAlternate());
  return seeds;
}

}  // namespace

FuzzTarget DebugInfoTarget() {
  return {"debug_info", "DWARF debug information", ReadDebugInfo, DebugInfoSeeds};
}

}  // namespace profiler::fuzz
