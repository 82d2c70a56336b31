#include "symbolize/symbolizer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

std::string ReasonText(Reason reason) {
  switch (reason) {
    case Reason::kNamed:
      return "named";
    case Reason::kNoImageFile:
      return "no image file";
    case Reason::kBuildIdMismatch:
      return "build-id mismatch";
    case Reason::kNotElf:
      return "not ELF";
    case Reason::kNoSymbol:
      return "no symbol";
    case Reason::kRestricted:
      return "restricted";
  }
  return "?";
}

// Returns the file offset of marked_code.
FileOffset MarkedCode(const std::string& file) {
  return {ReadFile(file).find("<the bytes of marked_code>")};
}

std::vector<std::byte> BuildIdOf(const std::string& file) {
  const auto bytes = Bytes(ReadFile(file));
  const auto id = ElfImage::Parse(bytes)->build_id();
  return {id.begin(), id.end()};
}

// A symbolizer that sees only files in the test's directory.
class SymbolizerTest : public testing::Test {
 protected:
  SymbolizerTest() : directory_(TestDirectory()) {
    options_.proc_path = directory_ + "/proc";
    options_.kallsyms_path = directory_ + "/proc/kallsyms";
    options_.sys_path = directory_ + "/sys";
    options_.jit_map_directory = directory_ + "/tmp";
    options_.debug_directories = {directory_ + "/debug"};
    options_.build_id_caches = {directory_ + "/home/.debug"};
  }

  // Copies a fixture into the directory and returns its path there.
  std::string Copy(std::string_view fixture, const std::string& to) {
    const std::string path = directory_ + "/" + to;
    WriteFile(path, ReadFile(TestFile(fixture)));
    return path;
  }

  // Writes the build-id (20 bytes) of the running kernel.
  void WriteRunningBuildId(std::string_view id) {
    WriteFile(directory_ + "/sys/kernel/notes",
              std::string("\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0", 16) + std::string(id));
  }

  Symbolizer& symbolizer() {
    if (symbolizer_ == nullptr) symbolizer_ = CreateSymbolizer(options_);
    return *symbolizer_;
  }

  // Returns the name, or the reason for no name in brackets.
  std::string Name(const ImageSpec& spec, CodePlace place) {
    const Naming naming = symbolizer().Name(symbolizer().AddImage(spec), place);
    if (naming.functions.empty()) return absl::StrCat("[", ReasonText(naming.reason), "]");
    EXPECT_EQ(naming.reason, Reason::kNamed);
    return std::string(naming.functions.back().name);
  }

  std::string directory_;
  SymbolizerOptions options_;
  std::unique_ptr<Symbolizer> symbolizer_;
};

TEST_F(SymbolizerTest, NamesAnAddressInAFile) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/pie");
  const ImageId id = symbolizer().AddImage(spec);
  const FileOffset offset = MarkedCode(spec.path);
  const Naming naming = symbolizer().Name(id, FileOffset{offset.value + 3});
  ASSERT_EQ(naming.functions.size(), 1u);
  EXPECT_EQ(naming.functions[0].name, "marked_code");
  EXPECT_EQ(naming.functions[0].size, std::strlen("<the bytes of marked_code>"));
  EXPECT_FALSE(naming.functions[0].inlined);
  EXPECT_EQ(symbolizer().image(id).path, spec.path);
  EXPECT_EQ(Name(spec, FileOffset{~uint64_t{0}}), "[no symbol]");
}

// Makes a file of some KB claim that its section `name` is 8 GiB long and lies at its end.
void ClaimGigabytes(const std::string& path, std::string_view name) {
  constexpr uint64_t kClaimed = uint64_t{8} << 30;
  std::string file = ReadFile(path);
  const auto bytes = Bytes(file);
  const auto image = ElfImage::Parse(bytes);
  const ElfSection& section = *image->FindSection(name);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  const auto index = static_cast<size_t>(&section - image->sections().data());
  char* const place = file.data() + header.e_shoff + index * sizeof(Elf64_Shdr);
  Elf64_Shdr claim;
  std::memcpy(&claim, place, sizeof(claim));
  const std::string contents(file, claim.sh_offset, claim.sh_size);
  claim.sh_offset = file.size();
  claim.sh_size = kClaimed;
  std::memcpy(place, &claim, sizeof(claim));
  file += contents;
  WriteFile(path, file);
  fs::resize_file(path, claim.sh_offset + kClaimed);
}

TEST_F(SymbolizerTest, SymbolsThatAreNowhereOnDiskAreNotRead) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/pie");
  const FileOffset offset = MarkedCode(spec.path);
  ClaimGigabytes(spec.path, ".symtab");
  EXPECT_EQ(Name(spec, offset), "marked_code");
  const std::vector<std::string> warnings = symbolizer().TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with(spec.path + ": of its section .symtab only ")) << warnings[0];
  EXPECT_TRUE(
      warnings[0].ends_with(" of 8589934592 bytes are read, as the file has nothing more on disk"))
      << warnings[0];
  EXPECT_TRUE(symbolizer().TakeWarnings().empty());
}

TEST_F(SymbolizerTest, TellsTheAddressThatTheImageItselfHas) {
  ImageSpec spec;
  spec.path = TestFile("nopie");
  const FileOffset offset = MarkedCode(spec.path);
  const Naming naming =
      symbolizer().Name(symbolizer().AddImage(spec), FileOffset{offset.value + 3});
  for (const NmSymbol& symbol : ReadNm(TestFile("nopie.nm"))) {
    if (symbol.name != "marked_code") continue;
    EXPECT_EQ(naming.address, ElfAddress{symbol.address + 3});
  }
  EXPECT_NE(naming.address, ElfAddress{offset.value + 3});
}

