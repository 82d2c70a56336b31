#include "symbolize/dwarf/debug_info.h"

#include <zlib.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/dwarf/interval_map.h"
#include "symbolize/dwarf/testing/small_dwarf.h"

namespace profiler::symbolize::dwarf {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// An ELF file in memory and its debug information.
class OpenedDwarf {
 public:
  explicit OpenedDwarf(std::vector<std::byte> file, bool lines = true) : file_(std::move(file)) {
    auto image = ElfImage::Parse(file_);
    if (!image.ok()) return;
    image_ = *std::move(image);
    DebugInfoFiles files;
    files.image = files.debug = &image_;
    files.lines = lines;
    info_ = DebugInfo::Open(files);
  }
  explicit OpenedDwarf(const SectionBytes& sections) : OpenedDwarf(ElfWith(sections)) {}

  bool has_debug_info() const { return info_ != nullptr; }
  bool is_cut() const { return info_->is_cut(); }

  // Formats one frame per line: function, file:line:column.
  std::string At(uint64_t address) {
    std::string text;
    if (info_ == nullptr) return text;
    for (const SourceFrame& frame : info_->Find({address})) {
      absl::StrAppend(&text, View(frame.function), frame.inlined ? " inlined " : " ",
                      View(frame.file), ":", frame.line, ":", frame.column, "\n");
    }
    return text;
  }

 private:
  std::vector<std::byte> file_;
  ElfImage image_;
  std::unique_ptr<DebugInfo> info_;
};

// Looks up addresses throughout the code, in front of it and after it.
void LookEverywhere(OpenedDwarf& dwarf) {
  for (uint64_t address = 0xff0; address < 0x1820; address += 0x10) dwarf.At(address);
  dwarf.At(0);
  dwarf.At(UINT64_MAX);
}

std::string FlattenedAt(const IntervalMap& map, uint64_t end) {
  std::string text;
  for (uint64_t i = 0; i < end; ++i) {
    const uint32_t owner = map.Find(i);
    text += owner == kNoOwner ? '.' : static_cast<char>('a' + owner);
  }
  return text;
}

TEST(IntervalMapTest, TheInnermostRangeOwnsAnAddress) {
  IntervalMap map;
  map.Add(1, 10, 0);
  map.Add(3, 5, 1);
  map.Add(5, 6, 2);
  map.Add(4, 5, 3);
  map.Add(12, 13, 4);
  map.Build();
  EXPECT_EQ(FlattenedAt(map, 15), ".aabdcaaaa..e..");
}

TEST(IntervalMapTest, OfRangesThatOverlapTheLaterStartWinsAndOfEqualOnesTheLater) {
  IntervalMap map;
  map.Add(0, 4, 0);
  map.Add(2, 8, 1);
  map.Add(2, 8, 2);
  map.Add(6, 6, 3);
  map.Build();
  EXPECT_EQ(FlattenedAt(map, 10), "aacccccc..");
}

TEST(DebugInfoTest, TellsFunctionsInlinedCallsAndLines) {
  OpenedDwarf dwarf(SmallDwarf());
  EXPECT_EQ(dwarf.At(0x1010), "outer /src/a.cc:4:0\n");
  EXPECT_EQ(dwarf.At(0x101f), "outer /src/a.cc:4:0\n");
  EXPECT_EQ(dwarf.At(0x1020), "inner inlined /include/b.h:1:7\nouter /src/a.cc:5:9\n");
  EXPECT_EQ(dwarf.At(0x103f), "inner inlined /include/b.h:1:7\nouter /src/a.cc:5:9\n");
  EXPECT_EQ(dwarf.At(0x1040), "outer /src/a.cc:6:7\n");
  EXPECT_EQ(dwarf.At(0x1090), "");
  EXPECT_EQ(dwarf.At(0x3000), "");
}

TEST(DebugInfoTest, TellsFunctionsAloneWhereLinesAreNotWanted) {
  OpenedDwarf dwarf(ElfWith(SmallDwarf()), /*lines=*/false);
  EXPECT_EQ(dwarf.At(0x1010), "outer :0:0\n");
  EXPECT_EQ(dwarf.At(0x1020), "inner inlined :0:0\nouter :5:9\n");
}

// GCC describes lambdas in this way: the lambda's only entry is inside the entry of a local class.
TEST(DebugInfoTest, FindsCallsInlinedIntoAFunctionOfALocalClass) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  const uint32_t inner = unit.size();
  unit.U8(kAbstractEntry).String("inner");
  unit.U8(kFunctionEntry).String("outer").U64(0x1010).U32(0x80);
  unit.U8(kClassEntry);
  unit.U8(kFunctionEntry).String("lambda").U64(0x1100).U32(0x20);
  unit.U8(kInlinedEntry).U32(inner).U64(0x1108).U32(8).U8(1).U8(5).U8(9).U8(0);
  unit.U8(0).U8(0).U8(0).U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1010), "outer :0:0\n");
  EXPECT_EQ(dwarf.At(0x1100), "lambda :0:0\n");
  EXPECT_EQ(dwarf.At(0x1108), "inner inlined :0:0\nlambda :5:9\n");
}

