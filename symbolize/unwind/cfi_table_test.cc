#include "symbolize/unwind/cfi_table.h"

#include <dwarf.h>
#include <zlib.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/cfi_table_fixture.h"

namespace profiler::symbolize {
namespace {

EhFrameBuilder TwoFunctions();

TEST(CfiTable, NothingOfAFileThatHasChangedIsBelieved) {
  const Table table(ElfBuilder().Section(".eh_frame", kFrames, TwoFunctions().section()).Build());
  EXPECT_EQ(table.At(0x1000), "sp 8 return -1");
  *table.has_changed = true;
  EXPECT_EQ(table.At(0x1001), "sp 16 return -1 frame -2") << "compiled before";
  EXPECT_FALSE(table.table->is_outdated());
  EXPECT_EQ(table.At(0x1040), "none");
  EXPECT_TRUE(table.table->is_outdated());
  EXPECT_EQ(table.At(0x1001), "none");
  EXPECT_FALSE(table.table->FunctionAt({0x1040}).has_value());
}

EhFrameBuilder TwoFunctions() {
  EhFrameBuilder frames(kFrames, {});
  frames.Add({.start = 0x1000,
              .size = 0x10,
              .instructions = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6,
                               2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6}});
  frames.Add({.start = 0x1040, .size = 0x20});
  return frames;
}

void ExpectTwoFunctions(const Table& table) {
  EXPECT_EQ(table.At(0xfff), "none");
  EXPECT_EQ(table.At(0x1000), "sp 8 return -1");
  EXPECT_EQ(table.At(0x1001), "sp 16 return -1 frame -2");
  EXPECT_EQ(table.At(0x1003), "sp 16 return -1 frame -2");
  EXPECT_EQ(table.At(0x1004), "fp 16 return -1 frame -2");
  EXPECT_EQ(table.At(0x100f), "fp 16 return -1 frame -2");
  EXPECT_EQ(table.At(0x1010), "none");
  EXPECT_EQ(table.At(0x103f), "none");
  EXPECT_EQ(table.At(0x1040), "sp 8 return -1");
  EXPECT_EQ(table.At(0x105f), "sp 8 return -1");
  EXPECT_EQ(table.At(0x1060), "none");
}

TEST(CfiTableTest, FindsRowsThroughTheHeader) {
  const EhFrameBuilder frames = TwoFunctions();
  ExpectTwoFunctions(Table(ElfBuilder()
                               .Section(".eh_frame_hdr", kHeader, frames.Header(kHeader))
                               .Section(".eh_frame", kFrames, frames.section())
                               .Build()));
}

TEST(CfiTableTest, FindsRowsWithoutAHeader) {
  ExpectTwoFunctions(
      Table(ElfBuilder().Section(".eh_frame", kFrames, TwoFunctions().section()).Build()));
}

TEST(CfiTableTest, FindsRowsWithAHeaderOfAnotherEncoding) {
  ByteBuilder header{1, 0x1b, 0x03, 0x1b};
  header.U32(kFrames - kHeader - 4).U32(0);
  ExpectTwoFunctions(Table(ElfBuilder()
                               .Section(".eh_frame_hdr", kHeader, header)
                               .Section(".eh_frame", kFrames, TwoFunctions().section())
                               .Build()));
}

TEST(CfiTableTest, AHeaderThatLeadsElsewhereFindsNothing) {
  const EhFrameBuilder frames = TwoFunctions();
  ByteBuilder header = frames.Header(kHeader);
  header.Patch32(16, 0x7fffffff);                            // outside the section
  header.Patch32(24, kFrames + frames.offset(0) - kHeader);  // another function
  const Table table(ElfBuilder()
                        .Section(".eh_frame_hdr", kHeader, header)
                        .Section(".eh_frame", kFrames, frames.section())
                        .Build());
  EXPECT_EQ(table.At(0x1000), "none");
  EXPECT_EQ(table.At(0x1040), "none");
}

// Formats "start+size" of the function at each address; "-" for none.
std::string Functions(const Table& table, std::initializer_list<uint64_t> addresses) {
  std::string text;
  for (const uint64_t address : addresses) {
    const auto function = table.table->FunctionAt({address});
    absl::StrAppend(&text, text.empty() ? "" : " ");
    if (function) {
      absl::StrAppend(&text, absl::Hex(function->start.value), "+", absl::Hex(function->size));
    } else {
      text += "-";
    }
  }
  return text;
}

TEST(CfiTableTest, KnowsWhereAFunctionStartsAndEnds) {
  const EhFrameBuilder frames = TwoFunctions();
  const std::string expected = "- 1000+10 1000+10 - 1040+20 1040+20 -";
  EXPECT_EQ(Functions(Table(ElfBuilder()
                                .Section(".eh_frame_hdr", kHeader, frames.Header(kHeader))
                                .Section(".eh_frame", kFrames, frames.section())
                                .Build()),
                      {0xfff, 0x1000, 0x100f, 0x1010, 0x1040, 0x105f, 0x1060}),
            expected);
  EXPECT_EQ(Functions(Table(ElfBuilder()
                                .Section(".debug_frame", 0,
                                         DebugFrame({}, {{.start = 0x1000, .size = 0x10},
                                                         {.start = 0x1040, .size = 0x20}}),
                                         0)
                                .Build()),
                      {0xfff, 0x1000, 0x100f, 0x1010, 0x1040, 0x105f, 0x1060}),
            expected);
  EXPECT_EQ(Functions(Table(ElfBuilder().Build()), {0, 0x1000, ~uint64_t{0}}), "- - -");
}

TEST(CfiTableTest, FindsRowsInDebugFrame) {
  const ByteBuilder frames =
      DebugFrame({DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1},
                 {{.start = 0x1040, .size = 0x20},
                  {.start = 0x1000, .size = 0x10, .instructions = {DW_CFA_def_cfa_offset, 24}}});
  const Table table(ElfBuilder().Section(".debug_frame", 0, frames, 0).Build());
  EXPECT_EQ(table.At(0x1000), "sp 24 return -1");
  EXPECT_EQ(table.At(0x1010), "none");
  EXPECT_EQ(table.At(0x105f), "sp 8 return -1");
}

TEST(CfiTableTest, FindsInDebugFrameWhatEhFrameLacks) {
  const ByteBuilder debug_frame = DebugFrame({DW_CFA_def_cfa, 7, 32, DW_CFA_offset | 16, 1},
                                             {{.start = 0x1000, .size = 0x2000}});
  const ElfBuilder image = ElfBuilder().Section(".eh_frame", kFrames, TwoFunctions().section());
  const ElfBuilder debug = ElfBuilder().Section(".debug_frame", 0, debug_frame, 0);
  const Table table(image.Build(), debug.Build());
  EXPECT_EQ(table.At(0x1000), "sp 8 return -1");
  EXPECT_EQ(table.At(0x1020), "sp 32 return -1");
}

ByteBuilder Deflated(const ByteBuilder& contents) {
  std::vector<Bytef> room(contents.size() + 1000);
  uLongf size = room.size();
  EXPECT_EQ(compress(room.data(), &size, reinterpret_cast<const Bytef*>(contents.bytes().data()),
                     contents.size()),
            Z_OK);
  ByteBuilder deflated;
  for (size_t i = 0; i < size; ++i) deflated.U8(room[i]);
  return deflated;
}

TEST(CfiTableTest, FindsRowsInCompressedDebugFrame) {
  const ByteBuilder frames = DebugFrame({DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1}, {{}});
  const ByteBuilder header = ByteBuilder().U32(ELFCOMPRESS_ZLIB).U32(0).U64(frames.size()).U64(8);
  const Table table(
      ElfBuilder()
          .Section(".debug_frame", 0, ByteBuilder(header).Bytes(Deflated(frames)), SHF_COMPRESSED)
          .Build());
  EXPECT_EQ(table.At(0x1000), "sp 8 return -1");

  ByteBuilder gnu{'Z', 'L', 'I', 'B', 0, 0, 0, 0};
  gnu.U8(0)
      .U8(0)
      .U8(static_cast<int>(frames.size() >> 8))
      .U8(static_cast<int>(frames.size() & 255));
  const Table old(ElfBuilder().Section(".zdebug_frame", 0, gnu.Bytes(Deflated(frames)), 0).Build());
  EXPECT_EQ(old.At(0x1000), "sp 8 return -1");
}

TEST(CfiTableTest, ACompressedSectionThatLiesAboutItsSizeFindsNothing) {
  const ByteBuilder header =
      ByteBuilder().U32(ELFCOMPRESS_ZLIB).U32(0).U64(uint64_t{1} << 60).U64(8);
  const Table table(ElfBuilder().Section(".debug_frame", 0, header, SHF_COMPRESSED).Build());
  EXPECT_EQ(table.At(0x1000), "none");
}

TEST(CfiTableTest, PacksSavedFramePointers) {
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2}), "sp 16 return -1 frame -2");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2}), "fp 16 return -1 frame -2");
}

