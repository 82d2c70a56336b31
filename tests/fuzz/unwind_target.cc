// Call frame information, registers and a stack, as an image and a thread may bring them.
//
//   u8 machine, sections and mappings │ u8 words of stack │ 33 × u64 registers │ stack │ call frame
//   information

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "symbolize/unwind/cfi_builder.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"
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
  kAArch64 = 1,
  kDebugFrame = 2,
  kCompressed = 4,
  kWithHeader = 8,
  kWithHoles = 16
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

// Everything is code of one image, or every other page is.
class OneImage : public symbolize::UnwindSpace {
 public:
  OneImage(symbolize::CfiTable* cfi, bool has_holes) : cfi_(cfi), has_holes_(has_holes) {}
  bool FindCode(RuntimeAddress address, symbolize::MappedCode* code) override {
    constexpr uint64_t kPage = 0x1000;
    *code = {.start = {0}, .size = ~uint64_t{0}, .cfi = cfi_};
    if (has_holes_) code->start.value = address.value & ~(kPage - 1), code->size = kPage;
    return !has_holes_ || (address.value & kPage) == (kCode & kPage);
  }

 private:
  symbolize::CfiTable* cfi_;
  const bool has_holes_;
};

Bytes ImageOf(const Parts& parts) {
  ByteBuilder frames;
  for (const std::byte byte : parts.frames) frames.U8(std::to_integer<int>(byte));
  symbolize::ElfBuilder elf((parts.choice & kAArch64) != 0 ? EM_AARCH64 : EM_X86_64);
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
  if (image.ok()) UnwindThrough(*image, parts.registers, parts.stack, parts.choice & kWithHoles);
}

Bytes Seed(uint8_t choice, const ByteBuilder& frames) {
  ByteBuilder seed;
  constexpr int kWords = 16;
  constexpr uint64_t kStack = 0x7fff0000;
  seed.U8(choice).U8(kWords);
  for (unsigned i = 0; i < kRegisters; ++i) seed.U64(i == 16 || i == 32 ? kCode + 4 : kStack);
  for (uint64_t i = 0; i < kWords; ++i) seed.U64(i % 2 == 0 ? kCode + 8 : kStack + 8 * i);
  seed.Bytes(frames);
  return seed.bytes();
}

std::vector<Bytes> UnwindSeeds() {
  symbolize::EhFrameBuilder plain(kSection, {});
  plain.Add({.instructions = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0f, 3, 0x76, 0x78, 6}});
  symbolize::EhFrameBuilder full(kSection, {.augmentation = "zPLRS"});
  full.Add({.instructions = {0x41, 0x0e, 16, 0x0a, 0x86, 2, 0x0b}});
  return {Seed(0, plain.section()),
          Seed(kAArch64, plain.section()),
          Seed(kDebugFrame, plain.section()),
          Seed(0, full.section()),
          Seed(kWithHeader, plain.Header(0x4000)),
          Seed(kWithHoles, plain.section())};
}

}  // namespace

void UnwindThrough(const symbolize::ElfImage& image, std::span<const uint64_t, kRegisters> values,
                   std::span<const std::byte> stack, bool has_holes) {
  const auto table = symbolize::CfiTable::Create(image);
  if (!table.ok()) return;
  OneImage space(table->get(), has_holes);
  symbolize::RegisterSet registers((*table)->architecture());
  for (unsigned i = 0; i < kRegisters; ++i) registers.Set(i, values[i]);
  static symbolize::Unwinder& unwinder = *new symbolize::Unwinder();
  static symbolize::UnwoundChain& chain = *new symbolize::UnwoundChain();
  unwinder.Unwind(registers, {registers.sp(), stack}, space, {.max_frames = kMaxFrames}, &chain);
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
