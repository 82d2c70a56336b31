// Compares functions, inlined calls, files and lines with llvm-symbolizer and addr2line, at random
// addresses of one program built by several compilers and linkers. To compare more addresses:
//
//   bazel test //symbolize/names:inline_oracle_test --test_env=PROFILER_ORACLE_ADDRESSES=10000
//
// Accepted differences, in which this project is right:
//
//   padding      between functions: llvm-symbolizer has a line there, although no function is there
//   no debug information (crt files, static libraries): the other tools take the file from .symtab,
//                with line 0
//   outermost    this project shows the name of perf's symbol; the other tools show any alias, or
//                the name in the debug information, which lacks .cold, .isra, .part or .constprop
//   LLVM 14      joins a relative directory of a unit with itself: libio/libio/wfileops.c
//   addr2line    of binutils 2.40 reads neither split units nor type units, and only parts of DWARF
//                5 (no lists of ranges by index, no file with index 0). It names recursive calls by
//                the outermost call. So it is used only for older files, and only for lines.

#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

// Returns the output of `command`; empty if it fails.
std::string Run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[1 << 16];
  for (size_t size; (size = fread(buffer, 1, sizeof(buffer), pipe)) != 0;) {
    output.append(buffer, size);
  }
  return pclose(pipe) == 0 ? output : std::string();
}

// Returns the number of addresses to compare per program.
size_t AddressCount() {
  const char* count = std::getenv("PROFILER_ORACLE_ADDRESSES");
  return count == nullptr ? 3000 : std::strtoul(count, nullptr, 10);
}

bool Succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

bool Has(const std::string& program) {
  return Succeeds("command -v " + program + " >/dev/null 2>&1");
}

struct Frame {
  std::string function, file, line;
};
using Frames = std::vector<Frame>;

// Parses pairs of lines: a function, then its file:line[:column].
Frames ToFrames(const std::vector<std::string>& lines) {
  Frames frames;
  for (size_t i = 0; i + 1 < lines.size(); i += 2) {
    std::string place = lines[i + 1].substr(0, lines[i + 1].find(" (discriminator"));
    std::string line = place.substr(place.rfind(':') + 1);
    if (line == "?") line = "0";
    std::string file = fs::path(place.substr(0, place.rfind(':'))).lexically_normal();
    if (file == "??") file.clear();
    frames.push_back({lines[i], file, line});
  }
  return frames;
}

std::string ToText(const Frames& frames, bool names) {
  std::string text;
  for (size_t i = 0; i < frames.size(); ++i) {
    // Outermost names are not compared: they come from the symbol table.
    const bool named = names && i + 1 < frames.size();
    absl::StrAppend(&text, named ? frames[i].function : "", " ", frames[i].file, ":",
                    frames[i].line, "\n");
  }
  return text;
}

// Returns the frames of a symbolizer that writes each address before its frames.
std::vector<Frames> Ask(const std::string& symbolizer, const std::string& file) {
  const std::string text = Run(symbolizer + " -a -i -f -e " + file + " < addresses");
  std::vector<std::vector<std::string>> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "0x")) {
      lines.emplace_back();
    } else if (!line.empty() && !lines.empty()) {
      lines.back().emplace_back(line);
    }
  }
  std::vector<Frames> all;
  for (const auto& one : lines) all.push_back(ToFrames(one));
  return all;
}

// Shortens a/b/a/b/c.cc to a/b/c.cc.
std::string WithoutRepeatedDirectory(const std::string& file) {
  for (size_t end = file.find('/'); end != std::string::npos && end != 0;
       end = file.find('/', end + 1)) {
    if (file.compare(end + 1, end + 1, file, 0, end + 1) == 0) return file.substr(end + 1);
  }
  return file;
}

std::vector<Frames> AskLlvm(const std::string& file) {
  static const bool repeats_directories =
      Succeeds("llvm-symbolizer --version | grep -q 'LLVM version 14'");
  std::vector<Frames> all = Ask("llvm-symbolizer --output-style=GNU --no-demangle", file);
  for (Frames& frames : all) {
    for (Frame& frame : frames) {
      if (repeats_directories) frame.file = WithoutRepeatedDirectory(frame.file);
    }
  }
  return all;
}

class OracleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Has("llvm-symbolizer")) GTEST_SKIP() << "not installed: llvm-symbolizer";
    directory_ = TestDirectory();
    fs::current_path(directory_);
  }
  void TearDown() override {
    fs::current_path("/");
    if (!HasFailure()) fs::remove_all(directory_);
  }

  // Returns false and skips the test if the program cannot be built here.
  bool Make(const std::string& compiler, const std::string& flags, const std::string& then = "true",
            const std::string& needs = "true") {
    for (const std::string& program : {compiler, needs}) {
      if (Has(program)) continue;
      [&] { GTEST_SKIP() << "not installed: " << program; }();
      return false;
    }
    const bool made = Succeeds(compiler + " -std=c++14 -O2 " + flags + " -o program " +
                               TestFile("inlines.cc") + " && " + then);
    EXPECT_TRUE(made) << compiler << " " << flags << " && " << then;
    return made;
  }

  // Compares the results. If `their_path` is given, the other symbolizers read that file, which has
  // the same code.
  void Compare(const std::string& path, bool with_addr2line = false,
               const std::string& their_path = "") {
    const std::vector<uint64_t> addresses = RandomCode(path, AddressCount());
    ASSERT_FALSE(addresses.empty());
    std::ostringstream list;
    for (const uint64_t address : addresses) list << "0x" << std::hex << address << "\n";
    WriteFile(directory_ + "/addresses", list.str());
    const std::vector<Frames> ours = AskOurs(path, addresses);
    EXPECT_EQ(Differences(addresses, ours, AskLlvm(their_path.empty() ? path : their_path), true),
              "");
    if (!with_addr2line) return;
    EXPECT_EQ(Differences(addresses, ours, Ask("addr2line", path), false), "");
  }

 private:
  static std::vector<uint64_t> RandomCode(const std::string& path, size_t count) {
    const auto bytes = Bytes(ReadFile(path));
    const auto image = ElfImage::Parse(bytes);
    const ElfSection* text = image.ok() ? image->FindSection(".text") : nullptr;
    if (text == nullptr) return {};
    std::mt19937_64 random(1);
    std::vector<uint64_t> addresses(count);
    for (uint64_t& address : addresses) address = text->address.value + random() % text->size;
    return addresses;
  }

  static std::vector<Frames> AskOurs(const std::string& path,
                                     const std::vector<uint64_t>& addresses) {
    SymbolizerOptions options;
    options.demangle = false;
    const auto symbolizer = CreateSymbolizer(options);
    ImageSpec spec;
    spec.path = fs::absolute(path);
    const ImageId image = symbolizer->AddImage(spec);
    std::vector<Frames> all;
    for (const uint64_t address : addresses) {
      Frames& frames = all.emplace_back();
      for (const NamedFunction& f : symbolizer->NameAt(image, {address}).functions) {
        frames.push_back(
            {std::string(f.name), fs::path(f.file).lexically_normal(), absl::StrCat(f.line)});
      }
    }
    return all;
  }

  // Returns a text with all differences. Empty if at least 99.9 % of the addresses have equal
  // results or differ as accepted at the top of this file.
  static std::string Differences(const std::vector<uint64_t>& addresses,
                                 const std::vector<Frames>& ours, const std::vector<Frames>& theirs,
                                 bool names) {
    if (theirs.size() != ours.size()) {
      return absl::StrCat("answers: ", ours.size(), " and ", theirs.size());
    }
    size_t equal = 0, padding = 0, without_information = 0, different = 0, frames = 0;
    std::string text;
    for (size_t i = 0; i < ours.size(); ++i) {
      frames += ours[i].size();
      const std::string our_text = ToText(ours[i], names);
      const std::string their_text = ToText(theirs[i], names);
      if (our_text == their_text) {
        ++equal;
      } else if (ours[i].empty()) {
        ++padding;
      } else if (ours[i][0].file.empty() && theirs[i].size() == 1 && theirs[i][0].line == "0") {
        ++without_information;
      } else if (++different <= 5) {
        absl::StrAppend(&text, absl::Hex(addresses[i]), "\nours\n", our_text, "theirs\n",
                        their_text);
      }
    }
    std::cout << (names ? "llvm-symbolizer: " : "addr2line: ") << equal << " equal of "
              << ours.size() << " addresses, " << frames << " frames; " << padding
              << " in padding, " << without_information << " without information, " << different
              << " different\n";
    if (different * 1000 <= ours.size() && equal * 2 > ours.size()) return "";
    return absl::StrCat(text, different, " different, ", equal, " equal");
  }

  std::string directory_;
};

constexpr bool kAskAddr2line = true;

