#include "src/machine/events/instruction_bounds.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::events {
namespace {

constexpr uint64_t kFunction = 0x1000;

// Returns the message about a probe in a program whose only function has this code.
std::string Said(const std::vector<unsigned char>& code, uint64_t offset,
                 uint16_t machine = EM_X86_64) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_offset = sizeof(header) + sizeof(segment);
  segment.p_vaddr = kFunction;
  segment.p_filesz = segment.p_memsz = code.size();
  std::vector<std::byte> bytes(segment.p_offset + code.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), &segment, sizeof(segment));
  std::memcpy(bytes.data() + segment.p_offset, code.data(), code.size());
  const auto elf = symbolize::ElfImage::Parse(bytes);
  if (!elf.ok()) return elf.status().ToString();
  const absl::Status status = CheckBeginsInstruction(*elf, ElfAddress{kFunction}, offset);
  return status.ok() ? "ok" : std::string(status.message());
}

// mov $0x90909090, %eax; add %edi, %eax; ret
const std::vector<unsigned char> kCode = {0xb8, 0x90, 0x90, 0x90, 0x90, 0x01, 0xf8, 0xc3};

TEST(InstructionBounds, AProbeMayLieAtTheBeginningOfEachInstruction) {
  for (const uint64_t offset : {0, 5, 7}) EXPECT_EQ(Said(kCode, offset), "ok") << offset;
}

TEST(InstructionBounds, AProbeInsideAnInstructionIsRefusedWithTheNearestPlaces) {
  EXPECT_EQ(Said(kCode, 1),
            "+0x1 is inside an instruction, which a probe there would change; it begins at +0x0, "
            "and the next one at +0x5");
  EXPECT_EQ(Said(kCode, 6),
            "+0x6 is inside an instruction, which a probe there would change; it begins at +0x5, "
            "and the next one at +0x7");
}

TEST(InstructionBounds, CodeThatCannotBeDecodedIsRefused) {
  EXPECT_EQ(Said({0x06, 0x90, 0xc3}, 1),
            "there is no instruction at +0x0, so the code up to +0x1 cannot be decoded");
  EXPECT_EQ(Said(kCode, 8),
            "there is no instruction at +0x8, so the code up to +0x8 cannot be decoded");
  EXPECT_EQ(Said(kCode, uint64_t{1} << 40), "+0x10000000000 is too far from the function's start");
}

TEST(InstructionBounds, OnOtherMachinesTheKernelDecides) {
  EXPECT_EQ(Said(kCode, 1, EM_RISCV), "ok");
}

}  // namespace
}  // namespace profiler::events
