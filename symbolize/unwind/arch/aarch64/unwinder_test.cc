#include <dwarf.h>
#include <elf.h>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/unwinder_fixture.h"

namespace profiler::symbolize {
namespace {

class AArch64UnwinderTest : public UnwinderTest {};

TEST_F(AArch64UnwinderTest, ALeafReturnsByItsLinkRegister) {
  const CieSpec cie = {
      .code_alignment = 4, .return_address = 30, .instructions = {DW_CFA_def_cfa, 31, 0}};
  Functions({{},
             {DW_CFA_def_cfa, 29, 16, DW_CFA_offset | 29, 2, DW_CFA_offset | 30, 1},
             {DW_CFA_undefined, 30}},
            cie, EM_AARCH64);
  registers_.Set(30, InFunction(1));
  registers_.Set(29, kStack);
  // The return address on the stack is signed.
  EXPECT_EQ(Unwind(InFunction(0), {0x77, InFunction(2) | uint64_t{0x2a} << 50}),
            "401010 402010r 403010r thread start");
  // The link register belongs to the innermost frame only.
  registers_.Set(30, InFunction(0));
  EXPECT_EQ(Unwind(InFunction(0), {}), "401010 401010r bad register");
}

const CieSpec kCie = {
    .code_alignment = 4, .return_address = 30, .instructions = {DW_CFA_def_cfa, 31, 0}};
const ByteBuilder kThreadStart{DW_CFA_undefined, 30};

ByteBuilder Instructions(std::initializer_list<uint32_t> words) {
  ByteBuilder code;
  for (const uint32_t word : words) code.U32(word);
  return code;
}

constexpr uint32_t kNop = 0xd503201f, kBl = 0x94000004, kRet = 0xd65f03c0;
constexpr uint64_t kSignature = uint64_t{0x2a} << 50;

TEST_F(AArch64UnwinderTest, AHandlersSignedReturnAddressLeadsToTheReturnFromItsSignal) {
  // The handler has saved the return address to the signal's return, signed.
  Functions({{DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 2}, kThreadStart}, kCie, EM_AARCH64);
  const uint64_t restorer = kCode + 0x500;
  space_->SetMemory(restorer, Instructions({0xd2801168, 0xd4000001}));  // mov x8, #139; svc #0
  std::vector<uint64_t> stack(2 + 39 + 34);
  stack[0] = restorer | kSignature;
  stack[2 + 39 + 30] = InFunction(0);
  stack[2 + 39 + 31] = kStack + 8;
  stack[2 + 39 + 32] = InFunction(1, 0);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 400500 402000* thread start");
}

TEST_F(AArch64UnwinderTest, TheReturnFromASignalMayBeUnderWay) {
  Functions({kThreadStart}, kCie, EM_AARCH64);
  const uint64_t restorer = kCode + 0x500;
  space_->SetMemory(restorer - 8, Instructions({kNop, kNop}));
  space_->SetMemory(restorer, Instructions({0xd2801168, 0xd4000001, kNop, kNop, kNop, kNop}));
  std::vector<uint64_t> stack(39 + 34);
  stack[39 + 31] = kStack + 512;
  stack[39 + 32] = InFunction(0, 0);
  for (const uint64_t at : {0, 4, 8}) {
    EXPECT_EQ(Unwind(restorer + at, stack), absl::StrCat("40050", at, " 401000* thread start"));
  }
}

// The link register and the information of glibc's clone describe the parent, which called it.
TEST_F(AArch64UnwinderTest, AThreadAtItsFirstInstructionHasNoCaller) {
  Functions({{}, {}, kThreadStart}, kCie, EM_AARCH64);
  const uint64_t after = InFunction(0);
  const auto after_system_call = [&](std::initializer_list<uint32_t> code) {
    for (uint64_t i = 0; i < 64; i += 4) space_->SetMemory(after + i, Instructions({kNop}));
    space_->SetMemory(after - 4, Instructions({0xd4000001}));  // svc #0
    space_->SetMemory(after, Instructions(code));
    registers_.Set(30, InFunction(1));
    registers_.Set(8, 435);
    registers_.Set(1, 88);
    registers_.Set(0, 0);
  };
  const std::string parent = "401010 402010r bad register";
  // cmp x0, #0; b.eq to kThreadStart, 0x1fec bytes further; ret
  const std::initializer_list<uint32_t> branches = {0xf100001f, 0x5400ff60, kRet};
  after_system_call(branches);
  EXPECT_EQ(Unwind(after, {}), "401010 thread start");
  registers_.Set(0, 244);
  EXPECT_EQ(Unwind(after, {}), parent);
  // The child of glibc's vfork uses its parent's stack (clone with x1 = sp), and returns there.
  after_system_call({0xb140041f, 0x54000042, kRet});  // cmn x0, #4095; b.cs; ret
  registers_.Set(8, 220);
  registers_.Set(1, kStack);
  EXPECT_EQ(Unwind(after, {}), parent);
}

TEST_F(AArch64UnwinderTest, AFrameFoundByItsFramePointerMayBeginFurtherOut) {
  // Function 0 has no information. Function 1 has its frame record at the lower end of a frame of
  // 48 bytes. Function 2 has it at the upper end.
  Functions({kThreadStart,
             {DW_CFA_def_cfa_offset, 48, DW_CFA_offset | 29, 6, DW_CFA_offset | 30, 5},
             {DW_CFA_def_cfa_offset, 48, DW_CFA_offset | 29, 2, DW_CFA_offset | 30, 1},
             {DW_CFA_def_cfa_offset, 48, DW_CFA_offset | 30, 1}},
            kCie, EM_AARCH64);
  const auto stack = [&](int caller, uint64_t record) {
    std::vector<uint64_t> words(20);
    words[1] = kStack + record * 8;
    words[2] = InFunction(caller) | kSignature;
    words[record] = 0;
    words[record + 1] = InFunction(0) | kSignature;
    return words;
  };
  registers_.Set(29, kStack + 8);
  EXPECT_EQ(Unwind(kJit, stack(1, 7)), "900000 402010r? 401010r thread start");
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 7 * 8 + 48);
  EXPECT_EQ(Unwind(kJit, stack(2, 11)), "900000 403010r? 401010r thread start");
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 13 * 8);
  // A function that does not save its caller's frame pointer cannot be located.
  EXPECT_EQ(Unwind(kJit, stack(3, 11)), "900000 404010r? bad register");
}