// rustc describes the functions of an impl in this way.
TEST(DebugInfoTest, FindsFunctionsThatAreDefinedInATypeOfANamespace) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  unit.U8(kNamespaceEntry).U8(kClassEntry);
  unit.U8(kFunctionEntry).String("f").U64(0x1010).U32(0x10).U8(0).U8(0).U8(0).U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  EXPECT_EQ(OpenedDwarf(sections).At(0x1010), "f :0:0\n");
}

TEST(DebugInfoTest, FindsFunctionsInNamespaces) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  unit.U8(kNamespaceEntry);
  unit.U8(kFunctionEntry).String("f").U64(0x1010).U32(0x10).U8(0).U8(0);
  const uint32_t behind = unit.size() + 1 + 4 + (1 + 2 + 8 + 4 + 1) + (1 + 1 + 2 + 12 + 1 + 1) + 1;
  unit.U8(kSkippableNamespaceEntry).U32(behind);
  unit.U8(kFunctionEntry).String("g").U64(0x1020).U32(0x10).U8(0);
  unit.U8(kNamespaceEntry);
  unit.U8(kFunctionEntry).String("h").U64(0x1030).U32(0x10).U8(0).U8(0);
  unit.U8(0);
  ASSERT_EQ(unit.size(), behind);
  unit.U8(kFunctionEntry).String("i").U64(0x1040).U32(0x10).U8(0).U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1010) + dwarf.At(0x1020) + dwarf.At(0x1030) + dwarf.At(0x1040),
            "f :0:0\ng :0:0\nh :0:0\ni :0:0\n");
}

// Returns the header of a DWARF 4 line program, without lengths, with one file: a.cc.
DwarfBytes HeaderOfOneFile() {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(13);
  header.List({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  header.U8(0).String("a.cc").List({0, 0, 0}).U8(0);
  return header;
}

// libdw sorts the rows of dropped functions and the rows of kept functions together.
TEST(DebugInfoTest, RowsOfADroppedFunctionThatIsLongerThanTheAddressOfCodeAreOfNoCode) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  unit.U8(kFunctionEntry).String("f").U64(0x1000).U32(0x800).U8(0).U8(0);
  sections[".debug_info"] = unit.WithLength();
  const DwarfBytes header = HeaderOfOneFile();
  DwarfBytes lines;
  lines.U32(0).U16(4).U32(header.size());
  lines.AddBytes(header.bytes());
  lines.U8(0).U8(9).U8(2).U64(0).U8(3).U8(90).U8(1);  // line 27 at 0
  lines.U8(2).Uleb(0x1020).U8(1);                     // line 27 at 0x1020 too
  lines.U8(2).Uleb(0x20).U8(0).U8(1).U8(1);           // up to 0x1040
  lines.U8(0).U8(9).U8(2).U64(0x1000).U8(3).U8(4).U8(1);
  lines.U8(2).Uleb(0x100).U8(3).U8(1).U8(1);
  lines.U8(2).Uleb(0x700).U8(0).U8(1).U8(1);
  sections[".debug_line"] = lines.WithLength();
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1010), "f /src/a.cc:5:0\n");
  EXPECT_EQ(dwarf.At(0x1030), "f /src/a.cc:5:0\n");
  EXPECT_EQ(dwarf.At(0x1100), "f /src/a.cc:6:0\n");
}

