// Compares rules derived from instructions with call frame information from compilers and from
// authors of hand-written assembly. Leaves out code that catches exceptions: no path leads there,
// and without call frame information there are no exceptions. Also leaves out functions of hundreds
// of KB, such as two unrolled ones in libcrypto: half of each is taken for separate functions, and
// each would count as much as a thousand others.

#include <glob.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/base/mapped_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/derived_rules.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kLargest = uint64_t{64} << 10;  // largest function in bytes that is compared

struct Comparison {
  size_t told = 0;     // instructions with a simple rule in call frame information
  size_t derived = 0;  // instructions among `told` that also have a derived rule
  size_t wrong = 0;    // instructions among `derived` whose two rules differ
  std::string first_wrong;
};

// Returns true if both rules lead to the same caller. The slot of the caller's frame pointer does
// not matter while this pointer is still in its register. Compilers may describe frames relative to
// the stack pointer, even if the frame pointer points to the frame too.
bool IsSame(const UnwindRule& told, const UnwindRule& derived) {
  if (told.kind == UnwindRule::kFromStackPointer && derived.kind == UnwindRule::kFromFramePointer) {
    return derived.cfa_offset == -8 * told.frame_slot && told.frame_slot == derived.frame_slot &&
           told.return_slot == told.frame_slot + 1 && told.return_slot == derived.return_slot;
  }
  return told.kind == derived.kind && told.cfa_offset == derived.cfa_offset &&
         told.return_slot == derived.return_slot &&
         (told.frame_slot == derived.frame_slot || derived.frame_slot == 0);
}

std::string Text(const UnwindRule& rule) {
  return absl::StrCat(rule.kind == UnwindRule::kFromFramePointer ? "fp+" : "sp+", rule.cfa_offset,
                      " return at ", rule.return_slot * 8, " fp at ", rule.frame_slot * 8);
}

Comparison Compare(const std::string& path) {
  Comparison all;
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return all;
  const ElfImage elf = *ElfImage::Parse(file->bytes());
  const auto table = *CfiTable::Create(elf);
  const Architecture architecture = table->architecture();
  DerivedRules derived(architecture, elf, nullptr);
  // Linkage tables are not compared: they are recognized by their sections.
  const ElfSection& text = *elf.FindSection(".text");
  for (size_t at = 0; at < text.contents.size();) {
    const ElfAddress address{text.address.value + at};
    FrameInstruction instruction(architecture);
    if (!instruction.Decode(text.contents.subspan(at), address)) {
      ++at;
      continue;
    }
    at += instruction.length();
    const UnwindRule rule = table->Find(address);
    const bool is_simple =
        rule.kind == UnwindRule::kFromStackPointer || rule.kind == UnwindRule::kFromFramePointer;
    const auto function = table->FunctionAt(address);
    if (!is_simple || !function || function->size > kLargest) continue;
    ++all.told;
    bool compiled = false;
    const UnwindRule found = derived.Find(address, &compiled).rule;
    if (found.kind == UnwindRule::kNone) continue;
    ++all.derived;
    if (IsSame(rule, found)) continue;
    if (all.wrong++ != 0) continue;
    all.first_wrong =
        absl::StrCat(absl::Hex(address.value), ": told ", Text(rule), ", derived ", Text(found));
  }
  return all;
}

std::string Describe(const std::string& path, const Comparison& c) {
  const auto percent = [](size_t part, size_t whole) {
    return absl::StrFormat("%.2f %%",
                           100.0 * static_cast<double>(part) / static_cast<double>(whole));
  };
  return absl::StrCat(path, ": of ", c.told, " instructions ", percent(c.derived, c.told),
                      " derived, of these ", percent(c.wrong, c.derived), " wrong; ",
                      c.first_wrong);
}

void ExpectAgreement(const std::string& path, double least_derived = 0.95,
                     double most_wrong = 0.01) {
  const Comparison compared = Compare(path);
  const std::string text = Describe(path, compared);
  std::cout << text << "\n";
  ASSERT_GT(compared.told, 0u) << path;
  EXPECT_GE(compared.derived, least_derived * compared.told) << text;
  EXPECT_LE(compared.wrong, most_wrong * compared.derived) << text;
}

TEST(DerivedRulesOracleTest, FramesAreWhereTheirCompilersSay) {
  for (const char* compiler : {"gcc", "clang"}) {
    for (const char* kind : {"debug_frame", "static"}) {
      ExpectAgreement(absl::StrCat("symbolize/unwind/testdata/", compiler, "_", kind));
    }
  }
}

// Returns paths of C and C++ libraries that Debian has installed for compilers of other machines.
std::vector<std::string> LibrariesOfOtherMachines() {
  std::vector<std::string> paths;
  for (const Architecture architecture : Architectures()) {
    if (architecture->machine.empty() || architecture == kNativeArchitecture) continue;
    for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6"}) {
      const std::string path =
          absl::StrCat("/usr/", std::string(architecture->machine), "-linux-gnu/lib/", name);
      if (access(path.c_str(), R_OK) == 0) paths.push_back(path);
    }
  }
  return paths;
}

TEST(DerivedRulesOracleTest, FramesOfOtherMachinesLibrariesAreWhereTheirCompilersSay) {
  const std::vector<std::string> paths = LibrariesOfOtherMachines();
  if (paths.empty()) {
    GTEST_SKIP() << "no libraries of other machines (see Debian's g++-MACHINE-linux-gnu)";
  }
  // Less than 100 %, because landing pads of exceptions have no derived rules.
  for (const std::string& path : paths) ExpectAgreement(path, 0.94);
}

TEST(DerivedRulesOracleTest, FramesOfThisMachinesLibrariesAreWhereTheirCompilersSay) {
  for (const char* pattern : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
                              "/usr/lib/x86_64-linux-gnu/libcrypto.so.?"}) {
    glob_t found;
    if (glob(pattern, 0, nullptr, &found) != 0) continue;
    const std::string path = found.gl_pathv[0];
    globfree(&found);
    // Some assembly code in OpenSSL 3.5 sets up frames and has no information about them.
    ExpectAgreement(path, 0.95, path.find("libcrypto") == std::string::npos ? 0.01 : 0.02);
  }
}

}  // namespace
}  // namespace profiler::symbolize