TEST(CfiTableTest, PacksLargeFrames) {
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_def_cfa_offset}.Uleb(1 << 30)), "sp 1073741824 return -1");
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_def_cfa_offset}.Uleb(uint64_t{1} << 31)), "full");
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_offset | 6}.Uleb(1 << 12)), "sp 8 return -1 frame -4096");
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_offset | 6}.Uleb((1 << 12) + 1)), "full");
}

TEST(CfiTableTest, LeavesOutRegistersThatAreNotFollowed) {
  EXPECT_EQ(RuleOf({DW_CFA_offset | 3, 2, DW_CFA_offset | 12, 3, DW_CFA_undefined, 0}),
            "sp 8 return -1");
}

TEST(CfiTableTest, RulesThatNeedMoreAreFull) {
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa, 10, 0}), "full");  // another base register
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 8}), "full");
  EXPECT_EQ(RuleOf({DW_CFA_register, 16, 5}), "full");  // vfork
  EXPECT_EQ(RuleOf({DW_CFA_undefined, 6}), "full");     // no frame pointer
  EXPECT_EQ(RuleOf({DW_CFA_same_value, 7}), "full");    // stack pointer
  EXPECT_EQ(RuleOf({DW_CFA_val_offset, 6, 2}), "full");
}

TEST(CfiTableTest, AnUndefinedReturnAddressIsTheStartOfAThread) {
  EXPECT_EQ(RuleOf({DW_CFA_undefined, 16}), "thread start");
}

