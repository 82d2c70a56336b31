// Tests that libdw only reads the bytes that it gets and opens no file by itself.

#include "symbolize/names/testing/libdw_opens.h"

#include <elfutils/libdw.h>
#include <gelf.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/mapped_file.h"
#include "symbolize/dwarf/testing/small_dwarf.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

bool Succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

bool Has(const std::string& program) {
  return Succeeds("command -v " + program + " >/dev/null 2>&1");
}

class LibdwOpensTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = TestDirectory();
    before_ = fs::current_path();
    fs::current_path(directory_);
    TakePathsOpenedByLibdw();
  }
  void TearDown() override {
    fs::current_path(before_);
    if (!HasFailure()) fs::remove_all(directory_);
  }

  // Returns false and skips the test if the program cannot be built here.
  bool Make(const std::string& flags, const std::string& then = "true",
            const std::string& needs = "true") {
    for (const std::string& program : {std::string("g++"), needs}) {
      if (Has(program)) continue;
      [&] { GTEST_SKIP() << "not installed: " << program; }();
      return false;
    }
    const bool made = Succeeds("g++ -std=c++14 -O2 " + flags + " -o program " +
                               TestFile("inlines.cc") + " && " + then);
    EXPECT_TRUE(made) << flags << " && " << then;
    return made;
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;

 private:
  fs::path before_;
};

// Returns how many of 2000 addresses in a file's code get a source line.
size_t NamedWithLines(const std::string& path) {
  const std::string content = ReadFile(path);
  const std::vector<std::byte> bytes = Bytes(content);
  const auto image = ElfImage::Parse(bytes);
  if (!image.ok() || image->segments().empty()) return 0;
  FileOffset start = image->segments()[0].offset;
  uint64_t size = image->segments()[0].memory_size;
  if (const ElfSection* text = image->FindSection(".text")) {
    start = text->offset;
    size = text->size;
  }
  const auto symbolizer = CreateSymbolizer({});
  ImageSpec spec;
  spec.path = path;
  const ImageId id = symbolizer->AddImage(spec);
  std::mt19937_64 random(1);
  size_t named = 0;
  for (int i = 0; i < 2000; ++i) {
    const Naming naming = symbolizer->Name(id, FileOffset{start.value + random() % size});
    if (!naming.functions.empty() && naming.functions[0].line != 0) ++named;
  }
  return named;
}

// Calls every libdw function that may look for other files, for a whole file in libdw.
void LetLibdwLookForFiles(const std::string& path) {
  std::string content = ReadFile(path);
  elf_version(EV_CURRENT);
  Elf* elf = elf_memory(content.data(), content.size());
  ASSERT_NE(elf, nullptr) << elf_errmsg(-1);
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  ASSERT_NE(dwarf, nullptr) << dwarf_errmsg(-1);
  dwarf_getalt(dwarf);
  Dwarf_CU* unit = nullptr;
  Dwarf_Half version;
  uint8_t type;
  Dwarf_Die entry, split;
  while (dwarf_get_units(dwarf, unit, &unit, &version, &type, &entry, &split) == 0) continue;
  dwarf_end(dwarf);
  elf_end(elf);
}

TEST_F(LibdwOpensTest, WhatLibdwOpensForASplitUnitIsSeen) {
  if (!Make("-gdwarf-5 -gsplit-dwarf")) return;
  LetLibdwLookForFiles("program");
  EXPECT_THAT(TakePathsOpenedByLibdw(), Contains(HasSubstr(".dwo")));
}

TEST_F(LibdwOpensTest, WhatLibdwOpensAsAlternateFileIsSeen) {
  if (!Make("-g", "cp program other && dwz -m common program other", "dwz")) return;
  LetLibdwLookForFiles("program");
  EXPECT_THAT(TakePathsOpenedByLibdw(), Contains(HasSubstr(".build-id/")));
}

TEST_F(LibdwOpensTest, WhatWeOpenIsNotLibdws) {
  WriteFile(Path("file"), "text");
  ASSERT_TRUE(MappedFile::Open(Path("file")).ok());
  EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
}

TEST_F(LibdwOpensTest, NothingForSplitUnits) {
  for (const char* flags : {"-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf"}) {
    SCOPED_TRACE(flags);
    if (!Make(flags)) return;
    EXPECT_GT(NamedWithLines(Path("program")), 1500u);
    EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
  }
}

