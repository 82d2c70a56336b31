// Programs with debug information that would take for ever to read, or that names files that must
// not be opened.

#include <utility>

#include "symbolize/dwarf/testing/small_dwarf.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using symbolize::dwarf::DwarfBytes;
using symbolize::dwarf::SmallAbbreviations;
using symbolize::dwarf::SmallLines;
using symbolize::dwarf::SmallUnit;

// Code of the abbreviation that is added to the abbreviations of SmallAbbreviations.
constexpr uint8_t kEvilEntry = 10;

constexpr uint16_t kSubprogram = 0x2e, kCompileUnit = 0x11, kImportedUnit = 0x3d;
constexpr uint16_t kName = 0x03, kCompDir = 0x1b, kImport = 0x18, kDeclaration = 0x3c,
                   kSpecification = 0x47, kLowPc = 0x11, kHighPc = 0x12, kDwoName = 0x2130,
                   kDwoId = 0x2131;
constexpr uint16_t kAddress = 0x01, kData4 = 0x06, kData8 = 0x07, kString = 0x08, kStrp = 0x0e,
                   kRef4 = 0x13, kIndirect = 0x16, kPresent = 0x19, kStrx = 0x1a, kStrpAlt = 0x1f21;

struct Attribute {
  uint16_t name, form;
};

std::vector<std::byte> Abbreviations(uint16_t tag, bool has_children,
                                     const std::vector<Attribute>& attributes) {
  std::vector<std::byte> small = SmallAbbreviations();
  small.pop_back();  // removes the list's terminator
  DwarfBytes out;
  out.AddBytes(small).U8(kEvilEntry).Uleb(tag).U8(has_children ? 1 : 0);
  for (const Attribute& attribute : attributes) out.Uleb(attribute.name).Uleb(attribute.form);
  return out.U8(0).U8(0).U8(0).bytes();
}

struct Debug {
  std::vector<std::byte> abbreviations = SmallAbbreviations();
  std::vector<std::byte> entries = SmallUnit().WithLength();
  std::vector<std::byte> lines = SmallLines();
  std::vector<HostileSection> more = {};
};

void SpinIn(Scene& scene, const Debug& debug) {
  HostileElf elf;
  elf.AddFrames().AddSymbols();
  elf.Add({.name = ".debug_abbrev", .bytes = debug.abbreviations});
  elf.Add({.name = ".debug_info", .bytes = debug.entries});
  elf.Add({.name = ".debug_line", .bytes = debug.lines});
  for (const HostileSection& section : debug.more) elf.Add(section);
  const std::string path = scene.File("evil.so");
  elf.Write(path);
  scene.GiveAway(path);
  scene.attackers().SpinIn(path);
}

auto With(Debug (*make)()) {
  return [make](Scene& scene) { SpinIn(scene, make()); };
}

// Returns a unit with one function that covers all the code. `put` adds the function's children.
template <class Put>
std::vector<std::byte> UnitWith(Put put) {
  DwarfBytes out = SmallUnit();
  out.U8(symbolize::dwarf::kFunctionEntry).String("evil_outer").U64(kCode).U32(kEnd - kCode);
  put(out);
  return out.U8(0).U8(0).WithLength();
}

// ---- entries

