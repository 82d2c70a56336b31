#include "symbolize/unwind/dwarf_expression.h"

#include <dwarf.h>

#include <cstring>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

class FakeMemory : public MemoryReader {
 public:
  std::map<uint64_t, uint64_t> words = {{0x1000, 0x1122334455667788}};
  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const auto it = words.find(address);
    if (it == words.end()) return false;
    std::memcpy(bytes.data(), &it->second, bytes.size());
    return true;
  }
};

std::string Result(const ByteBuilder& expression, std::optional<uint64_t> start = std::nullopt,
                   uint32_t steps = 2000) {
  RegisterSet registers(Architecture::kX86_64);
  registers.Set(6, 0x2000);
  registers.Set(16, 0x401b);
  FakeMemory memory;
  uint64_t result = 0;
  switch (Evaluate(expression.bytes(), registers, memory, start, &steps, &result)) {
    case Evaluation::kDone:
      return absl::StrCat(static_cast<int64_t>(result));
    case Evaluation::kMalformed:
      return "malformed";
    case Evaluation::kUnknownRegister:
      return "unknown register";
    case Evaluation::kUnreadable:
      return "unreadable";
    case Evaluation::kTooLong:
      return "too long";
  }
  return "?";
}

TEST(DwarfExpressionTest, TakesNoMoreStepsThanAreLeft) {
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_lit2, DW_OP_plus}, std::nullopt, 3), "3");
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_lit2, DW_OP_plus}, std::nullopt, 2), "too long");
}

TEST(DwarfExpressionTest, PushesConstants) {
  EXPECT_EQ(Result({DW_OP_lit31}), "31");
  EXPECT_EQ(Result({DW_OP_const1u, 0xff}), "255");
  EXPECT_EQ(Result({DW_OP_const1s, 0xff}), "-1");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const2u}.U16(0xffff)), "65535");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const2s}.U16(0xffff)), "-1");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const4u}.U32(0xffffffff)), "4294967295");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const4s}.U32(0xffffffff)), "-1");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const8u}.U64(77)), "77");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const8s}.U64(~uint64_t{0})), "-1");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_addr}.U64(0x1234)), "4660");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_constu}.Uleb(300)), "300");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_consts}.Sleb(-300)), "-300");
}

TEST(DwarfExpressionTest, ReadsRegisters) {
  EXPECT_EQ(Result(ByteBuilder{DW_OP_breg0 + 6}.Sleb(-8)), "8184");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_bregx, 6}.Sleb(8)), "8200");
  EXPECT_EQ(Result({DW_OP_breg0 + 3, 0}), "unknown register");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_bregx}.Uleb(1000).U8(0)), "unknown register");
}

TEST(DwarfExpressionTest, ReadsMemory) {
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const2u}.U16(0x1000).U8(DW_OP_deref)), "1234605616436508552");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const2u}.U16(0x1000).U8(DW_OP_deref_size).U8(2)), "30600");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_const2u}.U16(0x1000).U8(DW_OP_deref_size).U8(9)), "malformed");
  EXPECT_EQ(Result({DW_OP_lit0, DW_OP_deref}), "unreadable");
}

TEST(DwarfExpressionTest, MovesTheStack) {
  EXPECT_EQ(Result({DW_OP_lit3, DW_OP_dup, DW_OP_plus}), "6");
  EXPECT_EQ(Result({DW_OP_lit3, DW_OP_lit4, DW_OP_drop}), "3");
  EXPECT_EQ(Result({DW_OP_lit3, DW_OP_lit4, DW_OP_over}), "3");
  EXPECT_EQ(Result({DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_pick, 2}), "3");
  EXPECT_EQ(Result({DW_OP_lit3, DW_OP_lit4, DW_OP_swap, DW_OP_minus}), "1");
  // 1 2 3 becomes 3 1 2.
  const ByteBuilder rotated{DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot};
  EXPECT_EQ(Result(rotated), "2");
  EXPECT_EQ(Result(ByteBuilder(rotated).U8(DW_OP_drop)), "1");
  EXPECT_EQ(Result(ByteBuilder(rotated).U8(DW_OP_drop).U8(DW_OP_drop)), "3");
}

TEST(DwarfExpressionTest, Calculates) {
  const auto of = [](int left, int right, int op) {
    return Result({DW_OP_const1s, left, DW_OP_const1s, right, op});
  };
  EXPECT_EQ(of(12, 10, DW_OP_and), "8");
  EXPECT_EQ(of(12, 10, DW_OP_or), "14");
  EXPECT_EQ(of(12, 10, DW_OP_xor), "6");
  EXPECT_EQ(of(12, 10, DW_OP_plus), "22");
  EXPECT_EQ(of(12, 10, DW_OP_minus), "2");
  EXPECT_EQ(of(12, 10, DW_OP_mul), "120");
  EXPECT_EQ(of(-12, 5, DW_OP_div), "-2");
  EXPECT_EQ(of(12, 5, DW_OP_mod), "2");
  EXPECT_EQ(of(12, 2, DW_OP_shl), "48");
  EXPECT_EQ(of(-8, 60, DW_OP_shr), "15");
  EXPECT_EQ(of(-8, 1, DW_OP_shra), "-4");
  EXPECT_EQ(of(1, 64, DW_OP_shl), "0");
  EXPECT_EQ(of(1, 64, DW_OP_shr), "0");
  EXPECT_EQ(of(-1, 64, DW_OP_shra), "-1");
  EXPECT_EQ(Result({DW_OP_const1s, 0xf4, DW_OP_abs}), "12");
  EXPECT_EQ(Result({DW_OP_lit12, DW_OP_neg}), "-12");
  EXPECT_EQ(Result({DW_OP_lit0, DW_OP_not}), "-1");
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_plus_uconst, 5}), "6");
}