TEST_F(AArch64UnwinderTest, AnInterruptedFunctionThatHasNoFrameKeepsItsCaller) {
  Functions({kThreadStart}, kCie, EM_AARCH64);
  for (uint64_t i = 0; i < 0x100; i += 4) space_->SetMemory(kJit + i, Instructions({kNop}));
  constexpr uint64_t kCaller = kJit + 0x80;
  space_->SetMemory(kCaller - 4, Instructions({kBl}));
  registers_.Set(30, kCaller | kSignature);
  registers_.Set(29, kStack + 24);  // x29 points to the caller's frame
  const std::vector<uint64_t> stack = {0, 0, 2, 0x99, InFunction(0)};
  const std::string both = "900010 900080r? 401010r? thread start";
  for (const uint32_t first : {0xd503233fu /* paciasp */, 0xa9be7bfdu /* stp x29, x30 */, kRet}) {
    space_->SetMemory(kJit + 0x10, Instructions({first}));
    EXPECT_EQ(Unwind(kJit + 0x10, stack), both);
  }
  // mov x29, sp
  space_->SetMemory(kJit + 0x10, Instructions({0x910003fd}));
  EXPECT_EQ(Unwind(kJit + 0x10, {kStack + 24, kCaller | kSignature, 2, 0x99, InFunction(0)}), both);
  // Instructions in the middle of a function show nothing.
  space_->SetMemory(kJit + 0x10, Instructions({kNop, 0x14000001}));
  EXPECT_EQ(Unwind(kJit + 0x10, stack), "900010 401010r? thread start");
}

