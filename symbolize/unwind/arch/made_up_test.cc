// Adds an architecture that does not exist. This file has all that a new one needs: copy
// kMadeUpTraits to arch/NAME/NAME.cc and kMadeUpRegisterNames to arch/NAME/register_names.cc, name
// them kNameTraits and kNameRegisterNames, and add ARCHITECTURE(Name) to arch/list.h.

#include <dwarf.h>

#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/register_names.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {
namespace {

// The PDP-12: eight registers r0 … r3, fp, lr, sp, pc, whose DWARF numbers count backwards. Calls
// put the return address into lr. Addresses have 40 bits.
constexpr uint8_t kPc = 0, kSp = 1, kLr = 2, kFp = 3;
constexpr std::array<uint8_t, 8> kPerfOrder = {7, 6, 5, 4, kFp, kLr, kSp, kPc};

constinit const ArchitectureTraits kMadeUpTraits = {
    .name = "PDP-12",
    .machine = "pdp12",
    .elf_machine = 0xfe12,
    .numbers = {.pc = kPc, .sp = kSp, .fp = kFp, .return_address = kLr, .exception = {7, 6}},
    .callee_saved = 1 << kFp,
    .address_mask = (uint64_t{1} << 40) - 1,
    .perf_order = kPerfOrder,
    .perf_registers = 0xff,
    .instruction_size = 2,
    .has_link_register = true,
    .function_alignment = 2,
};

constexpr std::array<std::string_view, 8> kNames = {"r0", "r1", "r2", "r3", "fp", "lr", "sp", "pc"};

constinit const RegisterNames kMadeUpRegisterNames = {
    .belongs_to = [](std::string_view machine) { return machine == "pdp12"; },
    .names = kNames,
};

constexpr Architecture kMadeUp(kMadeUpTraits);
constexpr uint64_t kStack = 0x7fff0000;

// One image at its ELF addresses.
class OneImage : public UnwindSpace {
 public:
  explicit OneImage(CfiTable* cfi) : cfi_(cfi) {}
  bool FindCode(RuntimeAddress address, MappedCode* code) override {
    if (address.value < 0x1000 || address.value >= 0x5000) return false;
    *code = {.start = {0x1000}, .size = 0x4000, .cfi = cfi_};
    return true;
  }
  bool ReadMemory(uint64_t /*address*/, std::span<std::byte> /*bytes*/) override { return false; }

 private:
  CfiTable* cfi_;
};

// The registers of a sample, each 0x100 plus its bit, but for pc, sp and lr.
RegisterSet Sampled(uint64_t pc, uint64_t lr) {
  ByteBuilder values;
  for (uint64_t bit = 0; bit < 5; ++bit) values.U64(0x100 + bit);
  values.U64(lr).U64(kStack).U64(pc);
  return *RegisterSet::FromPerf(kMadeUp, /*abi=*/2, kMadeUp->perf_registers, values.bytes());
}

TEST(MadeUpArchitectureTest, RegistersHaveNamesAndNumbers) {
  const RegisterSet registers = Sampled(0x1010, 0x2010);
  std::string text;
  for (size_t bit = 0; bit < kNames.size(); ++bit) {
    absl::StrAppend(&text, std::string(kMadeUpRegisterNames.names[bit]), "=",
                    absl::Hex(registers.Get(kMadeUp->perf_order[bit])), " ");
  }
  EXPECT_EQ(text, "r0=100 r1=101 r2=102 r3=103 fp=104 lr=2010 sp=7fff0000 pc=1010 ");
  EXPECT_EQ(registers.fp(), 0x104u);
  // It runs no programs with 32 bits.
  EXPECT_FALSE(RegisterSet::FromPerf(kMadeUp, /*abi=*/1, 0xff, {}).has_value());
}

TEST(MadeUpArchitectureTest, ItsProgramsAreUnwoundByCallFrameInformation) {
  // A leaf; a function with 24 bytes of frame and lr on top; the start of a thread.
  EhFrameBuilder frames(
      0x50000,
      {.code_alignment = 2, .return_address = kLr, .instructions = {DW_CFA_def_cfa, kSp, 0}});
  frames.Add({.start = 0x1000});
  frames.Add({.start = 0x2000,
              .instructions = {DW_CFA_def_cfa_offset, 24, DW_CFA_offset | kLr, 1,
                               DW_CFA_offset | kFp, 2}});
  frames.Add({.start = 0x3000, .instructions = {DW_CFA_undefined, kLr}});
  const auto file =
      ElfBuilder(kMadeUp->elf_machine).Section(".eh_frame", 0x50000, frames.section()).Build();
  const auto table = CfiTable::CreateFor(kMadeUp, *ElfImage::Parse(file));
  OneImage space(table.get());
  const ByteBuilder stack =
      ByteBuilder().U64(1).U64(0x77).U64(0x3010 | uint64_t{1} << 50);  // a tagged address
  Unwinder unwinder(nullptr);
  UnwoundChain chain;
  unwinder.Unwind(Sampled(0x1010, 0x2010), {kStack, stack.bytes()}, space, {}, &chain);
  std::string text;
  for (const UnwoundFrame& frame : chain.frames) {
    absl::StrAppend(&text, absl::Hex(frame.address.value), " ");
  }
  EXPECT_EQ(text + std::string(ChainEndName(chain.end)), "1010 2010 3010 thread start");
  EXPECT_EQ(chain.registers.fp(), 0x77u);
  EXPECT_EQ(chain.registers.sp(), kStack + 24);
}

// No part of its code is known, so functions without information are left by frame pointers.
TEST(MadeUpArchitectureTest, ItsProgramsAreUnwoundByFramePointers) {
  const auto file = ElfBuilder(kMadeUp->elf_machine).Build();
  const auto table = CfiTable::CreateFor(kMadeUp, *ElfImage::Parse(file));
  OneImage space(table.get());
  RegisterSet registers = Sampled(0x1010, 0);
  registers.Set(kFp, kStack + 8);
  const ByteBuilder stack = ByteBuilder().U64(0).U64(kStack + 24).U64(0x2010).U64(0).U64(0x3010);
  Unwinder unwinder(nullptr);
  UnwoundChain chain;
  unwinder.Unwind(registers, {kStack, stack.bytes()}, space, {}, &chain);
  std::string text;
  for (const UnwoundFrame& frame : chain.frames) {
    absl::StrAppend(&text, absl::Hex(frame.address.value), " ");
  }
  EXPECT_EQ(text, "1010 2010 3010 ");
}

}  // namespace
}  // namespace profiler::symbolize