// libdw 0.192 ignores the last 4 bytes of 64-bit line programs.
TEST(DebugInfoTest, ReadsLinesOf64BitDwarf) {
  SectionBytes sections = SmallDwarf();
  const DwarfBytes header = HeaderOfOneFile();
  DwarfBytes lines;
  lines.U16(4).U64(header.size());
  lines.AddBytes(header.bytes());
  lines.U8(0).U8(9).U8(2).U64(0x1010).U8(3).U8(3).U8(1).U8(2).Uleb(0x80).U8(0).U8(1).U8(1);
  DwarfBytes whole;
  whole.U32(0xffffffff).U64(lines.size());
  whole.AddBytes(lines.bytes());
  sections[".debug_line"] = whole.bytes();
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1010), "outer /src/a.cc:4:0\n");
}

TEST(DebugInfoTest, ThereIsNoneInAFileWithoutIt) {
  EXPECT_FALSE(OpenedDwarf(SectionBytes{{".text", {}}}).has_debug_info());
}

TEST(DebugInfoTest, ReadsCompressedSections) {
  SectionBytes sections = SmallDwarf();
  const std::vector<std::byte> plain = sections.extract(".debug_info").mapped();
  std::vector<std::byte> packed(compressBound(plain.size()));
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  const auto with_size = [&](uint64_t claimed) {
    DwarfBytes out;
    out.AddText("ZLIB").U64(__builtin_bswap64(claimed));
    for (size_t i = 0; i < size; ++i) out.U8(static_cast<uint8_t>(packed[i]));
    sections[".zdebug_info"] = out.bytes();
    return OpenedDwarf(sections).At(0x1010);
  };
  EXPECT_EQ(with_size(plain.size()), "outer /src/a.cc:4:0\n");
  // Larger claims are refused without allocating.
  EXPECT_EQ(with_size(uint64_t{1} << 40), "");
  EXPECT_EQ(with_size(plain.size() + 1), "");
}

TEST(DebugInfoTest, CodeThatTheLinkerDroppedIsNowhere) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  unit.U8(kFunctionEntry).String("kept").U64(0x1100).U32(0x10).U8(0);
  unit.U8(kFunctionEntry).String("dropped").U64(0).U32(0x1800).U8(0);
  unit.U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1100), "kept :0:0\n");
  EXPECT_EQ(dwarf.At(0x1200), "");
}

// If several units have the same function, the linker keeps one. The lines of the dropped functions
// remain, at address 0. Lines of long functions reach into the code of small programs.
TEST(DebugInfoTest, LinesOfCodeThatTheLinkerDroppedAreNowhere) {
  SectionBytes sections = SmallDwarf();
  const std::vector<std::byte> kept = sections[".debug_line"];
  DwarfBytes lines;
  for (const std::byte b : kept) lines.U8(static_cast<uint8_t>(b));
  lines.U8(0).U8(9).U8(2).U64(0);
  lines.U8(3).Uleb(99);  // line 100; the opcodes after this add a row every 24 bytes
  for (int i = 0; i < 256; ++i) lines.U8(2).U8(24).U8(3).U8(1).U8(1);
  lines.U8(0).U8(1).U8(1);
  sections[".debug_line"] = lines.WithLength();
  OpenedDwarf dwarf(sections), alone(SmallDwarf());
  for (uint64_t address = 0x1000; address < 0x1100; ++address) {
    ASSERT_EQ(dwarf.At(address), alone.At(address)) << address;
  }
}

TEST(HostileDebugInfoTest, EveryTruncationOfEverySection) {
  for (const auto& [name, bytes] : SmallDwarf()) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      SectionBytes sections = SmallDwarf();
      sections[name].resize(size);
      OpenedDwarf dwarf(sections);
      LookEverywhere(dwarf);
    }
  }
}