// Takes the functions of the stripped library from a list made before stripping.
TEST_F(SymbolizerTest, AFunctionWithoutASymbolIsKnownByItsStart) {
  ImageSpec spec;
  spec.path = TestFile("stripped");
  const ImageId id = symbolizer().AddImage(spec);
  size_t known_by_start = 0;
  for (const NmSymbol& symbol : ReadNm(TestFile("shared.nm"))) {
    if (symbol.size == 0) continue;
    const uint64_t last = symbol.address + symbol.size - 1;
    const Naming naming = symbolizer().NameAt(id, {last});
    if (naming.reason == Reason::kNamed) {
      EXPECT_EQ(naming.functions.back().start.value, symbol.address) << symbol.name;
      continue;
    }
    EXPECT_EQ(naming.reason, Reason::kNoSymbol);
    if (naming.unnamed_size == 0) continue;  // assembler without call frame information
    EXPECT_EQ(naming.unnamed_start.value, symbol.address) << symbol.name;
    EXPECT_EQ(naming.distance, last - symbol.address) << symbol.name;
    ++known_by_start;
  }
  EXPECT_GE(known_by_start, 1u);
}

TEST_F(SymbolizerTest, WithoutFunctionStartsAnUnnamedAddressIsAlone) {
  options_.function_starts = false;
  ImageSpec spec;
  spec.path = TestFile("stripped");
  const ImageId id = symbolizer().AddImage(spec);
  for (const NmSymbol& symbol : ReadNm(TestFile("shared.nm"))) {
    EXPECT_EQ(symbolizer().NameAt(id, {symbol.address}).unnamed_size, 0u) << symbol.name;
  }
}

// _fini has no size and is the last symbol; perf extends it over the page after its own.
TEST_F(SymbolizerTest, ASymbolWithoutASizeDoesNotLeaveItsSection) {
  ImageSpec spec;
  spec.path = TestFile("shared");
  const std::string file = ReadFile(spec.path);
  const auto bytes = Bytes(file);
  const auto image = ElfImage::Parse(bytes);
  const ElfSection* fini = image->FindSection(".fini");
  ASSERT_NE(fini, nullptr);
  const auto name_at = [&](uint64_t address) {
    const Naming naming = symbolizer().NameAt(symbolizer().AddImage(spec), {address});
    return naming.functions.empty() ? "-" : std::string(naming.functions.back().name);
  };
  EXPECT_EQ(name_at(fini->address.value + fini->size - 1), "_fini");
  EXPECT_EQ(name_at(fini->address.value + fini->size), "-");
  options_.bounded_symbols = false;
  symbolizer_ = nullptr;
  EXPECT_EQ(name_at(fini->address.value + fini->size), "_fini");
}

TEST_F(SymbolizerTest, NamesLiveAsLongAsTheSymbolizer) {
  ImageSpec spec;
  spec.path = TestFile("pie");
  const ImageId id = symbolizer().AddImage(spec);
  const std::string file = ReadFile(spec.path);
  const auto bytes = Bytes(file);
  const auto image = ElfImage::Parse(bytes);
  std::vector<std::pair<std::string_view, std::string>> seen;
  const ElfSection* text = image->FindSection(".text");
  for (uint64_t i = 0; i < text->size; ++i) {
    const Naming naming = symbolizer().Name(id, FileOffset{text->offset.value + i});
    if (naming.functions.empty()) continue;
    seen.emplace_back(naming.functions[0].name, naming.functions[0].name);
  }
  EXPECT_GT(seen.size(), 100u);
  for (const auto& [view, copy] : seen) ASSERT_EQ(view, copy);
}

// Formats one function per line: name, "inlined" if it is, file:line.
std::string FunctionsAt(Symbolizer& symbolizer, const ImageSpec& spec, CodePlace place) {
  std::string text;
  const Naming naming = symbolizer.Name(symbolizer.AddImage(spec), place);
  for (const NamedFunction& function : naming.functions) {
    EXPECT_EQ(function.start, naming.functions.back().start);
    const std::string_view file = function.file.substr(function.file.rfind('/') + 1);
    absl::StrAppend(&text, std::string(function.name), function.inlined ? " inlined " : " ",
                    std::string(file), ":", function.line, "\n");
  }
  return text;
}

std::string FunctionsAt(Symbolizer& symbolizer, const std::string& path) {
  ImageSpec spec;
  spec.path = path;
  return FunctionsAt(symbolizer, spec, FileOffset{ReadFile(path).find("<innermost>")});
}

constexpr char kInlinedFunctions[] =
    "innermost inlined inlined.c:4\nmiddle inlined inlined.c:7\noutermost inlined.c:10\n";

TEST_F(SymbolizerTest, NamesInlinedFunctionsAndTheirLines) {
  EXPECT_EQ(FunctionsAt(symbolizer(), TestFile("inlined")), kInlinedFunctions);
}

TEST_F(SymbolizerTest, InlinedFunctionsCanBeTurnedOff) {
  options_.inlines = false;
  EXPECT_EQ(FunctionsAt(symbolizer(), TestFile("inlined")), "outermost :0\n");
}

TEST_F(SymbolizerTest, FindsLinesInTheDebugFileOfAFileThatHasItsSymbols) {
  const std::string path = Copy("inlined_stripped", "bin/inlined");
  EXPECT_EQ(FunctionsAt(symbolizer(), path), "outermost :0\n");
  Copy("inlined.debug", "bin/.debug/inlined.debug");
  symbolizer_ = nullptr;
  EXPECT_EQ(FunctionsAt(symbolizer(), path), kInlinedFunctions);
}

TEST_F(SymbolizerTest, EqualSpecsAreOneImage) {
  ImageSpec spec;
  spec.path = "/bin/a";
  const ImageId first = symbolizer().AddImage(spec);
  EXPECT_EQ(symbolizer().AddImage(spec), first);
  ImageSpec other = spec;
  other.build_id = Bytes("01234567890123456789");
  const ImageId second = symbolizer().AddImage(other);
  EXPECT_NE(second, first);
  other.pid = 7;  // the build-id identifies the image, whatever process maps it
  EXPECT_EQ(symbolizer().AddImage(other), second);
}

