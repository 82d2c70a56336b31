// Compares every instruction of this test's C library with `objdump -d`.

#include <elf.h>
#include <stdio.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "src/views/annotate/disassembler.h"

#if defined(__x86_64__)

namespace profiler::annotate {
namespace {

constexpr size_t kMostLines = 200'000;

std::string LibcPath() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libc.so.6") != std::string::npos) return line.substr(line.find('/'));
  }
  return {};
}

// A line such as " 2e0f0:\t48 89 e5 \tmov %rsp,%rbp".
struct Line {
  uint64_t address = 0;
  std::vector<std::byte> code;
  std::string text;
};

bool Parse(const std::string& line, Line* parsed) {
  const std::vector<std::string> parts = absl::StrSplit(line, '\t');
  if (parts.size() != 3) return false;
  const absl::string_view address = absl::StripAsciiWhitespace(parts[0]);
  parsed->address = std::stoull(std::string(absl::StripSuffix(address, ":")), nullptr, 16);
  parsed->code.clear();
  for (const absl::string_view byte : absl::StrSplit(parts[1], ' ', absl::SkipEmpty())) {
    parsed->code.push_back(static_cast<std::byte>(std::stoul(std::string(byte), nullptr, 16)));
  }
  parsed->text = parts[2];
  return true;
}

// Removes layout, and objdump's remarks after the instruction.
std::string Plain(std::string text) {
  text.resize(std::min({text.size(), text.find(" <"), text.find(" # ")}));
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  return absl::StrReplaceAll(absl::StrJoin(words, " "), {{", ", ","}, {" {", "{"}});
}

// Returns our text, with a jump's target as objdump prints it: without 0x.
std::string Ours(const Instruction& instruction) {
  std::string text = Plain(instruction.text);
  if (!instruction.target) return text;
  const std::string target = absl::StrCat("0x", absl::Hex(*instruction.target));
  if (absl::EndsWith(text, target)) text.erase(text.size() - target.size(), 2);
  return text;
}

struct Comparison {
  size_t lines = 0, different = 0;
  std::map<std::string, std::pair<size_t, std::string>> kinds;  // by mnemonic, with an example

  std::string Text() const {
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [kind, seen] : kinds) sorted.emplace_back(seen);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    std::string text = absl::StrCat(different, " of ", lines, " lines differ\n");
    for (const auto& [count, example] : sorted) absl::StrAppend(&text, count, "  ", example, "\n");
    return text;
  }
};

Comparison Compare(const std::string& file, Syntax syntax) {
  Comparison comparison;
  const auto disassembler = *Disassembler::Create(EM_X86_64, syntax);
  const std::string command = absl::StrCat(
      "objdump -dw -M ", syntax == Syntax::kAtt ? "att " : "intel ", file, " 2>/dev/null");
  FILE* const output = popen(command.c_str(), "r");
  char buffer[1024];
  Line line;
  while (comparison.lines < kMostLines && fgets(buffer, sizeof(buffer), output) != nullptr) {
    if (!Parse(std::string(absl::StripSuffix(buffer, "\n")), &line)) continue;
    ++comparison.lines;
    const Instruction instruction = disassembler->Decode(line.code, line.address);
    const std::string ours = Ours(instruction), theirs = Plain(line.text);
    if (ours == theirs && instruction.size == line.code.size()) continue;
    ++comparison.different;
    auto& [count, example] = comparison.kinds[theirs.substr(0, theirs.find(' '))];
    if (count++ == 0) example = absl::StrCat("objdump: ", theirs, "   ours: ", ours);
  }
  pclose(output);
  return comparison;
}

class ObjdumpOracleTest : public testing::TestWithParam<Syntax> {};

// The remaining differences are equally readable: `vpcmpb $0x0` for `vpcmpeqb`, `rep stosl` for
// `rep stos %eax, %es:(%rdi)`, `fs:[0x28]` for `fs:0x28`, `shr $0x1` for `shr` or `shr $1`.
TEST_P(ObjdumpOracleTest, SpellsTheCLibraryAsObjdumpDoes) {
  const std::string libc = LibcPath();
  if (libc.empty()) GTEST_SKIP() << "the test runs without a shared C library";
  const Comparison comparison = Compare(libc, GetParam());
  if (comparison.lines == 0) GTEST_SKIP() << "objdump is not there, or cannot read " << libc;
  std::cout << comparison.Text();
  EXPECT_LT(comparison.different * 50, comparison.lines) << "more than two in a hundred";
}

INSTANTIATE_TEST_SUITE_P(Syntaxes, ObjdumpOracleTest,
                         testing::Values(Syntax::kAtt, Syntax::kIntel));

}  // namespace
}  // namespace profiler::annotate

#endif
