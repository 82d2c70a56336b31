#include "symbolize/go/table/functions.h"

#include <elf.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/go/table/testing/table_builder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kText = 0x1000, kEnd = 0x1400;

const std::vector<GoFunctionSpec> kFunctions = {
    {.name = "runtime.goexit", .start = 0x1000, .flags = GoFunctionSpec::kTopFrame},
    {.name = "runtime.systemstack", .start = 0x1100, .flags = GoFunctionSpec::kWritesStackPointer},
    {.name = "main.(*node).sum", .start = 0x1200, .pieces = {{0, 4}, {24, 0xf0}, {0, 12}}},
    {.name = "runtime.mcall", .start = 0x1300}};

std::vector<std::byte> FileWith(const ByteBuilder& table) {
  return ElfBuilder()
      .Section(".text", kText, ByteBuilder().U64(0), SHF_ALLOC | SHF_EXECINSTR)
      .Section(".gopclntab", 0x8000, table)
      .Segment(0, kText, 0x1000, PF_X | PF_R)
      .Build();
}

// Formats one line per function.
std::string Text(const GoFunctions& functions) {
  std::string text;
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::optional<GoFunction> function = functions[i];
    if (!function) {
      text += "damaged\n";
      continue;
    }
    absl::StrAppend(&text, absl::Hex(function->start.value), "+", absl::Hex(function->size), " ");
    text += function->name;
    text += function->is_outermost ? " outermost" : "";
    text += function->switches_stack ? " switches\n" : "\n";
  }
  return text;
}

TEST(GoFunctionsTest, EachVersionsTableIsRead) {
  for (const GoVersion version : {GoVersion::k1_16, GoVersion::k1_18, GoVersion::k1_20}) {
    const std::vector<std::byte> file = FileWith(GoTable(kFunctions, kEnd, kText, version));
    const std::optional<GoFunctions> functions = GoFunctions::Find(*ElfImage::Parse(file));
    ASSERT_TRUE(functions);
    EXPECT_EQ(Text(*functions),
              "1000+100 runtime.goexit outermost\n"
              "1100+100 runtime.systemstack switches\n"
              "1200+100 main.(*node).sum\n"
              "1300+100 runtime.mcall outermost\n");
  }
}

TEST(GoFunctionsTest, AFunctionIsFoundByItsInstructions) {
  const std::vector<std::byte> file = FileWith(GoTable(kFunctions, kEnd));
  const GoFunctions functions = *GoFunctions::Find(*ElfImage::Parse(file));
  EXPECT_FALSE(functions.At({0xfff}));
  EXPECT_EQ(functions.At({0x1000})->name, "runtime.goexit");
  EXPECT_EQ(functions.At({0x12ff})->name, "main.(*node).sum");
  EXPECT_EQ(functions.At({0x13ff})->name, "runtime.mcall");
  EXPECT_FALSE(functions.At({0x1400}));
}

TEST(GoFunctionsTest, TheFrameIsAsLargeAsTheTableSaysAtAnInstruction) {
  const std::vector<std::byte> file = FileWith(GoTable(kFunctions, kEnd));
  const GoFunctions functions = *GoFunctions::Find(*ElfImage::Parse(file));
  const GoFunction sum = *functions.At({0x1200});
  uint64_t steps = 0;
  std::string sizes;
  for (const uint64_t at : {0x1200, 0x1203, 0x1204, 0x12f3, 0x12f4, 0x12ff}) {
    absl::StrAppend(&sizes, *functions.FrameSize(sum, {at}, &steps), " ");
  }
  EXPECT_EQ(sizes, "0 0 24 24 0 0 ");
  EXPECT_EQ(steps, 1u + 1 + 2 + 2 + 3 + 3);
  EXPECT_FALSE(functions.FrameSize(sum, {0x1300}, &steps));
}

TEST(GoFunctionsTest, WhereTheHeaderDoesNotSayWhereCodeBeginsTheSectionDoes) {
  const std::vector<std::byte> file = FileWith(GoTable(kFunctions, kEnd, kText));
  std::vector<std::byte> without = file;
  const ElfImage image = *ElfImage::Parse(file);
  const uint64_t said_at = image.FindSection(".gopclntab")->offset.value + 24;
  std::fill_n(without.begin() + static_cast<std::ptrdiff_t>(said_at), 8, std::byte{0});
  EXPECT_EQ(Text(*GoFunctions::Find(*ElfImage::Parse(without))), Text(*GoFunctions::Find(image)));
}