TEST_F(SymbolizerTest, AProcessTellsFilesApartOnlyIfItHasItsOwnFileSystem) {
  fs::create_directories(directory_ + "/container");
  for (const char* pid : {"1", "2"}) {
    fs::create_directories(directory_ + "/proc/" + pid);
    fs::create_symlink("/", directory_ + "/proc/" + pid + "/root");
  }
  fs::create_directories(directory_ + "/proc/3");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/3/root");
  const auto add = [this](uint32_t pid, ImageKind kind) {
    ImageSpec spec;
    spec.kind = kind;
    spec.path = "/bin/a";
    spec.pid = pid;
    return symbolizer().AddImage(spec);
  };
  EXPECT_EQ(add(1, ImageKind::kUser), add(2, ImageKind::kUser));
  EXPECT_EQ(add(1, ImageKind::kUser), add(99, ImageKind::kUser));
  EXPECT_NE(add(1, ImageKind::kUser), add(3, ImageKind::kUser));
  EXPECT_EQ(add(1, ImageKind::kVdso), add(3, ImageKind::kVdso));
  EXPECT_NE(add(1, ImageKind::kJit), add(2, ImageKind::kJit));
}

TEST_F(SymbolizerTest, DemanglingCanBeTurnedOff) {
  const auto mangled_names = [this](bool demangle) {
    options_.demangle = demangle;
    symbolizer_ = nullptr;
    ImageSpec spec;
    spec.path = TestFile("pie");
    std::string names;
    for (const NmSymbol& symbol : ReadNm(TestFile("pie.nm"))) {
      if (symbol.name.find("Twice") == std::string::npos) continue;
      const auto bytes = Bytes(ReadFile(spec.path));
      names += Name(spec, *ElfImage::Parse(bytes)->OffsetOf({symbol.address}));
    }
    return names;
  };
  EXPECT_EQ(mangled_names(true), "double fixture::Twice<double>(double)");
  EXPECT_EQ(mangled_names(false), "_ZN7fixture5TwiceIdEET_S1_");
}

TEST_F(SymbolizerTest, SaysWhyThereIsNoName) {
  ImageSpec missing;
  missing.path = directory_ + "/missing";
  EXPECT_EQ(Name(missing, FileOffset{0x1000}), "[no image file]");
  ImageSpec script;
  script.path = directory_ + "/script";
  WriteFile(script.path, "#!/bin/sh\n");
  EXPECT_EQ(Name(script, FileOffset{0}), "[not ELF]");
  ImageSpec directory;
  directory.path = directory_;
  EXPECT_EQ(Name(directory, FileOffset{0}), "[no image file]");
}

TEST_F(SymbolizerTest, AnotherBuildNamesNothing) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/program");
  spec.build_id = BuildIdOf(TestFile("shared"));
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[build-id mismatch]");
  spec.build_id = BuildIdOf(spec.path);
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code");
}

TEST_F(SymbolizerTest, AFileThatIsOverwrittenWhileItIsReadNamesNothingMore) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/program");
  const FileOffset offset = MarkedCode(spec.path);
  EXPECT_EQ(Name(spec, FileOffset{0}), "[no symbol]");
  WriteFile(spec.path, "");
  EXPECT_EQ(Name(spec, offset), "[build-id mismatch]");
  EXPECT_EQ(Name(spec, offset), "[build-id mismatch]");
}