Debug EmptyAttributes() {
  const std::vector<Attribute> attributes(60'000, {kDeclaration, kPresent});
  return {.abbreviations = Abbreviations(kSubprogram, false, attributes),
          .entries = UnitWith([](DwarfBytes& out) {
            for (int i = 0; i < 2'000'000; ++i) out.U8(kEvilEntry);
          })};
}

Debug IndirectForms() {
  return {.abbreviations = Abbreviations(kSubprogram, false, {{kName, kIndirect}}),
          .entries = UnitWith([](DwarfBytes& out) {
            out.U8(kEvilEntry);
            for (int i = 0; i < 8'000'000; ++i) out.U8(kIndirect);
            out.Uleb(kPresent);
          })};
}

Debug OriginsInACircle() {
  return {.entries = UnitWith([](DwarfBytes& out) {
            // Two inlined calls of which each is the other's origin. Then an inlined call that is
            // its own origin.
            using symbolize::dwarf::kInlinedEntry;
            const uint32_t first = out.size(), length = 20;
            const auto add = [&](uint32_t origin) {
              out.U8(kInlinedEntry).U32(origin).U64(kSpin).U32(0x10).U8(1).U8(5).U8(9);
            };
            add(first + length);
            add(first);
            add(out.size());
            out.U8(0).U8(0).U8(0);
          })};
}

Debug SpecificationsInACircle() {
  const std::vector<Attribute> attributes = {
      {kSpecification, kRef4}, {kLowPc, kAddress}, {kHighPc, kData4}};
  DwarfBytes out = SmallUnit();
  const uint32_t first = out.size();
  for (uint32_t i = 0; i < 200'000; ++i) {
    const uint32_t next = first + (i + 1) % 200'000 * 17;
    out.U8(kEvilEntry).U32(next).U64(kCode).U32(kEnd - kCode);
  }
  return {.abbreviations = Abbreviations(kSubprogram, false, attributes),
          .entries = out.U8(0).WithLength()};
}

Debug UnitsThatImportThemselves() {
  DwarfBytes out = SmallUnit();
  for (int i = 0; i < 100'000; ++i) out.U8(kEvilEntry).U32(11);
  return {.abbreviations = Abbreviations(kImportedUnit, false, {{kImport, kRef4}}),
          .entries = out.U8(0).WithLength()};
}

Debug DeepEntries() {
  return {.entries = UnitWith([](DwarfBytes& out) {
            for (int i = 0; i < 16'000'000; ++i) out.U8(symbolize::dwarf::kClassEntry);
          })};
}

Debug DeepInlinedCalls() {
  return {.entries = UnitWith([](DwarfBytes& out) {
            const uint32_t origin = SmallUnit().size();
            for (int i = 0; i < 400'000; ++i) {
              out.U8(symbolize::dwarf::kInlinedEntry).U32(origin).U64(kCode).U32(kEnd - kCode);
              out.U8(1).U8(5).U8(9);
            }
            for (int i = 0; i < 400'000; ++i) out.U8(0);
          })};
}

Debug NamesPastTheEnd() {
  const std::vector<Attribute> attributes = {
      {kName, kStrx}, {kName, kStrp}, {kLowPc, kAddress}, {kHighPc, kData4}};
  return {.abbreviations = Abbreviations(kSubprogram, false, attributes),
          .entries = UnitWith([](DwarfBytes& out) {
            for (int i = 0; i < 10'000; ++i) {
              out.U8(kEvilEntry).Uleb(~uint64_t{0}).U32(0xfffffff0).U64(kCode).U32(0x1000);
            }
          })};
}

Debug NamesThatShareALongOne() {
  const std::vector<Attribute> attributes = {{kName, kStrp}, {kLowPc, kAddress}, {kHighPc, kData4}};
  return {.abbreviations = Abbreviations(kSubprogram, false, attributes),
          .entries = UnitWith([](DwarfBytes& out) {
            for (uint32_t i = 0; i < 400'000; ++i) out.U8(kEvilEntry).U32(i).U64(kSpin).U32(16);
          }),
          .more = {
              {.name = ".debug_str", .bytes = BytesOf(std::string(size_t{32} << 20, 'e') + '\0')}}};
}

Debug UnitsOfNoLength() {
  return {.more = {{.name = ".debug_types", .hole = uint64_t{4} << 30},
                   {.name = ".debug_aranges", .hole = uint64_t{4} << 30}}};
}

Debug AMillionUnits() {
  DwarfBytes out;
  const std::vector<std::byte> unit = SmallUnit().U8(0).WithLength();
  for (int i = 0; i < 1'000'000; ++i) out.AddBytes(unit);
  return {.entries = out.bytes()};
}

Debug ManyRanges() {
  DwarfBytes ranges;
  for (int i = 0; i < 2'000'000; ++i) ranges.U64(0x10).U64(0x20);
  ranges.U64(0).U64(0);
  return {.entries = UnitWith([](DwarfBytes& out) {
            for (int i = 0; i < 200'000; ++i) {
              out.U8(symbolize::dwarf::kListedEntry).String("evil").U32(0);
            }
          }),
          .more = {{.name = ".debug_ranges", .bytes = ranges.bytes()}}};
}

// ---- lines

// Returns a line table with a valid header and a program from `put`.
template <class Put>
std::vector<std::byte> LinesWith(Put put) {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(13).List({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  header.U8(0).String("a.cc").List({0, 0, 0}).U8(0);
  DwarfBytes out;
  out.U32(0).U16(4).U32(header.size()).AddBytes(header.bytes());
  out.U8(0).U8(9).U8(2).U64(kCode);
  put(out);
  return out.U8(2).Uleb(0x1000).U8(0).U8(1).U8(1).WithLength();
}

Debug AHundredMillionRows() {
  return {.lines = LinesWith([](DwarfBytes& out) {
            out.AddText(std::string(100'000'000, static_cast<char>(13 + 5)));
          })};
}

Debug RowsThatRunAway() {
  return {.lines = LinesWith([](DwarfBytes& out) {
            for (int i = 0; i < 1'000'000; ++i) {
              out.U8(2).Uleb(uint64_t{1} << 60).U8(3).Uleb(~uint64_t{0} >> 1).U8(4).Uleb(~0u).U8(1);
            }
          })};
}

Debug SequencesOfNoRows() {
  return {.lines = LinesWith([](DwarfBytes& out) {
            for (int i = 0; i < 5'000'000; ++i) out.U8(0).U8(1).U8(1);
          })};
}

Debug AMillionFiles() {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(13).List({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  header.AddText(std::string(size_t{8} << 20, 'd')).U8(0).U8(0);
  for (int i = 0; i < 4'000'000; ++i) header.String("a").List({1, 0, 0});
  DwarfBytes out;
  out.U32(0).U16(4).U32(header.U8(0).size()).AddBytes(header.bytes());
  out.U8(0).U8(9).U8(2).U64(kCode).U8(1).U8(2).Uleb(0x1000).U8(0).U8(1).U8(1);
  return {.lines = out.WithLength()};
}

Debug SourceFilesWithEscapes() {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(13).List({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  header.U8(0).String("\033[2J\nevil.cc").List({0, 0, 0}).U8(0);
  DwarfBytes out;
  out.U32(0).U16(4).U32(header.size()).AddBytes(header.bytes());
  out.U8(0).U8(9).U8(2).U64(kCode).U8(1).U8(2).Uleb(0x1000).U8(0).U8(1).U8(1);
  return {.lines = out.WithLength()};
}

// ---- other files

// Spins in a program that refers to three other files: `dwo` for the unit's entries, `alternate`
// for the unit's names, and `link` for debug information of the whole program.
void SpinBesides(Scene& scene, const std::string& dwo, const std::string& alternate,
                 const std::string& link) {
  const std::vector<Attribute> attributes = {{kName, kStrpAlt},   {kCompDir, kString},
                                             {kDwoName, kString}, {kDwoId, kData8},
                                             {kLowPc, kAddress},  {kHighPc, kData4}};
  DwarfBytes out;
  out.U32(0).U16(4).U32(0).U8(8);
  out.U8(kEvilEntry).U32(1).String(scene.theirs()).String(dwo).U64(7).U64(kCode).U32(0x1000);
  DwarfBytes to_link;
  to_link.String(link);
  while (to_link.size() % 4 != 0) to_link.U8(0);
  DwarfBytes to_alternate;
  to_alternate.String(alternate).AddText(std::string(20, '\7'));
  SpinIn(scene, {.abbreviations = Abbreviations(kCompileUnit, true, attributes),
                 .entries = out.U8(0).WithLength(),
                 .more = {{.name = ".gnu_debuglink", .bytes = to_link.U32(1).bytes()},
                          {.name = ".gnu_debugaltlink", .bytes = to_alternate.bytes()}}});
}

}  // namespace

std::vector<LiveCase> DwarfCases() {
  using enum Runs;
  return {
      {"AttributesWithoutBytes", kWithAll, With(EmptyAttributes)},
      {"FormsThatAreElsewhere", kWithAll, With(IndirectForms)},
      {"OriginsInACircle", kWithAll, With(OriginsInACircle)},
      {"SpecificationsInACircle", kWithAll, With(SpecificationsInACircle)},
      {"UnitsThatImportThemselves", kWithAll, With(UnitsThatImportThemselves)},
      {"EntriesNestedMillionsDeep", kWithAll, With(DeepEntries)},
      {"InlinedCallsNestedDeep", kAlways, With(DeepInlinedCalls)},
      {"NamesPastTheEnd", kWithAll, With(NamesPastTheEnd)},
      {"NamesThatShareALongOne", kWithAll, With(NamesThatShareALongOne)},
      {"UnitsOfNoLength", kWithAll, With(UnitsOfNoLength)},
      {"AMillionUnits", kWithAll, With(AMillionUnits)},
      {"RangesByTheMillion", kWithAll, With(ManyRanges)},
      {"AHundredMillionRows", kWithAll, With(AHundredMillionRows)},
      {"RowsThatRunAway", kWithAll, With(RowsThatRunAway)},
      {"SequencesOfNoRows", kWithAll, With(SequencesOfNoRows)},
      {"MillionsOfSourceFiles", kWithAll, With(AMillionFiles)},
      {"SourceFilesWithEscapes", kWithAll, With(SourceFilesWithEscapes)},
      {"DebugInformationOfGigabytes", kWithAll,
       [](Scene& scene) {
         SpinIn(scene, {.entries = {},
                        .lines = {},
                        .more = {{.name = ".debug_str", .hole = uint64_t{4} << 30},
                                 {.name = ".debug_ranges", .hole = uint64_t{4} << 30},
                                 {.name = ".debug_line_str", .hole = uint64_t{4} << 30}}});
       }},
      {"FilesBesideItThatAreFifos", kWithAll,
       [](Scene& scene) {
         SpinBesides(scene, scene.MakeFifo("fifo"), scene.MakeFifo("other"), "fifo");
       }},
      {"FilesBesideItThatAreDevices", kWithAll,
       [](Scene& scene) {
         SpinBesides(scene, scene.MakeDevice("device"), scene.MakeDevice("other"), "device");
       }},
      {"FilesBesideItThatAreElsewhere", kWithAll,
       [](Scene& scene) {
         scene.MakeFifo("fifo");
         SpinBesides(scene, "../theirs/../../../../proc/self/root" + scene.File("fifo"),
                     "/proc/kcore", "../theirs/fifo");
       }},
      {"FilesBesideItThatAreItself", kWithAll,
       [](Scene& scene) { SpinBesides(scene, "evil.so", scene.File("evil.so"), "evil.so"); }},
  };
}

}  // namespace profiler::tests