TEST(CfiTableTest, PacksLinkageTables) {
  const ByteBuilder push_at_11{DW_OP_breg0 + 7, 8,         DW_OP_breg0 + 16, 0,
                               DW_OP_lit15,     DW_OP_and, DW_OP_lit11,      DW_OP_ge,
                               DW_OP_lit3,      DW_OP_shl, DW_OP_plus};
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_def_cfa_expression}.Block(push_at_11)),
            "linkage table 8 return 11");
  const ByteBuilder other{DW_OP_breg0 + 7, 8,         DW_OP_breg0 + 16, 0,
                          DW_OP_lit15,     DW_OP_and, DW_OP_lit11,      DW_OP_ge,
                          DW_OP_lit4,      DW_OP_shl, DW_OP_plus};
  EXPECT_EQ(RuleOf(ByteBuilder{DW_CFA_def_cfa_expression}.Block(other)), "full");
}

TEST(CfiTableTest, KnowsLinkageTablesByTheirSections) {
  const ByteBuilder code{0, 0, 0, 0, 0, 0, 0, 0};
  const Table table(ElfBuilder()
                        .Section(".plt", 0x2000, code, SHF_ALLOC | SHF_EXECINSTR)
                        .Section(".plt.sec", 0x2100, code, SHF_ALLOC | SHF_EXECINSTR)
                        .Build());
  EXPECT_EQ(table.At(0x2004), "linkage table 8 return 11");
  EXPECT_EQ(table.At(0x2008), "none");
  EXPECT_EQ(table.At(0x2100), "sp 8 return -1");
}

TEST(CfiTableTest, PacksRealignedFrames) {
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref,
                    DW_CFA_expression, 6, 2, DW_OP_breg0 + 6, 0}),
            "realigned -8 return -1");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref}), "full");
}

TEST(CfiTableTest, TellsSignalFrames) {
  EXPECT_EQ(RuleOf({}, {.augmentation = "zRS"}), "sp 8 return -1 signal");
}

TEST(CfiTableTest, OnI386SlotsHaveFourBytes) {
  EXPECT_EQ(RuleOf({}, CieOfI386(), EM_386), "sp 4 return -1");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa, 5, 8, DW_CFA_offset | 5, 2}, CieOfI386(), EM_386),
            "fp 8 return -1 frame -2");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 5, 0x7c, DW_OP_deref,
                    DW_CFA_expression, 5, 2, DW_OP_breg0 + 5, 0},
                   CieOfI386(), EM_386),
            "realigned -4 return -1");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa, 1, 0}, CieOfI386(), EM_386), "full");
  EXPECT_EQ(RuleOf({DW_CFA_undefined, 8}, CieOfI386(), EM_386), "thread start");
}