TEST_F(SymbolizerTest, FindsTheDebugFileByBuildId) {
  ImageSpec spec;
  spec.path = Copy("split", "bin/split");
  const FileOffset offset = MarkedCode(spec.path);
  EXPECT_EQ(Name(spec, offset), "[no symbol]");
  std::string id;
  for (std::byte b : BuildIdOf(spec.path)) {
    absl::StrAppend(&id, absl::Hex(std::to_integer<int>(b), absl::kZeroPad2));
  }
  Copy("split.debug",
       absl::StrCat("debug/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
  symbolizer_ = nullptr;
  EXPECT_EQ(Name(spec, offset), "marked_code");
}

// Tries the paths in perf's cache: those of the current `perf buildid-cache`, and older ones.
TEST_F(SymbolizerTest, FindsAFileThatIsGoneByItsBuildId) {
  ImageSpec spec;
  spec.path = "/bin/gone";
  spec.build_id = BuildIdOf(TestFile("pie"));
  const std::string place = BuildIdPath("", spec.build_id);
  for (const std::string& path :
       {"home/.debug" + place + "/elf", "home/.debug" + place, "debug" + place}) {
    symbolizer_ = nullptr;
    Copy("pie", path);
    EXPECT_EQ(Name(spec, MarkedCode(TestFile("pie"))), "marked_code") << path;
    fs::remove_all(directory_ + "/home");
    fs::remove_all(directory_ + "/debug");
    symbolizer_ = nullptr;
    Copy("shared", path);
    EXPECT_EQ(Name(spec, MarkedCode(TestFile("pie"))), "[build-id mismatch]") << path;
    fs::remove_all(directory_ + "/home");
    fs::remove_all(directory_ + "/debug");
  }
}

TEST_F(SymbolizerTest, FindsTheDebugFileInACacheByBuildId) {
  ImageSpec spec;
  spec.path = Copy("split", "bin/split");
  for (const char* name : {"/debug", "/elf"}) {
    symbolizer_ = nullptr;
    EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[no symbol]");
    symbolizer_ = nullptr;
    Copy("split.debug", "home/.debug" + BuildIdPath("", BuildIdOf(spec.path)) + name);
    EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code") << name;
    fs::remove_all(directory_ + "/home");
  }
}

TEST_F(SymbolizerTest, LooksBelowAnotherRootForEverything) {
  Copy("split", "tree/bin/split");
  Copy("split.debug", "tree/usr/lib/debug/bin/split.debug");
  ImageSpec spec;
  spec.path = "/bin/split";
  options_.LookBelow(directory_ + "/tree");
  EXPECT_EQ(Name(spec, MarkedCode(TestFile("split"))), "marked_code");
  // The file exists, but not below the directory.
  spec.path = TestFile("pie");
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[no image file]");
  const ImageSpec dump = {
      .kind = ImageKind::kJitDump, .path = directory_ + "/jit-7.dump", .pid = 7};
  WriteFile(dump.path, JitDumpBuilder().Load(10, 0x1000, 1, "add", "abcd").bytes());
  EXPECT_EQ(Name(dump, FileOffset{100}), "[no image file]");
  EXPECT_EQ(Name({.kind = ImageKind::kVdso, .path = "[vdso]"}, FileOffset{0}), "[no image file]");
  EXPECT_EQ(
      Name({.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]"}, RuntimeAddress{~uint64_t{0}}),
      "[no image file]");
}

TEST_F(SymbolizerTest, FunctionsOfMiniDebugInfoJoinThoseOfDynsym) {
  ImageSpec spec;
  spec.path = TestFile("mini");
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code");
  for (const NmSymbol& symbol : ReadNm(TestFile("shared.nm"))) {
    if (symbol.name != "_ZL18CallsThroughThePltPKc") continue;
    const auto bytes = Bytes(ReadFile(spec.path));
    const FileOffset offset = *ElfImage::Parse(bytes)->OffsetOf({symbol.address});
    EXPECT_EQ(Name(spec, offset), "CallsThroughThePlt(char const*)");
    return;
  }
  FAIL() << "no such function";
}

TEST_F(SymbolizerTest, SpoiltMiniDebugInfoIsNone) {
  std::string file = ReadFile(TestFile("mini"));
  const size_t packed = file.find(
      "\xfd"
      "7zXZ");
  ASSERT_NE(packed, std::string::npos);
  file[packed + 40] ^= 0x55;
  ImageSpec spec;
  spec.path = directory_ + "/spoilt";
  WriteFile(spec.path, file);
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code");
}

TEST_F(SymbolizerTest, FindsTheDebugFileByItsLinkInTheUsualPlaces) {
  for (const std::string& place :
       {std::string("bin/split.debug"), std::string("bin/.debug/split.debug"),
        absl::StrCat("debug", directory_, "/bin/split.debug")}) {
    ImageSpec spec;
    spec.path = Copy("split", "bin/split");
    Copy("split.debug", place);
    symbolizer_ = nullptr;
    EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code") << place;
    fs::remove(directory_ + "/" + place);
  }
}

TEST_F(SymbolizerTest, ADebugFileOfAnotherBuildIsNotUsed) {
  ImageSpec spec;
  spec.path = Copy("split", "bin/split");
  Copy("nopie", "bin/split.debug");
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[no symbol]");
}

TEST_F(SymbolizerTest, WithoutABuildIdTheChecksumInTheLinkSaysWhetherADebugFileBelongs) {
  std::string file = ReadFile(TestFile("split"));
  const size_t note = file.find(std::string_view("\3\0\0\0GNU\0", 8));  // NT_GNU_BUILD_ID
  ASSERT_NE(note, std::string::npos);
  file[note] = 99;
  ImageSpec spec;
  spec.path = Copy("split", "bin/split");
  WriteFile(spec.path, file);
  const std::string debug = Copy("split.debug", "bin/split.debug");
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code");
  WriteFile(debug, ReadFile(debug) + "more");
  symbolizer_ = nullptr;
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[no symbol]");
}

TEST_F(SymbolizerTest, ADeletedFileIsReadThroughTheProcessThatMapsIt) {
  const std::string kept = Copy("pie", "kept");
  fs::create_directories(directory_ + "/proc/42/map_files");
  ImageSpec spec;
  spec.path = "/gone/program (deleted)";
  spec.pid = 42;
  EXPECT_EQ(Name(spec, MarkedCode(kept)), "[no image file]");
  // The kernel's link reads "/gone/program (deleted)" and still opens the file. A file with that
  // name stands for the link here.
  spec.path = Copy("pie", "program (deleted)");
  fs::create_symlink(spec.path, directory_ + "/proc/42/map_files/400000-401000");
  symbolizer_ = nullptr;
  EXPECT_EQ(Name(spec, MarkedCode(kept)), "marked_code");
  fs::remove(directory_ + "/proc/42/map_files/400000-401000");
  fs::create_symlink(spec.path, directory_ + "/proc/42/exe");
  symbolizer_ = nullptr;
  EXPECT_EQ(Name(spec, MarkedCode(kept)), "marked_code");
}

TEST_F(SymbolizerTest, ANewFileInPlaceOfADeletedOneIsUsedOnlyIfItIsTheSameBuild) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/program") + " (deleted)";
  const FileOffset offset = MarkedCode(directory_ + "/bin/program");
  EXPECT_EQ(Name(spec, offset), "[build-id mismatch]");
  spec.build_id = BuildIdOf(directory_ + "/bin/program");
  EXPECT_EQ(Name(spec, offset), "marked_code");
}

TEST_F(SymbolizerTest, TheFilesOfAContainerAreFoundUnderTheProcessesRoot) {
  const std::string inside = Copy("pie", "container/usr/bin/program");
  fs::create_directories(directory_ + "/proc/42");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/42/root");
  ImageSpec spec;
  spec.path = "/usr/bin/program";
  spec.pid = 42;
  EXPECT_EQ(Name(spec, MarkedCode(inside)), "marked_code");
}

TEST_F(SymbolizerTest, ALinkInAContainerLeadsToAFileInIt) {
  const std::string inside = Copy("pie", "container/usr/bin/real");
  fs::create_symlink("/usr/bin/real", directory_ + "/container/usr/bin/program");
  fs::create_symlink(Copy("pie", "ours"), directory_ + "/container/usr/bin/out");
  fs::create_directories(directory_ + "/proc/42");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/42/root");
  ImageSpec spec;
  spec.path = "/usr/bin/program";
  spec.pid = 42;
  EXPECT_EQ(Name(spec, MarkedCode(inside)), "marked_code");
  spec.path = "/usr/bin/out";
  EXPECT_EQ(Name(spec, MarkedCode(inside)), "[no image file]");
}

TEST_F(SymbolizerTest, ADebugFileInAContainerIsNotOneOfOurs) {
  Copy("split", "container/usr/bin/split");
  fs::create_directories(directory_ + "/proc/42");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/42/root");
  ImageSpec spec;
  spec.path = "/usr/bin/split";
  spec.pid = 42;
  const std::string link = directory_ + "/container/usr/bin/split.debug";
  fs::create_symlink(Copy("split.debug", "ours"), link);
  EXPECT_EQ(Name(spec, MarkedCode(TestFile("split"))), "[no symbol]");
  fs::remove(link);
  Copy("split.debug", "container/debug");
  fs::create_symlink("/debug", link);
  symbolizer_ = nullptr;
  EXPECT_EQ(Name(spec, MarkedCode(TestFile("split"))), "marked_code");
}

TEST_F(SymbolizerTest, NamesTheVdsoOfThisKernel) {
  const auto* base = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (base == nullptr) GTEST_SKIP() << "this kernel maps no [vdso]";
  ImageSpec spec;
  spec.kind = ImageKind::kVdso;
  spec.path = "[vdso]";
  const ImageId id = symbolizer().AddImage(spec);
  bool found = false;
  for (uint64_t offset = 0; offset < 0x4000 && !found; offset += 4) {
    const Naming naming = symbolizer().Name(id, FileOffset{offset});
    found = !naming.functions.empty() &&
            naming.functions[0].name.find("clock_gettime") != std::string_view::npos;
  }
  EXPECT_TRUE(found);
  spec.build_id = Bytes("01234567890123456789");
  EXPECT_EQ(Name(spec, FileOffset{0x1000}), "[build-id mismatch]");
}

TEST_F(SymbolizerTest, NamesTheKernelAndItsModules) {
  WriteFile(options_.kallsyms_path,
            "ffffffff81000000 T _stext\n"
            "ffffffff81000100 t do_idle\n"
            "ffffffffc0001000 t nf_hook\t[nf_tables]\n"
            "ffffffffc0001100 t nf_last\t[nf_tables]\n");
  ImageSpec kernel;
  kernel.kind = ImageKind::kKernel;
  kernel.path = "[kernel.kallsyms]";
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000123}), "do_idle");
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff80000000}), "[no symbol]");
  for (const char* path : {"[nf_tables]", "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"}) {
    ImageSpec module;
    module.kind = ImageKind::kModule;
    module.path = path;
    EXPECT_EQ(Name(module, RuntimeAddress{0xffffffffc0001008}), "nf_hook");
    EXPECT_EQ(Name(module, RuntimeAddress{0xffffffffc0001108}), "nf_last");
    EXPECT_EQ(Name(module, RuntimeAddress{0x108}), "[no symbol]");
  }
  ImageSpec unknown;
  unknown.kind = ImageKind::kModule;
  unknown.path = "[other]";
  EXPECT_EQ(Name(unknown, RuntimeAddress{0x108}), "[no symbol]");
}