TEST(DwarfExpressionTest, ComparesSigned) {
  const auto of = [](int left, int right, int op) {
    return Result({DW_OP_const1s, left, DW_OP_const1s, right, op});
  };
  EXPECT_EQ(of(-1, 1, DW_OP_lt), "1");
  EXPECT_EQ(of(-1, 1, DW_OP_gt), "0");
  EXPECT_EQ(of(1, 1, DW_OP_le), "1");
  EXPECT_EQ(of(1, 1, DW_OP_ge), "1");
  EXPECT_EQ(of(1, 1, DW_OP_eq), "1");
  EXPECT_EQ(of(1, 1, DW_OP_ne), "0");
}

TEST(DwarfExpressionTest, DividingByZeroIsMalformed) {
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_lit0, DW_OP_div}), "malformed");
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_lit0, DW_OP_mod}), "malformed");
}

TEST(DwarfExpressionTest, DividesTheLowestNumberByMinusOne) {
  const ByteBuilder lowest = ByteBuilder{DW_OP_const8u}.U64(uint64_t{1} << 63);
  EXPECT_EQ(Result(ByteBuilder(lowest).U8(DW_OP_const1s).U8(0xff).U8(DW_OP_div)),
            "-9223372036854775808");
}

TEST(DwarfExpressionTest, Jumps) {
  EXPECT_EQ(Result(ByteBuilder{DW_OP_lit5, DW_OP_skip}.U16(1).U8(DW_OP_lit7).U8(DW_OP_nop)), "5");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_lit5, DW_OP_lit1, DW_OP_bra}.U16(1).U8(DW_OP_lit7)), "5");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_lit5, DW_OP_lit0, DW_OP_bra}.U16(1).U8(DW_OP_lit7)), "7");
  EXPECT_EQ(Result(ByteBuilder{DW_OP_lit5, DW_OP_skip}.U16(100)), "malformed");
}

TEST(DwarfExpressionTest, EndlessLoopsEnd) {
  EXPECT_EQ(Result(ByteBuilder{DW_OP_skip}.U16(static_cast<uint16_t>(-3))), "malformed");
}

TEST(DwarfExpressionTest, TheStackHasABottomAndATop) {
  EXPECT_EQ(Result({DW_OP_plus}), "malformed");
  EXPECT_EQ(Result({DW_OP_lit1, DW_OP_plus}), "malformed");
  EXPECT_EQ(Result({}), "malformed");
  ByteBuilder many;
  for (int i = 0; i < 65; ++i) many.U8(DW_OP_lit1);
  EXPECT_EQ(Result(many), "malformed");
}

TEST(DwarfExpressionTest, StartsWithTheCfa) {
  EXPECT_EQ(Result({DW_OP_plus_uconst, 8}, 100), "108");
}

TEST(DwarfExpressionTest, OperatorsThatNeedMoreThanAFrameAreMalformed) {
  EXPECT_EQ(Result({DW_OP_fbreg, 0}), "malformed");
  EXPECT_EQ(Result({DW_OP_call_frame_cfa}), "malformed");
}

TEST(DwarfExpressionTest, CutOperandsAreMalformed) {
  EXPECT_EQ(Result({DW_OP_const8u, 1, 2}), "malformed");
}

TEST(DwarfExpressionTest, FindsTheCfaOfALinkageTable) {
  // The pc ends with b, so the entry has pushed.
  EXPECT_EQ(Result({DW_OP_breg0 + 6, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                    DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}),
            "8208");
}

TEST(DwarfExpressionTest, OnI386NumbersHaveThirtyTwoBits) {
  RegisterSet registers(Architecture::kI386);
  registers.Set(4, 0xfffffff0);
  FakeMemory memory;
  const auto result = [&](const ByteBuilder& expression) {
    uint32_t steps = 1000;
    uint64_t value = 0;
    EXPECT_EQ(Evaluate(expression.bytes(), registers, memory, std::nullopt, &steps, &value),
              Evaluation::kDone);
    return value;
  };
  EXPECT_EQ(result({DW_OP_breg0 + 4, 0x20}), 0x10u);
  EXPECT_EQ(result(ByteBuilder{DW_OP_addr}.U32(0x1234)), 0x1234u);
  EXPECT_EQ(result({DW_OP_const1s, 0xff}), 0xffffffffu);
  EXPECT_EQ(result({DW_OP_const1s, 0xff, DW_OP_abs}), 1u);
  EXPECT_EQ(result({DW_OP_const1s, 0xff, DW_OP_lit0, DW_OP_lt}), 1u);
  EXPECT_EQ(result({DW_OP_const1s, 0xf8, DW_OP_lit1, DW_OP_shra}), 0xfffffffcu);
  EXPECT_EQ(result({DW_OP_const1s, 0xf8, DW_OP_lit4, DW_OP_div}), 0xfffffffeu);
}

}  // namespace
}  // namespace profiler::symbolize