TEST_F(AArch64UnwinderTest, AFunctionThatHasNotCalledReturnsByItsLinkRegister) {
  Functions({kThreadStart}, kCie, EM_AARCH64);
  for (uint64_t i = 0; i < 0x100; i += 4) space_->SetMemory(kJit + i, Instructions({0x14000001}));
  constexpr uint64_t kCaller = kJit + 0x80, kInterrupted = kJit + 0x20;
  // bl to 0x900010
  space_->SetMemory(kCaller - 4, Instructions({0x97ffffe5}));
  registers_.Set(30, kCaller);
  registers_.Set(29, kStack + 8);
  const std::vector<uint64_t> stack = {0, 0x99, InFunction(0)};
  EXPECT_EQ(Unwind(kInterrupted, stack), "900020 900080r? 401010r? thread start");
  // The interrupted instruction is in front of the call's target, so it is in another function.
  EXPECT_EQ(Unwind(kJit + 0x0c, stack), "90000c 401010r? thread start");
  // A call, or a save of the link register, lies between the target and the interrupted
  // instruction.
  for (const uint32_t use : {kBl, 0xd63f0020u /* blr x1 */, 0xa9017bfdu /* stp x29, x30 */}) {
    space_->SetMemory(kJit + 0x18, Instructions({use}));
    EXPECT_EQ(Unwind(kInterrupted, stack), "900020 401010r? thread start");
  }
}

TEST_F(AArch64UnwinderTest, WhatIsNotSaidOfPrologueAndReturnTheirInstructionsTell) {
  // The rules begin at the end of the prologue.
  Functions(
      {{DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 30, 4}, kThreadStart},
      kCie, EM_AARCH64);
  // sub sp, sp, #16; str x30, [sp, #-16]!; nop; nop; ldr x30, [sp], #32; ret
  space_->SetMemory(InFunction(0, 0),
                    Instructions({0xd10043ff, 0xf81f0ffe, kNop, kNop, 0xf84207fe, kRet}));
  registers_.Set(30, InFunction(1));
  const std::vector<uint64_t> stack = {InFunction(1), 2, 3, 4};
  std::vector<uint64_t> stack_pointers;
  for (const uint64_t at : {0, 4, 8, 12, 16, 20}) {
    EXPECT_EQ(Unwind(InFunction(0, at), stack),
              absl::StrCat("4010", at < 16 ? "0" : "", absl::Hex(at), " 402010r thread start"));
    stack_pointers.push_back(chain_.frames[1].stack_pointer - kStack);
  }
  EXPECT_EQ(stack_pointers, (std::vector<uint64_t>{0, 16, 32, 32, 32, 0}));
}

TEST_F(AArch64UnwinderTest, AFrameDoesNotEndBeforeTheReturnAddressThatItHas) {
  // glibc describes the function for lazy binding like this: CFA = sp, x30 at CFA + 8.
  Functions({{DW_CFA_offset_extended_sf, 30, 0x7f},
             {DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 1},
             kThreadStart},
            kCie, EM_AARCH64);
  EXPECT_EQ(Unwind(InFunction(0), {1, InFunction(1), 2, InFunction(2)}),
            "401010 402010r 403010r thread start");
}

TEST_F(AArch64UnwinderTest, WhereNothingIsSaidOfAFunctionItsInstructionsTell) {
  // sub sp, sp, #48; str x30, [sp, #8]; nop; bl
  const ByteBuilder text = Instructions({0xd100c3ff, 0xf90007fe, kNop, kBl, kNop, kNop});
  Functions({kThreadStart}, kCie, EM_AARCH64, text);
  space_->SetMemory(InFunction(0) - 8, Instructions({kNop, kBl}));
  registers_.Set(29, kStack + 4096);  // belongs to other code
  registers_.Set(30, InFunction(0) | kSignature);
  const std::vector<uint64_t> stack = {1, InFunction(0) | kSignature, 3, 4, 5, 6, 7};
  EXPECT_EQ(Unwind(kCode + 0x100, stack), "400100 401010r? thread start");
  EXPECT_EQ(chain_.frames[1].stack_pointer, kStack);
  registers_.Set(30, 0);
  EXPECT_EQ(Unwind(kCode + 0x108, stack), "400108 401010r? thread start");
  EXPECT_EQ(chain_.frames[1].stack_pointer, kStack + 48);
}