TEST_F(SymbolizerTest, HiddenKernelAddressesAreSaidToBeRestricted) {
  WriteFile(options_.kallsyms_path, "0000000000000000 T _stext\n0000000000000000 t do_idle\n");
  ImageSpec kernel;
  kernel.kind = ImageKind::kKernel;
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000123}), "[restricted]");
  ImageSpec module;
  module.kind = ImageKind::kModule;
  module.path = "[nf_tables]";
  EXPECT_EQ(Name(module, RuntimeAddress{0x10}), "[restricted]");
}

TEST_F(SymbolizerTest, AKernelThatMovedSinceTheRecordingIsNamedAllTheSame) {
  WriteFile(options_.kallsyms_path,
            "ffffffff81000000 T _stext\n"
            "ffffffff81000000 T _text\n"
            "ffffffff81000100 t do_idle\n");
  symbolizer().SetKernelReference("_text", {0xffffffff99000000});
  ImageSpec kernel;
  kernel.kind = ImageKind::kKernel;
  const Naming naming =
      symbolizer().Name(symbolizer().AddImage(kernel), RuntimeAddress{0xffffffff99000123});
  ASSERT_EQ(naming.functions.size(), 1u);
  EXPECT_EQ(naming.functions[0].name, "do_idle");
  EXPECT_EQ(naming.functions[0].start, ElfAddress{0xffffffff99000100});
}

// A kernel linked at 0xffffffff81000000 and recorded at 0xffffffff99000000.
class VmlinuxTest : public SymbolizerTest {
 protected:
  static constexpr uint64_t kRecordedText = 0xffffffff99000000;

  VmlinuxTest() {
    kernel_.kind = ImageKind::kKernel;
    kernel_.path = "[kernel.kallsyms]";
    kernel_.build_id = BuildIdOf(TestFile("vmlinux"));
    const std::string file = ReadFile(TestFile("vmlinux"));
    const auto bytes = Bytes(file);
    text_ = file.substr(ElfImage::Parse(bytes)->FindSection(".text")->offset.value);
  }

