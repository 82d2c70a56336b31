// Tests that unwinding ends for any call frame information, registers and stack.

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kStack = 0x7fff0000;
constexpr int kRounds = 2000;

class Chance {
 public:
  explicit Chance(uint32_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  uint64_t Number() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// A space in which all addresses belong to one image, and all memory is readable.
class EverythingIsCode : public UnwindSpace {
 public:
  EverythingIsCode(CfiTable* cfi, Chance& chance) : cfi_(cfi), chance_(chance) {}
  bool FindCode(RuntimeAddress, MappedCode* code) override {
    *code = {.start = {0}, .size = ~uint64_t{0}, .cfi = cfi_};
    return true;
  }
  bool ReadMemory(uint64_t, std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance_.Below(256));
    return chance_.Below(4) != 0;
  }

 private:
  CfiTable* cfi_;
  Chance& chance_;
};

ByteBuilder RandomBytes(Chance& chance, size_t size) {
  ByteBuilder bytes;
  for (size_t i = 0; i < size; ++i) bytes.U8(static_cast<int>(chance.Below(256)));
  return bytes;
}

// Returns random instructions. Half of the opcodes are less than 0x30, because most of DWARF's
// instructions have such opcodes.
ByteBuilder RandomInstructions(Chance& chance) {
  ByteBuilder code;
  const size_t size = chance.Below(60);
  while (code.size() < size) {
    code.U8(static_cast<int>(chance.Below(2) == 0 ? chance.Below(0x30) : chance.Below(256)));
    if (chance.Below(3) == 0) code.U8(static_cast<int>(chance.Below(16)));
  }
  return code;
}

void UnwindEverywhere(const std::vector<std::byte>& file, Chance& chance) {
  const auto image = ElfImage::Parse(file);
  if (!image.ok()) return;
  const auto table = CfiTable::Create(*image);
  if (!table.ok()) return;
  EverythingIsCode space(table->get(), chance);
  const ByteBuilder stack = RandomBytes(chance, chance.Below(512));
  // All tests share the unwinder, as all images of a recording do.
  static Unwinder& unwinder = *new Unwinder(nullptr);
  UnwoundChain chain;
  for (int i = 0; i < 10; ++i) {
    RegisterSet registers((*table)->architecture());
    for (unsigned r = 0; r < kRegisters; ++r) {
      registers.Set(r, chance.Below(2) == 0 ? kStack + chance.Below(64) * 8 : chance.Number());
    }
    registers.Set(NumbersOf(registers.architecture()).pc, 0x1000 + chance.Below(0x110));
    unwinder.Unwind(registers, {kStack, stack.bytes()}, space, {.max_frames = 64}, &chain);
    EXPECT_GE(chain.frames.size(), 1u);
    EXPECT_LE(chain.frames.size(), 64u);
    FrameRules rules;
    (*table)->FullRules({0x1000 + chance.Below(0x110)}, &rules);
  }
  (*table)->CompileAll();
}

class CorruptInputTest : public testing::TestWithParam<Architecture> {
 protected:
  static ElfBuilder Elf() { return ElfBuilder(GetParam()->elf_machine); }
};

TEST_P(CorruptInputTest, RandomInstructionsDoNoHarm) {
  Chance chance(1);
  for (int i = 0; i < kRounds; ++i) {
    EhFrameBuilder frames(0x5000, {.data_alignment = static_cast<int64_t>(chance.Below(16)) - 8,
                                   .return_address = static_cast<int>(chance.Below(40)),
                                   .instructions = RandomInstructions(chance)});
    frames.Add({.instructions = RandomInstructions(chance)});
    UnwindEverywhere(Elf().Section(".eh_frame", 0x5000, frames.section()).Build(), chance);
  }
}

TEST_P(CorruptInputTest, FlippedBytesDoNoHarm) {
  Chance chance(2);
  EhFrameBuilder frames(0x5000, {.augmentation = "zPLRS"});
  frames.Add({.instructions = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0f, 3, 0x76, 0x78, 6}});
  frames.Add({.start = 0x1100, .size = 16});
  const std::vector<std::byte> good = Elf()
                                          .Section(".eh_frame_hdr", 0x4000, frames.Header(0x4000))
                                          .Section(".eh_frame", 0x5000, frames.section())
                                          .Build();
  for (int i = 0; i < kRounds; ++i) {
    std::vector<std::byte> bad = good;
    const uint64_t flips = 1 + chance.Below(8);
    for (uint64_t flip = 0; flip < flips; ++flip) {
      // Changes bytes after the ELF header only, so that the file remains an ELF file.
      const size_t at = sizeof(Elf64_Ehdr) + chance.Below(bad.size() - sizeof(Elf64_Ehdr));
      bad[at] = static_cast<std::byte>(chance.Below(256));
    }
    UnwindEverywhere(bad, chance);
  }
}

TEST_P(CorruptInputTest, RandomSectionsDoNoHarm) {
  Chance chance(3);
  for (int i = 0; i < kRounds; ++i) {
    const ByteBuilder random = RandomBytes(chance, chance.Below(300));
    UnwindEverywhere(Elf()
                         .Section(".eh_frame_hdr", 0x4000, RandomBytes(chance, chance.Below(64)))
                         .Section(".eh_frame", 0x5000, random)
                         .Section(".debug_frame", 0, random, chance.Below(2) * SHF_COMPRESSED)
                         .Build(),
                     chance);
  }
}

TEST_P(CorruptInputTest, CutFilesDoNoHarm) {
  Chance chance(4);
  EhFrameBuilder frames(0x5000, {});
  frames.Add({.instructions = {0x41, 0x0e, 16, 0x86, 2}});
  const ByteBuilder& whole = frames.section();
  for (size_t size = 0; size < whole.size(); ++size) {
    ByteBuilder cut;
    for (size_t i = 0; i < size; ++i) cut.U8(std::to_integer<int>(whole.bytes()[i]));
    UnwindEverywhere(Elf().Section(".eh_frame", 0x5000, cut).Build(), chance);
  }
}

std::vector<Architecture> ArchitecturesWith64Bits() {
  std::vector<Architecture> with_64_bits;
  for (const Architecture architecture : Architectures()) {
    if (architecture->is_64_bit) with_64_bits.push_back(architecture);
  }
  return with_64_bits;
}

INSTANTIATE_TEST_SUITE_P(Machines, CorruptInputTest, testing::ValuesIn(ArchitecturesWith64Bits()),
                         [](const auto& info) { return std::string(info.param->machine); });

}  // namespace
}  // namespace profiler::symbolize
