// Fuzzes unwinding with the call frame information, registers and stack of a hostile program. The
// input is:
//
//   u8 machine, sections and mappings │ u8 words of stack │ 33 × u64 registers │ stack │ call frame
//   information

#include <dwarf.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "symbolize/go/stack_switches.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/unwinder.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/unwind_through.h"

namespace profiler::fuzz {
namespace {

using symbolize::ByteBuilder;
using symbolize::kRegisters;

constexpr uint32_t kMaxFrames = 64;
constexpr uint64_t kSection = 0x5000, kCode = 0x1000;
enum Choice : uint8_t {
  kWithLink = 1,  // an architecture with a link register
  kDebugFrame = 2,
  kCompressed = 4,
  kWithHeader = 8,
  kWithHoles = 16,
  kBare = 32,  // no call frame information; the input ends with code
  kI386 = 64,
};

struct Parts {
  uint8_t choice = 0;
  std::array<uint64_t, kRegisters> registers{};
  std::span<const std::byte> stack, frames;
};

Parts Split(std::span<const std::byte> input) {
  Parts parts;
  if (input.size() < 2 + sizeof(parts.registers)) return parts;
  parts.choice = std::to_integer<uint8_t>(input[0]);
  const size_t stack_size = std::to_integer<size_t>(input[1]) * 8;
  input = input.subspan(2);
  std::memcpy(parts.registers.data(), input.data(), sizeof(parts.registers));
  input = input.subspan(sizeof(parts.registers));
  parts.stack = input.first(std::min(stack_size, input.size()));
  parts.frames = input.subspan(parts.stack.size());
  return parts;
}

// An address space that contains only code of one image. If it has holes, only every other page is
// code.
class OneImage : public symbolize::UnwindSpace {
 public:
  OneImage(const symbolize::ElfImage& image, symbolize::CfiTable* cfi, bool has_holes)
      : image_(image), cfi_(cfi), has_holes_(has_holes) {}
  bool FindCode(RuntimeAddress address, symbolize::MappedCode* code) override {
    constexpr uint64_t kPage = 0x1000;
    *code = {.start = {0}, .size = ~uint64_t{0}, .cfi = cfi_};
    if (has_holes_) code->start.value = address.value & ~(kPage - 1), code->size = kPage;
    return !has_holes_ || (address.value & kPage) == (kCode & kPage);
  }
  uint64_t Identity() const override { return cfi_->id(); }
  // Reads from the image's file.
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override {
    for (const symbolize::ElfSection& section : image_.sections()) {
      const uint64_t distance = address - section.address.value;
      const size_t size = section.contents.size();
      if (section.address.value == 0 || distance >= size || bytes.size() > size - distance)
        continue;
      std::copy_n(section.contents.begin() + static_cast<ptrdiff_t>(distance), bytes.size(),
                  bytes.begin());
      return true;
    }
    return false;
  }