  // Makes kernel_ the running kernel, at another address than recorded.
  void Run() {
    WriteFile(options_.kallsyms_path,
              "ffffffff91000000 T _text\n"
              "ffffffff91000000 T _stext\n"
              "ffffffff91000010 T outermost\n");
    WriteRunningBuildId(TextOf(kernel_.build_id));
    WriteFile(directory_ + "/proc/sys/kernel/osrelease", "6.1.0-test\n");
  }

  Symbolizer& NewSymbolizer() {
    symbolizer_ = nullptr;
    symbolizer().SetKernelReference("_text", {kRecordedText});
    return symbolizer();
  }

  std::string Functions() {
    return FunctionsAt(NewSymbolizer(), kernel_,
                       RuntimeAddress{kRecordedText + text_.find("<innermost>")});
  }

  ImageSpec kernel_;
  std::string text_;  // the bytes from .text on
};

TEST_F(VmlinuxTest, TheKernelsLinesAreFoundWhereItsDebugInformationIsInstalled) {
  Run();
  EXPECT_EQ(Functions(), "outermost :0\n");
  const std::string by_build_id = BuildIdPath("", kernel_.build_id);
  for (const std::string& path :
       {"debug" + by_build_id + ".debug", std::string("debug/boot/vmlinux-6.1.0-test"),
        std::string("debug/lib/modules/6.1.0-test/vmlinux"),
        "home/.debug" + by_build_id + "/vmlinux"}) {
    const std::string copy = Copy("vmlinux", path);
    EXPECT_EQ(Functions(), kInlinedFunctions) << path;
    fs::remove(copy);
  }
}

TEST_F(VmlinuxTest, ItsCodeIsThereAtTheAddressesOfTheRecording) {
  Run();
  const auto code_at = [&](uint64_t address) {
    NewSymbolizer();
    return symbolizer().CodeAt(symbolizer().AddImage(kernel_), {address}, 5);
  };
  EXPECT_EQ(code_at(kRecordedText).reason, Reason::kNoImageFile);
  Copy("vmlinux", "debug/boot/vmlinux-6.1.0-test");
  const CodeBytes code = code_at(kRecordedText);
  EXPECT_EQ(code.reason, Reason::kNamed);
  EXPECT_EQ(code.place, RuntimeAddress{kRecordedText});
  EXPECT_EQ(TextOf(code.bytes), text_.substr(0, 5));
  EXPECT_EQ(code_at(kRecordedText + 0x1000000).reason, Reason::kNoSymbol);
  const Naming naming = symbolizer().NameAt(symbolizer().AddImage(kernel_), {kRecordedText + 0x10});
  ASSERT_FALSE(naming.functions.empty());
  EXPECT_EQ(naming.functions.back().name, "outermost");
}

TEST_F(VmlinuxTest, AnotherBuildsLinesAreNotUsed) {
  Run();
  Copy("inlined", "debug/boot/vmlinux-6.1.0-test");
  EXPECT_EQ(Functions(), "outermost :0\n");
}

TEST_F(VmlinuxTest, AGivenFileIsTakenIfItIsOfTheRecordedBuild) {
  options_.vmlinux = TestFile("inlined");
  EXPECT_EQ(Functions(), "");
  options_.vmlinux = TestFile("vmlinux");
  EXPECT_EQ(Functions(), kInlinedFunctions);
  kernel_.build_id.clear();
  EXPECT_EQ(Functions(), kInlinedFunctions);
}

TEST_F(VmlinuxTest, AKernelThatDoesNotRunIsNamedByItsFile) {
  EXPECT_EQ(Functions(), "");
  Copy("vmlinux", "debug" + BuildIdPath("", kernel_.build_id) + ".debug");
  EXPECT_EQ(Functions(), kInlinedFunctions);
  options_.inlines = false;
  EXPECT_EQ(Functions(), "outermost :0\n");
}

TEST_F(SymbolizerTest, AnotherKernelThanTheRunningOneIsNotNamed) {
  WriteFile(options_.kallsyms_path, "ffffffff81000000 T _stext\n");
  const std::string id = "01234567890123456789";
  WriteRunningBuildId(id);
  ImageSpec kernel;
  kernel.kind = ImageKind::kKernel;
  kernel.build_id = Bytes(id);
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000000}), "_stext");
  kernel.build_id[3] = std::byte{0};
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000000}), "[build-id mismatch]");
  ImageSpec module = kernel;
  module.kind = ImageKind::kModule;
  module.path = "[nf_tables]";
  EXPECT_EQ(Name(module, RuntimeAddress{0xffffffff81000000}), "[build-id mismatch]");
  symbolizer_ = nullptr;
  std::filesystem::remove(options_.kallsyms_path);
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000000}), "[build-id mismatch]")
      << "for another kernel, kallsyms is not read";
}

TEST_F(SymbolizerTest, WithoutABuildIdTheRunningKernelNamesOnlyWhatItsOwnRecordingsHave) {
  WriteFile(options_.kallsyms_path,
            "ffffffff81000000 T _text\n"
            "ffffffff81000100 t do_idle\n"
            "ffffffffc0001000 t nf_hook\t[nf_tables]\n");
  const RuntimeAddress idle{0xffffffff81000123}, hook{0xffffffffc0001008};
  const ImageSpec kernel{.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]"};
  const ImageSpec module{.kind = ImageKind::kModule, .path = "[nf_tables]"};
  options_.running_kernel = RunningKernel::kIsAnother;
  EXPECT_EQ(Name(kernel, idle), "[build-id mismatch]");
  EXPECT_EQ(Name(module, hook), "[build-id mismatch]");
  EXPECT_EQ(Name({.kind = ImageKind::kVdso, .path = "[vdso]"}, FileOffset{0x600}),
            "[build-id mismatch]");
  symbolizer_ = nullptr;
  options_.running_kernel = RunningKernel::kMayBe;
  EXPECT_EQ(Name(kernel, idle), "[build-id mismatch]") << "it is unknown where that was";
  symbolizer_ = nullptr;
  symbolizer().SetKernelReference("_text", {0xffffffff99000000});
  EXPECT_EQ(Name(kernel, idle), "[build-id mismatch]") << "that was somewhere else";
  symbolizer_ = nullptr;
  symbolizer().SetKernelReference("_text", {0xffffffff81000000});
  EXPECT_EQ(Name(kernel, idle), "do_idle");
  EXPECT_EQ(Name(module, hook), "nf_hook");
}