TEST_F(LibdwOpensTest, NothingForSplitUnitsThatAreGone) {
  for (const char* flags : {"-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf"}) {
    SCOPED_TRACE(flags);
    if (!Make(flags, "rm *.dwo")) return;
    NamedWithLines(Path("program"));
    EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
  }
}

TEST_F(LibdwOpensTest, NothingForSplitUnitsInAPackage) {
  for (const char* flags : {"-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf"}) {
    SCOPED_TRACE(flags);
    if (!Make(flags, "llvm-dwp -e program -o program.dwp && rm *.dwo", "llvm-dwp")) return;
    EXPECT_GT(NamedWithLines(Path("program")), 1500u);
    EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
  }
}

TEST_F(LibdwOpensTest, NothingForAnAlternateFile) {
  if (!Make("-g", "cp program other && dwz -m common program other", "dwz")) return;
  EXPECT_GT(NamedWithLines(Path("program")), 1500u);
  EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
}

TEST_F(LibdwOpensTest, NothingForAnAlternateFileThatIsGone) {
  if (!Make("-g", "cp program other && dwz -m common program other && rm common", "dwz")) return;
  NamedWithLines(Path("program"));
  EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
}

// Builds units that no compiler writes. Each unit has children and names a split file and an
// alternate file, so libdw could look for these files during a walk.
std::vector<std::byte> HostileUnit(uint16_t version, uint8_t unit_type) {
  using dwarf::DwarfBytes;
  constexpr uint8_t kUnit = 1, kNamed = 2, kInstance = 3;
  constexpr uint16_t kString = 0x08, kAddress = 0x01, kData4 = 0x06, kAlternateString = 0x1f21,
                     kAlternateEntry = 0x1f20;
  DwarfBytes abbreviations;
  const uint16_t dwo_name = version == 5 ? 0x76 : 0x2130;
  abbreviations.List({kUnit, 0x11, 1, 0x03, kString, 0x1b, kString, 0x11, kAddress, 0x12, kData4,
                      dwo_name, kString, 0, 0});
  abbreviations.List({kNamed, 0x2e, 0, 0x03, kAlternateString, 0x11, kAddress, 0x12, kData4, 0, 0});
  abbreviations.List(
      {kInstance, 0x2e, 0, 0x31, kAlternateEntry, 0x11, kAddress, 0x12, kData4, 0, 0});
  DwarfBytes unit;
  unit.U32(0).U16(version);
  if (version == 5) {
    constexpr uint8_t kSkeleton = 4;
    unit.U8(unit_type).U8(8).U32(0);
    if (unit_type == kSkeleton) unit.U64(0x1122334455667788);
  } else {
    unit.U32(0).U8(8);
  }
  unit.U8(kUnit).String("a.cc").String(".").U64(0x1000).U32(0x800).String("there.dwo");
  unit.U8(kNamed).U32(0).U64(0x1000).U32(0x100);
  unit.U8(kInstance).U32(12).U64(0x1100).U32(0x100).U8(0);
  DwarfBytes link;
  link.String("common").U64(0x8877665544332211);
  return dwarf::ElfWith({{".debug_abbrev", abbreviations.U8(0).bytes()},
                         {".debug_info", unit.WithLength()},
                         {".gnu_debugaltlink", link.bytes()}});
}

TEST_F(LibdwOpensTest, NothingForUnitsThatNameFilesWhereTheyMayNot) {
  constexpr uint8_t kCompile = 1, kSkeleton = 4;
  struct Case {
    uint16_t version;
    uint8_t unit_type;
  };
  for (const Case& c : {Case{5, kCompile}, Case{5, kSkeleton}, Case{4, kCompile}}) {
    SCOPED_TRACE(testing::Message() << "version " << c.version << ", type " << int{c.unit_type});
    const std::vector<std::byte> file = HostileUnit(c.version, c.unit_type);
    for (const char* name : {"program", "there.dwo", "common"}) {
      WriteFile(Path(name), {reinterpret_cast<const char*>(file.data()), file.size()});
    }
    NamedWithLines(Path("program"));
    EXPECT_THAT(TakePathsOpenedByLibdw(), IsEmpty());
    LetLibdwLookForFiles(Path("program"));
    EXPECT_THAT(TakePathsOpenedByLibdw(), Contains(HasSubstr(".build-id/")));
  }
}

}  // namespace
}  // namespace profiler::symbolize