TEST(CfiTableTest, OnI386AddressesHaveFourBytes) {
  CieSpec absolute = CieOfI386();
  absolute.augmentation = "z";
  EXPECT_EQ(RuleOf({}, absolute, EM_386), "sp 4 return -1");
  absolute.version = 4;
  EXPECT_EQ(RuleOf({}, absolute, EM_386), "sp 4 return -1");
  absolute.address_size = 8;
  EXPECT_EQ(RuleOf({}, absolute, EM_386), "none");
}

TEST(CfiTableTest, FullRulesHaveAllRegisters) {
  EhFrameBuilder frames(kFrames, {});
  frames.Add({.instructions = {DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 1, DW_CFA_restore | 3}});
  const Table table(ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build());
  FrameRules rules;
  ASSERT_EQ(table.table->FullRules({0x1000}, &rules), CfiTable::Told::kRules);
  EXPECT_EQ(rules.registers[3], (RegisterRule{.kind = RegisterRule::kOffset, .offset = -16}));
  ASSERT_EQ(table.table->FullRules({0x1001}, &rules), CfiTable::Told::kRules);
  EXPECT_EQ(rules.registers[3], RegisterRule());
  EXPECT_EQ(table.table->FullRules({0x1100}, &rules), CfiTable::Told::kNothing);
}

// Returns `count` instructions without effect.
ByteBuilder Nothing(size_t count) {
  ByteBuilder code;
  for (size_t i = 0; i < count; ++i) code.U8(DW_CFA_nop);
  return code;
}

TEST(CfiTableTest, AFunctionOfWhichTooMuchIsSaidHasTheRulesThatComeFirst) {
  EhFrameBuilder frames(kFrames, {});
  ByteBuilder instructions = {DW_CFA_advance_loc | 1};
  instructions.Bytes(Nothing(1 << 18)).U8(DW_CFA_advance_loc | 1);
  frames.Add({.instructions = instructions}).Add({.start = 0x2000});
  const Table table(ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build());
  EXPECT_EQ(table.At(0x1000), "sp 8 return -1");
  EXPECT_EQ(table.At(0x1001), "too long");
  EXPECT_EQ(table.At(0x10ff), "too long");
  EXPECT_EQ(table.At(0x1100), "none");
  EXPECT_EQ(table.At(0x2000), "sp 8 return -1");
  FrameRules rules;
  EXPECT_EQ(table.table->FullRules({0x1001}, &rules), CfiTable::Told::kTooLong);
}

TEST(CfiTableTest, FunctionsThatShareALongBeginningAreNotAllCompiled) {
  ByteBuilder common = CieSpec().instructions;
  EhFrameBuilder frames(kFrames, {.instructions = common.Bytes(Nothing(20000))});
  constexpr uint64_t kFunctions = 1000;
  for (uint64_t i = 0; i < kFunctions; ++i) frames.Add({.start = 0x10000 + i * 0x100});
  const Table table(ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build());
  std::map<std::string, int> count;
  for (uint64_t i = 0; i < kFunctions; ++i) ++count[table.At(0x10000 + i * 0x100)];
  EXPECT_EQ(count.size(), 2u);
  EXPECT_GT(count["sp 8 return -1"], 4);
  EXPECT_LT(count["sp 8 return -1"], 20);
  EXPECT_EQ(table.At(0x100ff), "sp 8 return -1") << "compiled before";
}

TEST(CfiTableTest, FullRulesAreNotEvaluatedAgainAndAgain) {
  EhFrameBuilder frames(kFrames, {});
  ByteBuilder rows;
  rows.Bytes(Nothing(100000));
  for (int i = 0; i < 64; ++i) rows.U8(DW_CFA_advance_loc | 1);
  frames.Add({.instructions = rows});
  const Table table(ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build());
  FrameRules rules;
  const auto told = [&](uint64_t address) { return table.table->FullRules({address}, &rules); };
  table.table->StartChain(1);
  int times = 0;
  while (times < 64 && told(0x1000 + static_cast<uint64_t>(times)) == CfiTable::Told::kRules) {
    ++times;
  }
  EXPECT_EQ(times, 11);
  EXPECT_EQ(told(0x1009), CfiTable::Told::kRules) << "known from before";
  table.table->StartChain(2);
  EXPECT_EQ(told(0x100b), CfiTable::Told::kTooLong);
  table.table->StartChain(100);
  EXPECT_EQ(told(0x100b), CfiTable::Told::kRules);
}