TEST_F(AArch64UnwinderTest, WhereAddressesAreShorterSignaturesAreLonger) {
  Functions(
      {{}, {DW_CFA_def_cfa, 29, 16, DW_CFA_offset | 29, 2, DW_CFA_offset | 30, 1}, kThreadStart},
      kCie, EM_AARCH64);
  constexpr uint64_t kFrom39 = uint64_t{0x155} << 39;
  registers_.Set(30, InFunction(1) | kFrom39);
  registers_.Set(29, kStack);
  for (int i = 0; i < 2; ++i) {
    space_->identity = 1;  // and again, with cached steps
    EXPECT_EQ(Unwind(InFunction(0), {kStack + 16, InFunction(1) | kFrom39, 0, InFunction(2)}),
              "401010 402010r 402010r 403010r thread start");
  }
  EXPECT_EQ(Unwind(kJit, {0x77, InFunction(2) | kFrom39}), "900000 403010r? thread start");
}

TEST_F(AArch64UnwinderTest, VectorsOfSaveAreasAreAsLongAsTheThreadSays) {
  // CFA = sp + 16 + 16 * VG, as GCC and Clang write it.
  ByteBuilder with_vectors{DW_CFA_def_cfa_expression, 10, DW_OP_breg0 + 31, 16, DW_OP_bregx, 46, 0};
  with_vectors.U8(DW_OP_lit16).U8(DW_OP_mul).U8(DW_OP_plus).U8(DW_OP_nop).U8(DW_OP_nop);
  with_vectors.U8(DW_CFA_offset | 30).U8(1);
  Functions({with_vectors, kThreadStart}, kCie, EM_AARCH64);
  std::vector<uint64_t> stack(16);
  stack[9] = InFunction(1);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 bad register");
  registers_.SetVectorGranule(4);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r thread start");
}

TEST_F(AArch64UnwinderTest, WhatGccSavedBeforeItMadeRoomForVectorsIsWhereItWasSaved) {
  // sub sp, sp, #16; stp x29, x30, [sp]; addvl sp, sp, #-2
  ByteBuilder with_vectors{DW_CFA_def_cfa_expression, 2, DW_OP_breg31, 16};
  with_vectors.U8(DW_CFA_advance_loc | 1).Bytes({DW_CFA_expression, 29, 2, DW_OP_breg31, 0});
  with_vectors.Bytes({DW_CFA_expression, 30, 2, DW_OP_breg31, 8});
  with_vectors.U8(DW_CFA_advance_loc | 1).Bytes({DW_CFA_def_cfa_expression, 8});
  with_vectors.Bytes({DW_OP_breg31, 16, DW_OP_bregx, 46, 0, DW_OP_lit16, DW_OP_mul, DW_OP_plus});
  Functions({{},
             with_vectors,
             {DW_CFA_def_cfa, 29, 16, DW_CFA_offset | 29, 2, DW_CFA_offset | 30, 1},
             kThreadStart},
            kCie, EM_AARCH64);
  std::vector<uint64_t> stack(16);
  registers_.SetVectorGranule(4);
  registers_.Set(30, InFunction(1));
  stack[8] = kStack + 12 * 8;
  stack[9] = InFunction(2);
  stack[13] = InFunction(3);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r 403010r 404010r thread start");
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 10 * 8);
}

TEST(AArch64RegistersTest, NumbersAreThoseOfPerf) {
  ByteBuilder values;
  for (int i = 0; i < 33; ++i) values.U64(static_cast<uint64_t>(100 + i));
  const auto registers =
      RegisterSet::FromPerf(Architecture::kAArch64, 2, 0x1ffffffff, values.bytes());
  ASSERT_TRUE(registers.has_value());
  EXPECT_EQ(registers->fp(), 129u);
  EXPECT_EQ(registers->Get(30), 130u);
  EXPECT_EQ(registers->sp(), 131u);
  EXPECT_EQ(registers->pc(), 132u);
}

TEST(AArch64RegistersTest, ProgramsWith32BitsCannotBeUnwound) {
  ByteBuilder values;
  for (int i = 0; i < 24; ++i) values.U64(static_cast<uint64_t>(100 + i));
  EXPECT_FALSE(RegisterSet::FromPerf(Architecture::kAArch64, 1, 0xffffff, values.bytes()));
}

}  // namespace
}  // namespace profiler::symbolize