TEST_F(OracleTest, GccDwarf5) {
  if (Make("g++", "-gdwarf-5")) Compare("program");
}
TEST_F(OracleTest, GccDwarf4) {
  if (Make("g++", "-gdwarf-4")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccDwarf3) {
  if (Make("g++", "-gdwarf-3")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccDwarf2) {
  if (Make("g++", "-gdwarf-2")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccFunctionSectionsOfWhichTheLinkerDropsSome) {
  if (Make("g++", "-gdwarf-4 -ffunction-sections -fkeep-inline-functions -Wl,--gc-sections")) {
    Compare("program", kAskAddr2line);
  }
}
TEST_F(OracleTest, GccTypeUnits) {
  if (Make("g++", "-g -fdebug-types-section")) Compare("program");
}
TEST_F(OracleTest, GccCompressed) {
  if (Make("g++", "-gdwarf-4 -gz")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccCompressedTheOldWay) {
  // llvm-symbolizer 19 does not read this format, so it reads the uncompressed file.
  if (Make("g++", "-g",
           "cp program before && objcopy --compress-debug-sections=zlib-gnu program")) {
    Compare("program", !kAskAddr2line, "before");
  }
}
TEST_F(OracleTest, GccCompressedByZstd) {
  // llvm-symbolizer 14 does not read this format, so it reads the uncompressed file.
  if (Make("g++", "-g", "cp program before && objcopy --compress-debug-sections=zstd program")) {
    Compare("program", !kAskAddr2line, "before");
  }
}
TEST_F(OracleTest, GccStaticWithoutPositionIndependence) {
  if (Make("g++", "-gdwarf-4 -static -fno-pie")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccDebugFileBeside) {
  if (Make("g++", "-gdwarf-4 -Wl,--build-id",
           "objcopy --only-keep-debug program program.debug && strip program && "
           "objcopy --add-gnu-debuglink=program.debug program")) {
    Compare("program", kAskAddr2line);
  }
}
TEST_F(OracleTest, GccDwz) {
  if (Make("g++", "-gdwarf-4", "dwz program", "dwz")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, GccDwzAlternateFile) {
  // llvm-symbolizer 14 does not read alternate files, so it reads the original file.
  if (!Make("g++", "-g", "cp program other && cp program before && dwz -m common program other",
            "dwz")) {
    return;
  }
  Compare("program", !kAskAddr2line, "before");
}
TEST_F(OracleTest, GccSplitDwarf5) {
  if (Make("g++", "-gdwarf-5 -gsplit-dwarf")) Compare("program");
}
TEST_F(OracleTest, GccSplitDwarf4) {
  if (Make("g++", "-gdwarf-4 -gsplit-dwarf")) Compare("program");
}
TEST_F(OracleTest, GccPackageOfSplitDwarf4) {
  // dwp of binutils is only part of gold since 2.44.
  const std::string dwp = Has("dwp") ? "dwp" : "llvm-dwp";
  if (Make("g++", "-gdwarf-4 -gsplit-dwarf", dwp + " -e program -o program.dwp && rm *.dwo", dwp)) {
    Compare("program");
  }
}
TEST_F(OracleTest, GccPackageOfSplitDwarf5) {
  if (Make("g++", "-gdwarf-5 -gsplit-dwarf", "llvm-dwp -e program -o program.dwp && rm *.dwo",
           "llvm-dwp")) {
    Compare("program");
  }
}
TEST_F(OracleTest, ClangDwarf5) {
  if (Make("clang++", "-gdwarf-5")) Compare("program");
}
TEST_F(OracleTest, ClangDwarf4) {
  if (Make("clang++", "-gdwarf-4")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, ClangDwarf3) {
  if (Make("clang++", "-gdwarf-3")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, ClangDwarf2) {
  if (Make("clang++", "-gdwarf-2")) Compare("program", kAskAddr2line);
}
TEST_F(OracleTest, ClangDwarf5WithOffsetsOf64Bits) {
  if (Make("clang++", "-gdwarf-5 -gdwarf64")) Compare("program");
}
TEST_F(OracleTest, ClangSplitDwarf5) {
  if (Make("clang++", "-gdwarf-5 -gsplit-dwarf")) Compare("program");
}
TEST_F(OracleTest, ClangSplitDwarf4) {
  if (Make("clang++", "-gdwarf-4 -gsplit-dwarf")) Compare("program");
}
TEST_F(OracleTest, ClangTypeUnits) {
  if (Make("clang++", "-gdwarf-5 -fdebug-types-section")) Compare("program");
}
TEST_F(OracleTest, Rust) {
  // rustc may be Debian's or rustup's.
  const std::string rustc =
      "PATH=$PATH:" + std::string(getpwuid(getuid())->pw_dir) + "/.cargo/bin rustc";
  if (!Succeeds(rustc + " --version >/dev/null 2>&1")) GTEST_SKIP() << "not installed: rustc";
  ASSERT_TRUE(Succeeds(rustc + " -g -O -o program " + TestFile("inlines.rs")));
  Compare("program");
}
TEST_F(OracleTest, Libc) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!fs::exists(libc) || !fs::exists("/usr/share/doc/libc6-dbg")) {
    GTEST_SKIP() << "not installed: libc6-dbg";
  }
  Compare(libc);
}

}  // namespace
}  // namespace profiler::symbolize