// The table of a file, whose sections use a budget.
struct Budgeted {
  Budgeted(const std::vector<std::byte>& file, FrameBudget& budget)
      : elf(*ElfImage::Parse(file)), table(*CfiTable::Create(elf, nullptr, nullptr, &budget)) {}

  UnwindRule::Kind KindAt(uint64_t address) const {
    return static_cast<UnwindRule::Kind>(table->Find({address}).kind);
  }

  ElfImage elf;
  std::unique_ptr<CfiTable> table;
};

const ByteBuilder kFrameOf32{DW_CFA_def_cfa_offset, 40};

// Returns code that calls the code `at` bytes after its end:
// sub $32, %rsp; call; add $32, %rsp; ret
ByteBuilder CallsInside(int at) {
  return {0x48, 0x83, 0xec, 0x20, 0xe8, 5 + at, 0, 0, 0, 0x48, 0x83, 0xc4, 0x20, 0xc3};
}

TEST(CfiTableTest, AHelperInsideAFunctionHasTheRulesOfItsInstructions) {
  // dec %ecx; jnz; ret
  EXPECT_EQ(RulesOf(CallsInside(0).Bytes({0xff, 0xc9, 0x75, 0xfc, 0xc3}), kFrameOf32),
            "0: sp 40 return -1\n"
            "e: sp 8 return -1\n");
  // push %rbx; sub $16, %rsp; add $16, %rsp; pop %rbx; ret; more of the function
  EXPECT_EQ(RulesOf(CallsInside(0).Bytes({0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0x83, 0xc4, 0x10,
                                          0x5b, 0xc3, 0x90, 0xc3}),
                    kFrameOf32),
            "0: sp 40 return -1\n"
            "e: sp 8 return -1\n"
            "f: sp 16 return -1\n"
            "13: sp 32 return -1\n"
            "17: sp 16 return -1\n"
            "18: sp 8 return -1\n"
            "19: sp 40 return -1\n");
}

TEST(CfiTableTest, AHelperMayCallAnotherOne) {
  // push %rbx; call 2f; pop %rbx; ret; 2: push %rbx; pop %rbx; ret
  EXPECT_EQ(RulesOf(CallsInside(0).Bytes({0x53, 0xe8, 2, 0, 0, 0, 0x5b, 0xc3, 0x53, 0x5b, 0xc3}),
                    kFrameOf32),
            "0: sp 40 return -1\n"
            "e: sp 8 return -1\n"
            "f: sp 16 return -1\n"
            "15: sp 8 return -1\n"
            "17: sp 16 return -1\n"
            "18: sp 8 return -1\n");
}

TEST(CfiTableTest, WhatCountsTheCallOfAHelperStays) {
  const ByteBuilder helper{0x53, 0x5b, 0xc3};  // push %rbx; pop %rbx; ret
  EXPECT_EQ(RulesOf(CallsInside(0).Bytes(helper),
                    ByteBuilder(kFrameOf32)
                        .Bytes({DW_CFA_advance_loc | 14, DW_CFA_def_cfa_offset, 48})
                        .Bytes({DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 56})
                        .Bytes({DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 48})),
            "0: sp 40 return -1\n"
            "e: sp 48 return -1\n"
            "f: sp 56 return -1\n"
            "10: sp 48 return -1\n");
  EXPECT_EQ(RulesOf(CallsInside(0).Bytes(helper), {DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2}),
            "0: fp 16 return -1 frame -2\n");
}

TEST(CfiTableTest, CodeThatIsReachedWithACallAndWithoutHasNoRule) {
  // nop; 1: dec %ecx; ret; the call leads to 1
  EXPECT_EQ(RulesOf({0xe8, 1, 0, 0, 0, 0x90, 0xff, 0xc9, 0xc3, 0x90, 0xc3}, {}),
            "0: sp 8 return -1\n"
            "6: none\n"
            "9: sp 8 return -1\n");
}