 private:
  const symbolize::ElfImage& image_;
  symbolize::CfiTable* cfi_;
  const bool has_holes_;
};

uint16_t MachineOf(uint8_t choice) {
  if ((choice & kI386) != 0) return EM_386;
  for (const symbolize::Architecture architecture : symbolize::Architectures()) {
    if (HasLinkRegister(architecture) == ((choice & kWithLink) != 0)) {
      return architecture->elf_machine;
    }
  }
  return EM_NONE;
}

Bytes ImageOf(const Parts& parts) {
  ByteBuilder frames;
  for (const std::byte byte : parts.frames) frames.U8(std::to_integer<int>(byte));
  symbolize::ElfBuilder elf(MachineOf(parts.choice));
  if ((parts.choice & kBare) != 0) return elf.Section(".text", kCode, frames).Build();
  if ((parts.choice & kWithHeader) != 0) elf.Section(".eh_frame_hdr", 0x4000, frames);
  if ((parts.choice & kDebugFrame) != 0) {
    elf.Section(".debug_frame", 0, frames, (parts.choice & kCompressed) != 0 ? SHF_COMPRESSED : 0);
  } else {
    elf.Section(".eh_frame", kSection, frames);
  }
  return elf.Build();
}

void UnwindThread(std::span<const std::byte> input) {
  const Parts parts = Split(input);
  const Bytes file = ImageOf(parts);
  const auto image = symbolize::ElfImage::Parse(file);
  if (!image.ok()) return;
  UnwindThrough(*image, parts.registers, parts.stack, (parts.choice & kWithHoles) != 0);
}

Bytes Seed(uint8_t choice, const ByteBuilder& frames) {
  ByteBuilder seed;
  constexpr int kWords = 16;
  constexpr uint64_t kStack = 0x7fff0000;
  seed.U8(choice).U8(kWords);
  const unsigned pc_of_i386 = (choice & kI386) != 0 ? 8 : 16;
  for (unsigned i = 0; i < kRegisters; ++i) {
    seed.U64(i == 16 || i == 32 || i == pc_of_i386 ? kCode + 4 : kStack);
  }
  for (uint64_t i = 0; i < kWords; ++i) seed.U64(i % 2 == 0 ? kCode + 8 : kStack + 8 * i);
  seed.Bytes(frames);
  return seed.bytes();
}

// Returns an expression with every DWARF operator except the binary ones. It computes rsp + 16.
ByteBuilder EveryOperator() {
  constexpr int kDrop = DW_OP_drop;
  ByteBuilder code = {DW_OP_lit1, DW_OP_dup, DW_OP_over, DW_OP_pick, 1, DW_OP_swap, DW_OP_rot};
  code.Bytes({kDrop, kDrop, kDrop, kDrop, DW_OP_const1u, 1, kDrop, DW_OP_const1s, 1, kDrop});
  code.U8(DW_OP_addr).U64(1).U8(kDrop).U8(DW_OP_const8u).U64(1).U8(kDrop);
  code.U8(DW_OP_const2u).U16(1).U8(kDrop).U8(DW_OP_const2s).U16(1).U8(kDrop);
  code.U8(DW_OP_const4u).U32(1).U8(kDrop).U8(DW_OP_const4s).U32(1).U8(kDrop);
  code.U8(DW_OP_constu).Uleb(1).U8(kDrop).U8(DW_OP_consts).Sleb(-1).U8(DW_OP_abs).U8(kDrop);
  code.Bytes({DW_OP_bregx, 7, 0, DW_OP_deref, kDrop, DW_OP_breg7, 0, DW_OP_deref_size, 4, kDrop});
  code.Bytes({DW_OP_lit1, DW_OP_neg, DW_OP_not, DW_OP_plus_uconst, 1, kDrop, DW_OP_nop});
  code.Bytes({DW_OP_skip, 0, 0, DW_OP_lit0, DW_OP_bra, 0, 0, DW_OP_lit1, DW_OP_bra, 0, 0});
  return code.Bytes({DW_OP_breg7, 16});
}

ByteBuilder EveryBinaryOperator() {
  ByteBuilder code;
  for (const int op : {DW_OP_and, DW_OP_or, DW_OP_xor, DW_OP_plus, DW_OP_minus, DW_OP_mul,
                       DW_OP_div, DW_OP_mod, DW_OP_shl, DW_OP_shr, DW_OP_shra, DW_OP_eq, DW_OP_ne,
                       DW_OP_lt, DW_OP_le, DW_OP_gt, DW_OP_ge}) {
    code.Bytes({DW_OP_lit9, DW_OP_lit3, op, DW_OP_drop});
  }
  return code.Bytes({DW_OP_breg7, 16});
}

// Returns code with every instruction of call frame information. The last instructions set rules.
ByteBuilder EveryInstruction() {
  ByteBuilder code = {DW_CFA_remember_state, DW_CFA_undefined, 3, DW_CFA_same_value, 12};
  code.Bytes({DW_CFA_register, 13, 12, DW_CFA_offset_extended, 6, 2, DW_CFA_restore_extended, 6});
  code.Bytes({DW_CFA_offset_extended_sf, 6, 2, DW_CFA_val_offset, 12, 1, DW_CFA_val_offset_sf, 12});
  code.Bytes({1, DW_CFA_GNU_args_size, 8, DW_CFA_GNU_negative_offset_extended, 3, 1});
  code.Bytes({DW_CFA_expression, 3, 2, DW_OP_breg7, 0, DW_CFA_val_expression, 12, 2, DW_OP_breg7});
  code.Bytes(
      {0, DW_CFA_nop, DW_CFA_restore + 3, DW_CFA_def_cfa_sf, 7, 0x7e, DW_CFA_def_cfa, 6, 16});
  code.Bytes({DW_CFA_def_cfa_offset_sf, 0x7e, DW_CFA_def_cfa_register, 7, DW_CFA_restore_state});
  code.U8(DW_CFA_advance_loc1).U8(1).U8(DW_CFA_advance_loc2).U16(1);
  code.Bytes({DW_CFA_expression, 6, 2, DW_OP_breg7, 8, DW_CFA_register, 12, 13});
  return code.U8(DW_CFA_advance_loc4).U32(64).U8(DW_CFA_def_cfa_offset).U8(64);
}

ByteBuilder WithCfaFrom(const ByteBuilder& expression) {
  ByteBuilder code;
  code.U8(DW_CFA_def_cfa_expression).Block(expression);
  return code.Bytes({DW_CFA_offset + 16, 1, DW_CFA_offset + 6, 2});
}

// Returns pieces of code without call frame information: beginnings of functions, and code after
// calls.
std::vector<ByteBuilder> BareCodes() {
  const ByteBuilder call = {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0};
  std::vector<ByteBuilder> codes;
  for (const ByteBuilder& code :
       std::vector<ByteBuilder>{{0xf3, 0x0f, 0x1e, 0xfa},
                                {0x55},
                                {0x48, 0x83, 0xec, 8},
                                {0x48, 0x89, 0xe5},
                                {0x48, 0x8b, 0xec},
                                {0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0x41, 0x5c, 0x5d, 0xc3},
                                {0x41, 0xff, 0xd4, 0x48, 0x81, 0xc4, 16, 0, 0, 0, 0x5d, 0xf3, 0xc3},
                                {0x5d, 0xc2, 8, 0},
                                {0x90, 0x41, 0xff, 0x54, 0x24, 8, 0xff, 0x14, 0x25, 0, 0, 0, 0}}) {
    codes.push_back(ByteBuilder({0x90, 0x90, 0x90, 0x90}).Bytes(code));
    codes.back().Pad(8, 0x90).Bytes(call).Bytes({0x5d, 0xc3}).Pad(64, 0x90);
  }
  return codes;
}

std::vector<Bytes> UnwindSeeds() {
  const auto with = [](const ByteBuilder& instructions, const symbolize::CieSpec& cie = {}) {
    return symbolize::EhFrameBuilder(kSection, cie).Add({.instructions = instructions});
  };
  const symbolize::EhFrameBuilder plain =
      with({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0f, 3, 0x76, 0x78, 6});
  const symbolize::EhFrameBuilder full =
      with({0x41, 0x0e, 16, 0x0a, 0x86, 2, 0x0b}, {.augmentation = "zPLRS"});
  std::vector<Bytes> seeds = {Seed(0, plain.section()),
                              Seed(kWithLink, plain.section()),
                              Seed(kDebugFrame, plain.section()),
                              Seed(0, full.section()),
                              Seed(kWithHeader, plain.Header(0x4000)),
                              Seed(kWithHoles, plain.section())};
  for (const ByteBuilder& instructions :
       {EveryInstruction(), WithCfaFrom(EveryOperator()), WithCfaFrom(EveryBinaryOperator()),
        // The CFA in a linkage table, and on a realigned stack. Last, code without a caller.
        WithCfaFrom({DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
                     DW_OP_lit3, DW_OP_shl, DW_OP_plus}),
        WithCfaFrom({DW_OP_breg6, 0x78, DW_OP_deref}), ByteBuilder{DW_CFA_undefined, 16}}) {
    for (const uint8_t choice : {uint8_t{0}, uint8_t{kWithLink}, uint8_t{kWithHoles}}) {
      seeds.push_back(Seed(choice, with(instructions).section()));
    }
    seeds.push_back(Seed(kDebugFrame, symbolize::DebugFrame({DW_CFA_def_cfa, 7, 8, 0x90, 1},
                                                            {{.instructions = instructions}})));
    seeds.push_back(Seed(0, with(instructions, {.augmentation = "zRB", .version = 3}).section()));
  }
  seeds.push_back(Seed(kWithLink, with({DW_CFA_GNU_window_save, DW_CFA_def_cfa, 31, 16,
                                        DW_CFA_offset + 29, 2, DW_CFA_offset + 30, 1},
                                       {.return_address = 30, .instructions = {12, 31, 0}})
                                      .section()));
  for (const ByteBuilder& instructions :
       {ByteBuilder{DW_CFA_def_cfa, 5, 8, DW_CFA_offset + 5, 2},
        ByteBuilder{DW_CFA_def_cfa_expression, 3, DW_OP_breg5, 0x7c, DW_OP_deref}}) {
    seeds.push_back(Seed(kI386, with(instructions, symbolize::CieOfI386()).section()));
  }
  for (const ByteBuilder& code : BareCodes()) {
    seeds.push_back(Seed(kBare, code));
    seeds.push_back(Seed(kBare | kWithLink, code));
    seeds.push_back(Seed(kBare | kWithHoles, code));
    seeds.push_back(Seed(kBare | kI386, code));
  }
  return seeds;
}

}  // namespace

void UnwindThrough(const symbolize::ElfImage& image, std::span<const uint64_t, kRegisters> values,
                   std::span<const std::byte> stack, bool has_holes,
                   const symbolize::StackWords* rest) {
  const auto table = symbolize::CfiTable::Create(image);
  if (!table.ok()) return;
  OneImage space(image, table->get(), has_holes);
  symbolize::RegisterSet registers((*table)->architecture());
  for (unsigned i = 0; i < kRegisters; ++i) registers.Set(i, values[i]);
  static symbolize::Unwinder& unwinder = *new symbolize::Unwinder(symbolize::GoStackSwitches());
  static symbolize::UnwoundChain& chain = *new symbolize::UnwoundChain();
  // Unwinds a second time, with the results that the first pass has cached.
  for (int i = 0; i < 2; ++i) {
    unwinder.Unwind(registers, {.start = registers.sp(), .bytes = stack, .rest = rest}, space,
                    {.max_frames = kMaxFrames}, &chain);
  }
  Require(!chain.frames.empty() && chain.frames.size() <= kMaxFrames,
          "a chain has its leaf, and no more frames than it may");
  for (const symbolize::UnwoundFrame& frame : chain.frames) {
    symbolize::MappedCode code;
    Require(!frame.is_return_address || space.FindCode(frame.instruction(), &code),
            "a return address is in code");
    symbolize::FrameRules rules;
    (void)(*table)->FullRules({frame.address.value}, &rules);
    const auto function = (*table)->FunctionAt({frame.address.value});
    Require(!function || frame.address.value - function->start.value < function->size,
            "a function has the address that it is found by");
  }
  (void)(*table)->CompileAll();
}

FuzzTarget UnwindTarget() {
  return {"unwind", "call frame information, registers and a stack", UnwindThread, UnwindSeeds};
}

}  // namespace profiler::fuzz