TEST(HostileDebugInfoTest, AnInstanceOfItselfHasNoName) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  const uint32_t first = unit.size();
  constexpr uint32_t kInstanceSize = 1 + 4 + 8 + 4;
  unit.U8(kInstanceEntry).U32(first + kInstanceSize).U64(0x1010).U32(0x10);
  unit.U8(kInstanceEntry).U32(first).U64(0x1020).U32(0x10);
  unit.U8(kInstanceEntry).U32(first + 2 * kInstanceSize).U64(0x1030).U32(0x10);
  unit.U8(kInstanceEntry).U32(0xffffffff).U64(0x1040).U32(0x10).U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  OpenedDwarf dwarf(sections);
  for (const uint64_t address : {0x1010, 0x1020, 0x1030, 0x1040}) {
    EXPECT_EQ(dwarf.At(address), " :0:0\n") << address;
  }
}

TEST(HostileDebugInfoTest, TreesOfAnyDepth) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  unit.U8(kFunctionEntry).String("f").U64(0x1010).U32(0x80);
  for (int i = 0; i < 200'000; ++i) {
    unit.U8(kInlinedEntry).U32(0).U64(0x1010).U32(0x80).U8(1).U8(1).U8(1);
  }
  sections[".debug_info"] = unit.WithLength();
  EXPECT_FALSE(OpenedDwarf(sections).At(0x1020).empty());
}

// 1000 functions share a list of 1 million ranges: 1 billion in total.
TEST(HostileDebugInfoTest, ListsThatManyShareAreReadUpToABound) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes unit = SmallUnit();
  for (int i = 0; i < 1000; ++i) unit.U8(kListedEntry).String("f").U32(0);
  unit.U8(0);
  sections[".debug_info"] = unit.WithLength();
  DwarfBytes list;
  for (int i = 0; i < 1'000'000; ++i) list.U64(0x10).U64(0x20);
  sections[".debug_ranges"] = list.U64(0).U64(0).bytes();
  EXPECT_EQ(OpenedDwarf(sections).At(0x1015), "f /src/a.cc:4:0\n");
}

// Builds `count` functions with 20000 attributes each, in front of the function to find. The
// attributes take no bytes.
OpenedDwarf WithEmptyAttributes(int count) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes abbreviations;
  abbreviations.AddBytes(SmallAbbreviations());
  std::vector<std::byte> bytes = abbreviations.bytes();
  bytes.pop_back();  // the end mark
  DwarfBytes extended;
  extended.AddBytes(bytes).List({20, 0x2e, 0});
  for (int i = 0; i < 20000; ++i) extended.List({0x34, 0x19});  // DW_AT_artificial, flag_present
  sections[".debug_abbrev"] = extended.List({0, 0, 0}).bytes();
  DwarfBytes unit = SmallUnit();
  for (int i = 0; i < count; ++i) unit.U8(20);
  unit.U8(kFunctionEntry).String("f").U64(0x1010).U32(0x80).U8(0).U8(0);
  sections[".debug_info"] = unit.WithLength();
  sections.erase(".debug_line");
  return OpenedDwarf(sections);
}

TEST(HostileDebugInfoTest, AttributesOfNoBytesAreLookedAtUpToABound) {
  OpenedDwarf many = WithEmptyAttributes(20000);
  EXPECT_EQ(many.At(0x1010), "");
  EXPECT_TRUE(many.is_cut());
  OpenedDwarf none = WithEmptyAttributes(0);
  EXPECT_EQ(none.At(0x1010), "f :0:0\n");
  EXPECT_FALSE(none.is_cut());
}