TEST(CfiTableTest, ACallOverDataOrOfTheNextInstructionIsOfNoHelper) {
  // call 1f; two bytes; 1: pop %rax; call 2f; 2: pop %rax; ret
  EXPECT_EQ(RulesOf({0xe8, 2, 0, 0, 0, 0x90, 0x90, 0x58, 0xe8, 0, 0, 0, 0, 0x58, 0xc3}, {}),
            "0: sp 8 return -1\n");
}

TEST(CfiTableTest, TablesThatShareABudgetCompileNoMoreThanThat) {
  EhFrameBuilder frames(kFrames, {});
  for (uint64_t i = 0; i < 4; ++i) {
    frames.Add({.start = 0x1000 + i * 0x100, .instructions = Nothing(400)});
  }
  const auto file = ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build();
  FrameBudget budget({.instructions = 1000, .instructions_of_sample = 500, .memory = 1 << 20});
  const Budgeted first(file, budget), second(file, budget);
  EXPECT_EQ(first.KindAt(0x1000), UnwindRule::kFromStackPointer);
  EXPECT_EQ(second.KindAt(0x1000), UnwindRule::kFromStackPointer);
  EXPECT_EQ(second.KindAt(0x1100), UnwindRule::kTooLong);
  EXPECT_EQ(first.KindAt(0x1100), UnwindRule::kTooLong);
  EXPECT_EQ(first.KindAt(0x1000), UnwindRule::kFromStackPointer) << "compiled before";
  budget.StartSample();
  EXPECT_EQ(first.KindAt(0x1200), UnwindRule::kFromStackPointer);
  FrameRules rules;
  EXPECT_EQ(first.table->FullRules({0x1000}, &rules), CfiTable::Told::kTooLong);
  budget.StartSample();
  EXPECT_EQ(first.table->FullRules({0x1000}, &rules), CfiTable::Told::kRules);
}

TEST(CfiTableTest, TablesThatShareABudgetTakeNoMoreMemoryThanThat) {
  EhFrameBuilder frames(kFrames, {});
  for (uint64_t i = 0; i < 1000; ++i) frames.Add({.start = 0x1000 + i * 0x100});
  const auto file = ElfBuilder()
                        .Section(".eh_frame", kFrames, frames.section())
                        .Section(".eh_frame_hdr", 0x80000, frames.Header(0x80000))
                        .Build();
  FrameBudget budget({.memory = 25'000});
  const Budgeted first(file, budget);
  EXPECT_EQ(first.KindAt(0x1000), UnwindRule::kFromStackPointer);
  {
    const Budgeted second(file, budget);
    EXPECT_EQ(second.KindAt(0x1000), UnwindRule::kFromStackPointer);
    EXPECT_EQ(Budgeted(file, budget).KindAt(0x1000), UnwindRule::kTooLong) << "no room for rows";
  }
  EXPECT_EQ(Budgeted(file, budget).KindAt(0x1000), UnwindRule::kFromStackPointer);
}

TEST(CfiTableTest, ASectionWithoutAnIndexIsReadAsFarAsTheBudgetGoes) {
  EhFrameBuilder frames(kFrames, {});
  for (uint64_t i = 0; i < 100; ++i) frames.Add({.start = 0x1000 + i * 0x100});
  const auto file = ElfBuilder().Section(".eh_frame", kFrames, frames.section()).Build();
  FrameBudget budget({.instructions = 400});
  const Budgeted table(file, budget);
  EXPECT_EQ(budget.instructions_left(), 0u);
  EXPECT_TRUE(table.table->FunctionAt({0x1000}).has_value());
  EXPECT_FALSE(table.table->FunctionAt({0x1000 + 60 * 0x100}).has_value());
}

TEST(CfiTableTest, AnImageThatSaysNothingHasNoRules) {
  const Table table(ElfBuilder().Entry(0x1000).Build());
  EXPECT_EQ(table.At(0x1000), "none");
  EXPECT_EQ(table.table->entry().value, 0x1000u);
}

TEST(CfiTableTest, OtherMachinesAreNotUnwound) {
  const std::vector<std::byte> file = ElfBuilder(EM_RISCV).Build();
  EXPECT_EQ(CfiTable::Create(*ElfImage::Parse(file)).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CfiTableTest, TablesHaveIdsOfTheirOwn) {
  const Table a(ElfBuilder().Build());
  const Table b(ElfBuilder().Build());
  EXPECT_NE(a.table->id(), b.table->id());
}

}  // namespace
}  // namespace profiler::symbolize