// In a program with C code and Go code, the C code comes first, so .text does not start with Go
// code.
TEST(GoFunctionsTest, WhereTheHeaderDoesNotSayWhereCodeBeginsTheRuntimesModuleDoes) {
  constexpr uint64_t kTable = 0x8000, kModule = 0x9000, kCodeOfC = 0x100;
  ByteBuilder table = GoTable(kFunctions, kEnd, kText);
  table.Patch32(24, 0);
  for (const bool is_of_this_table : {true, false}) {
    ByteBuilder module;
    module.U64(is_of_this_table ? kTable : kTable + 8);
    for (int i = 1; i < 22; ++i) module.U64(7);
    module.U64(kText);
    const std::vector<std::byte> file =
        ElfBuilder()
            .Section(".text", kText - kCodeOfC, ByteBuilder().U64(0), SHF_ALLOC | SHF_EXECINSTR)
            .Section(".gopclntab", kTable, table)
            .Section(".go.module", kModule, module)
            .Segment(0, kText - kCodeOfC, 0x1000, PF_X | PF_R)
            .Build();
    const std::optional<GoFunctions> functions = GoFunctions::Find(*ElfImage::Parse(file));
    ASSERT_TRUE(functions);
    EXPECT_EQ((*functions)[0]->start.value, is_of_this_table ? kText : kText - kCodeOfC);
  }
}

// GNU ld links position-independent programs like this.
TEST(GoFunctionsTest, ATableThatWasMergedIntoAnotherSectionIsFoundInProgramsOfGo) {
  for (const bool is_of_go : {true, false}) {
    ByteBuilder merged;
    merged.U64(5).U64(0xfffffff1).U64(0).U64(6).Bytes(GoTable(kFunctions, kEnd));
    ElfBuilder file;
    file.Section(".data.rel.ro", 0x8000, merged).Segment(0, kText, 0x1000, PF_X | PF_R);
    if (is_of_go) file.Section(".go.buildinfo", 0x9000, ByteBuilder().U64(0));
    const std::vector<std::byte> bytes = file.Build();
    const std::optional<GoFunctions> functions = GoFunctions::Find(*ElfImage::Parse(bytes));
    ASSERT_EQ(functions.has_value(), is_of_go);
    if (is_of_go) {
      EXPECT_EQ(functions->At({0x1250})->name, "main.(*node).sum");
    }
  }
}

TEST(GoFunctionsTest, OtherTablesAreNone) {
  ByteBuilder old_table = GoTable(kFunctions, kEnd);
  old_table.Patch32(0, 0xfffffffb);
  EXPECT_FALSE(GoFunctions::Find(*ElfImage::Parse(FileWith(old_table))));
  EXPECT_FALSE(GoFunctions::Find(*ElfImage::Parse(FileWith({}))));
  EXPECT_FALSE(GoFunctions::Find(*ElfImage::Parse(ElfBuilder().Build())));
}

TEST(GoFunctionsTest, ATableThatIsCutOrDamagedIsReadAsFarAsItGoes) {
  const ByteBuilder table = GoTable(kFunctions, kEnd);
  std::mt19937 random(7);
  for (size_t round = 0; round < 4000; ++round) {
    std::vector<std::byte> bytes = table.bytes();
    if (round < bytes.size()) {
      bytes.resize(round);
    } else {
      for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = std::byte(random());
    }
    ByteBuilder damaged;
    for (const std::byte byte : bytes) damaged.U8(static_cast<int>(byte));
    const std::vector<std::byte> file = FileWith(damaged);
    const std::optional<GoFunctions> functions = GoFunctions::Find(*ElfImage::Parse(file));
    if (!functions) continue;
    uint64_t steps = 0;
    for (size_t i = 0; i < std::min<size_t>(functions->size(), 100); ++i) {
      const std::optional<GoFunction> function = (*functions)[i];
      if (function) functions->FrameSize(*function, function->start, &steps);
    }
    functions->At({0x1250});
    EXPECT_LE(steps, 100u << 16);
  }
}

}  // namespace
}  // namespace profiler::symbolize