TEST_F(SymbolizerTest, AModuleThatIsLoadedElsewhereNowIsNotNamed) {
  WriteFile(options_.kallsyms_path,
            "ffffffff81000000 T _text\n"
            "ffffffffc0001040 t nf_hook\t[nf_tables]\n"
            "ffffffffc0003000 d nf_data\t[nf_tables]\n");
  ImageSpec module{.kind = ImageKind::kModule, .path = "[nf_tables]"};
  module.start = {0xffffffffc0001000};
  EXPECT_EQ(Name(module, RuntimeAddress{0xffffffffc0001048}), "nf_hook");
  module.start = {0xffffffffc0901000};
  EXPECT_EQ(Name(module, RuntimeAddress{0xffffffffc0901048}), "[build-id mismatch]");
}

TEST_F(SymbolizerTest, AnotherKernelIsNamedByTheListOfSymbolsInACache) {
  WriteFile(options_.kallsyms_path, "ffffffff81000000 T _text\nffffffff81000100 t do_idle\n");
  WriteRunningBuildId("01234567890123456789");
  ImageSpec kernel{.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]"};
  kernel.build_id = {std::byte{0xc0}, std::byte{0xff}, std::byte{0xee}};
  options_.kernel_build_id = kernel.build_id;
  options_.running_kernel = RunningKernel::kIsAnother;
  ImageSpec module{.kind = ImageKind::kModule, .path = "[nf_tables]"};
  module.start = {0xffffffffc0001000};
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000123}), "[build-id mismatch]");
  const std::string cached =
      "ffffffff81000000 T _text\n"
      "ffffffff81000100 t its_function\n"
      "ffffffffc0001000 t nf_hook\t[nf_tables]\n";
  for (const std::string path : {"/home/.debug/[kernel.kallsyms]/c0ffee/kallsyms",
                                 "/home/.debug/.build-id/c0/ffee/kallsyms"}) {
    symbolizer_ = nullptr;
    WriteFile(directory_ + path, cached);
    EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffff81000123}), "its_function") << path;
    EXPECT_EQ(Name(module, RuntimeAddress{0xffffffffc0001008}), "nf_hook") << path;
    fs::remove(directory_ + path);
  }
}

TEST_F(SymbolizerTest, WithoutABuildIdAFileIsTheRecordedOneByItsInode) {
  ImageSpec spec;
  spec.path = Copy("pie", "bin/pie");
  const FileOffset code = MarkedCode(spec.path);
  struct stat file;
  ASSERT_EQ(stat(spec.path.c_str(), &file), 0);
  spec.maj = major(file.st_dev);
  spec.min = minor(file.st_dev);
  spec.ino = file.st_ino;
  const std::vector<std::byte> build_id = BuildIdOf(spec.path);
  EXPECT_EQ(Name(spec, code), "marked_code");
  ++spec.ino;
  EXPECT_EQ(Name(spec, code), "[build-id mismatch]");
  spec.build_id = build_id;
  EXPECT_EQ(Name(spec, code), "marked_code") << "a build-id says more";
}