// Each unit has its own table, and each table spans the whole section.
TEST(HostileDebugInfoTest, TablesThatOverlapAreReadUpToABound) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes abbreviations;
  for (int i = 0; i < 100'000; ++i) abbreviations.List({1, 0x11, 0, 0, 0});
  sections[".debug_abbrev"] = abbreviations.bytes();
  DwarfBytes units;
  for (uint32_t i = 0; i < 10'000; ++i) units.U32(8).U16(4).U32(5 * i).U8(8).U8(1);
  sections[".debug_info"] = units.bytes();
  OpenedDwarf dwarf(sections);
  EXPECT_EQ(dwarf.At(0x1010), "");
}

TEST(HostileDebugInfoTest, AFileTableOfNothingInAnyNumber) {
  SectionBytes sections = SmallDwarf();
  DwarfBytes lines;
  lines.U32(0).U16(5).U8(8).U8(0).U32(64).U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(1);
  lines.U8(0).Uleb(uint64_t{1} << 60).U8(0).Uleb(uint64_t{1} << 60);
  for (int i = 0; i < 64; ++i) lines.U8(1);
  sections[".debug_line"] = lines.WithLength();
  EXPECT_EQ(OpenedDwarf(sections).At(0x1010), "outer :0:0\n");
}

TEST(HostileDebugInfoTest, AnyBytesAnywhere) {
  const std::vector<std::byte> whole = ElfWith(SmallDwarf());
  std::minstd_rand random(1);
  for (int round = 0; round < 4'000; ++round) {
    std::vector<std::byte> file = whole;
    for (unsigned changes = 1 + random() % 4; changes != 0; --changes) {
      file[random() % file.size()] = static_cast<std::byte>(random() >> 8);
    }
    OpenedDwarf dwarf(std::move(file));
    LookEverywhere(dwarf);
  }
}

// No compiler writes DW_LNE_define_file. The name that it defines is relative to the unit's
// directory, and libdw 0.192 reads such a name out of bounds.
TEST(HostileDebugInfoTest, ALineProgramThatDefinesFilesIsNotRead) {
  for (const uint8_t length : {8, 0, 1, 0x88}) {
    SectionBytes sections = SmallDwarf();
    DwarfBytes lines;
    for (const std::byte b : sections[".debug_line"]) lines.U8(static_cast<uint8_t>(b));
    lines.U8(0).U8(length).U8(3).String("c.h").List({0, 0, 0});
    sections[".debug_line"] = lines.WithLength();
    OpenedDwarf dwarf(sections);
    EXPECT_EQ(dwarf.At(0x1010), "outer :0:0\n") << int{length};
  }
}

// Returns the contents, preceded by their length in the 64-bit format.
std::vector<std::byte> WithLongLength(const DwarfBytes& contents) {
  DwarfBytes out;
  out.U32(0xffffffff).U64(contents.size());
  for (const std::byte byte : contents.bytes()) out.U8(static_cast<uint8_t>(byte));
  return out.bytes();
}

// Builds a DWARF 5 unit whose address ranges are the first list of a table. `list` is the offset of
// that list, relative to the table's first entry.
SectionBytes WithIndexedRanges(uint64_t list) {
  DwarfBytes abbreviations, unit, ranges;
  abbreviations.List({1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0x55, 0x23, 0x74, 0x17, 0, 0});
  abbreviations.List({2, 0x2e, 0, 0x03, 0x08, 0x55, 0x23, 0, 0});
  constexpr uint8_t kCompile = 1, kOffsetPair = 4, kFirstEntry = 20;
  unit.U16(5).U8(kCompile).U8(8).U64(0);
  unit.U8(1).String("a.cc").U64(0x1000).U8(0).U64(kFirstEntry);
  unit.U8(2).String("f").U8(0).U8(0);
  ranges.U16(5).U8(8).U8(0).U32(1).U64(list);
  ranges.U8(kOffsetPair).U8(0x10).U8(0x20).U8(0);
  return {{".debug_abbrev", abbreviations.U8(0).bytes()},
          {".debug_info", WithLongLength(unit)},
          {".debug_rnglists", WithLongLength(ranges)}};
}

TEST(DebugInfoTest, ReadsRangesByTheirIndex) {
  OpenedDwarf dwarf(WithIndexedRanges(8));
  EXPECT_EQ(dwarf.At(0x1010), "f :0:0\n");
  EXPECT_EQ(dwarf.At(0x1020), "");
}

TEST(HostileDebugInfoTest, RangesAtAnIndexThatLeadsOutOfTheSectionAreNone) {
  for (const uint64_t list : {uint64_t{12}, uint64_t{1} << 40, uint64_t{1} << 63,
                              static_cast<uint64_t>(-20) - (uint64_t{1} << 44)}) {
    OpenedDwarf dwarf(WithIndexedRanges(list));
    EXPECT_EQ(dwarf.At(0x1010), "") << list;
  }
}

}  // namespace
}  // namespace profiler::symbolize::dwarf