TEST_F(SymbolizerTest, WithoutABuildIdAFileThatWasWrittenSinceIsNotTheRecordedOne) {
  ImageSpec spec{.path = Copy("pie", "bin/pie"), .pid = 7};
  struct stat file;
  ASSERT_EQ(stat(spec.path.c_str(), &file), 0);
  const int64_t written = file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec;
  symbolizer().SetLife(7, {.over = written + 1});
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "marked_code");
  symbolizer_ = nullptr;
  symbolizer().SetLife(7, {.over = written - 1'000'000'000});
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[build-id mismatch]");
}

TEST_F(SymbolizerTest, WithoutAnInodeAFileOfAnotherMachineIsNotTheRecordedOne) {
  const ImageSpec spec{.path = Copy("pie", "bin/pie")};
  options_.is_of_another_machine = true;
  EXPECT_EQ(Name(spec, MarkedCode(spec.path)), "[build-id mismatch]");
}

TEST_F(SymbolizerTest, BpfProgramsThatTookEachOthersPlaceHaveTheirOwnNames) {
  const RuntimeAddress place{0xffffffffc0001000};
  symbolizer().AddKernelSymbol(place, 0x100, "bpf_prog_1_first");
  symbolizer().AddKernelSymbol(place, 0x80, "bpf_prog_2_second");
  symbolizer().AddKernelSymbol({place.value + 0x80}, 0x100, "bpf_prog_1_first");
  const ImageSpec first{.kind = ImageKind::kBpf, .path = "bpf_prog_1_first"};
  const ImageSpec second{.kind = ImageKind::kBpf, .path = "bpf_prog_2_second"};
  EXPECT_EQ(Name(first, RuntimeAddress{place.value + 0x10}), "bpf_prog_1_first");
  EXPECT_EQ(Name(second, RuntimeAddress{place.value + 0x10}), "bpf_prog_2_second");
  EXPECT_EQ(Name(second, RuntimeAddress{place.value + 0x90}), "[no symbol]");
  EXPECT_EQ(Name(first, RuntimeAddress{place.value + 0x170}), "bpf_prog_1_first");
}

TEST_F(SymbolizerTest, AnnouncedKernelFunctionsGoBeforeKallsyms) {
  WriteFile(options_.kallsyms_path, "ffffffff81000000 T _stext\nffffffffc0000000 t other\n");
  symbolizer().AddKernelSymbol({0xffffffffc0001000}, 0x100, "bpf_prog_old");
  symbolizer().AddKernelSymbol({0xffffffffc0001080}, 0x100, "bpf_prog_new");
  symbolizer().AddKernelSymbol({0xffffffffc0003000}, 0, "empty");
  ImageSpec bpf;
  bpf.kind = ImageKind::kBpf;
  bpf.path = "bpf_prog_new";
  EXPECT_EQ(Name(bpf, RuntimeAddress{0xffffffffc0001080}), "bpf_prog_new");
  EXPECT_EQ(Name(bpf, RuntimeAddress{0xffffffffc000117f}), "bpf_prog_new");
  EXPECT_EQ(Name(bpf, RuntimeAddress{0xffffffffc0001180}), "[no symbol]");
  EXPECT_EQ(Name(bpf, RuntimeAddress{0xffffffffc0000010}), "[no symbol]");
  const ImageSpec kernel{.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]"};
  EXPECT_EQ(Name(kernel, RuntimeAddress{0xffffffffc0000010}), "other");
}

TEST_F(SymbolizerTest, NamesJitCodeByTheMapOfItsProcess) {
  WriteFile(directory_ + "/tmp/perf-42.map", "7f0000001000 20 LazyCompile:add\n");
  ImageSpec jit;
  jit.kind = ImageKind::kJit;
  jit.path = "//anon";
  jit.pid = 42;
  EXPECT_EQ(Name(jit, RuntimeAddress{0x7f0000001010}), "LazyCompile:add");
  EXPECT_EQ(Name(jit, RuntimeAddress{0x7f0000001020}), "[no symbol]");
  jit.pid = 43;
  EXPECT_EQ(Name(jit, RuntimeAddress{0x7f0000001010}), "[no image file]");
}

TEST_F(SymbolizerTest, NamesJitCodeOfAProcessThatIsGoneByTheMapThatTheRecorderKeptOpen) {
  const auto kept = std::make_shared<KeptFiles>();
  const auto keep = [&](const std::string& name) {
    const std::string path = directory_ + "/container/tmp/" + name;
    WriteFile(path, "7f0000001000 20 LazyCompile:add\n");
    auto file = std::make_shared<const UniqueFd>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    kept->AddMap(42, std::move(file));
    fs::remove(path);
  };
  keep("perf-1.map");
  options_.kept = kept;
  ImageSpec jit{.kind = ImageKind::kJit, .path = "//anon", .pid = 42};
  EXPECT_EQ(Name(jit, RuntimeAddress{0x7f0000001010}), "LazyCompile:add");
  jit.pid = 43;
  EXPECT_EQ(Name(jit, RuntimeAddress{0x7f0000001010}), "[no image file]");
  keep("perf-2.map");
  EXPECT_EQ(kept->FindMap(42), "") << "of two programs, nobody knows which";
}

TEST_F(SymbolizerTest, NamesJitCodeByItsPlaceInTheDumpAsTheProcessSeesIt) {
  fs::create_directories(directory_ + "/proc/42");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/42/root");
  WriteFile(directory_ + "/container/tmp/jit-7.dump", JitDumpBuilder()
                                                          .Lines(0x1000, {{0x1000, 3, "a.js"}})
                                                          .Load(10, 0x1000, 1, "add", "abcd")
                                                          .bytes());
  ImageSpec dump;
  dump.kind = ImageKind::kJitDump;
  dump.path = "/tmp/jit-7.dump";
  dump.pid = 42;
  const auto codes = symbolizer().JitCodes(symbolizer().AddImage(dump));
  ASSERT_TRUE(codes.ok()) << codes.status();
  ASSERT_EQ(codes->size(), 1u);
  const FileOffset code = codes->front().offset;
  const Naming naming = symbolizer().Name(symbolizer().AddImage(dump), FileOffset{code.value + 1});
  ASSERT_EQ(naming.functions.size(), 1u);
  EXPECT_EQ(naming.functions[0].name, "add");
  EXPECT_EQ(naming.functions[0].file, "a.js");
  EXPECT_EQ(naming.functions[0].line, 3u);
  EXPECT_EQ(naming.distance, 1u);
  EXPECT_EQ(Name(dump, FileOffset{code.value + 4}), "[no symbol]");
  EXPECT_EQ(symbolizer().NameAt(symbolizer().AddImage(dump), {code.value + 1}).distance, 1u);
  const CodeBytes rest = symbolizer().CodeAt(symbolizer().AddImage(dump), {code.value + 1}, 100);
  EXPECT_EQ(TextOf(rest.bytes), "bcd");
  EXPECT_EQ(rest.place, (FileOffset{code.value + 1}));
  EXPECT_EQ(rest.machine, 62);
  EXPECT_EQ(symbolizer().CodeAt(symbolizer().AddImage(dump), {code.value + 4}, 1).reason,
            Reason::kNoSymbol);
  dump.pid = 43;
  EXPECT_EQ(symbolizer().JitCodes(symbolizer().AddImage(dump)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Name(dump, code), "[no image file]");
}

TEST_F(SymbolizerTest, AJitInAContainerWritesItsMapUnderThePidThatItKnows) {
  fs::create_directories(directory_ + "/proc/42");
  fs::create_symlink(directory_ + "/container", directory_ + "/proc/42/root");
  WriteFile(directory_ + "/proc/42/status", "Name:\tnode\nNStgid:\t42\t7\nVmPeak:\t1 kB\n");
  WriteFile(absl::StrCat(directory_, "/container", directory_, "/tmp/perf-7.map"),
            "1000 20 inside\n");
  ImageSpec jit;
  jit.kind = ImageKind::kJit;
  jit.pid = 42;
  EXPECT_EQ(Name(jit, RuntimeAddress{0x1010}), "inside");
}

}  // namespace
}  // namespace profiler::symbolize
