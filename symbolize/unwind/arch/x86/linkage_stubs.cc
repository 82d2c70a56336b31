#include <elf.h>

#include <cstring>

#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/offset_table.h"
#include "symbolize/unwind/arch/x86/x86.h"

namespace profiler::symbolize::x86 {
namespace {

template <class T>
T ValueAt(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

// Returns the address of the slot that a stub jumps through; 0 for other code. The slot is relative
// to the end of the instruction, or to %ebx, which has the GOT's address.
//
// x86-64:  [endbr64] [bnd] jmp *disp32(%rip)      f3 0f 1e fa | f2 | ff 25 disp32
// i386:    [endbr32] jmp *slot                    f3 0f 1e fb | ff 25 imm32
//          [endbr32] jmp *disp32(%ebx)            …           | ff a3 disp32
uint64_t SlotOf(const ElfImage& image, std::span<const std::byte> code, uint64_t address) {
  constexpr uint32_t kEndbr64 = 0xfa1e0ff3, kEndbr32 = 0xfb1e0ff3;
  const auto first = ValueAt<uint32_t>(code, 0);
  size_t at = first == kEndbr64 || first == kEndbr32 ? 4 : 0;
  if (ValueAt<uint8_t>(code, at) == 0xf2) ++at;
  if (code.size() < at + 6) return 0;
  const auto jump = ValueAt<uint16_t>(code, at);
  const auto displacement =
      static_cast<uint64_t>(static_cast<int64_t>(ValueAt<int32_t>(code, at + 2)));
  if (image.machine() != EM_386) return jump == 0x25ff ? address + at + 6 + displacement : 0;
  if (jump == 0x25ff) return displacement & 0xffffffff;
  const ElfSection* const table = FindGlobalOffsetTable(image);
  if (jump != 0xa3ff || table == nullptr) return 0;
  return (table->address.value + displacement) & 0xffffffff;
}

// Reads stubs of equal size. The lazy-binding code at the start of .plt looks like one or more
// stubs whose slots have no symbol.
void AddStubs(const ElfImage& image, const ElfSection& section, uint64_t default_size,
              std::vector<LinkageStub>* stubs) {
  const uint64_t size =
      section.entry_size >= 8 && section.entry_size <= 64 ? section.entry_size : default_size;
  for (uint64_t at = 0; at + size <= section.contents.size(); at += size) {
    const uint64_t address = section.address.value + at;
    stubs->push_back({address, size, SlotOf(image, section.contents.subspan(at, size), address)});
  }
}

}  // namespace

std::vector<LinkageStub> FindLinkageStubs(const ElfImage& image) {
  std::vector<LinkageStub> stubs;
  struct Table {
    const char* section;
    uint64_t size_of_stub;
  };
  for (const Table& table : {Table{".plt", 16}, Table{".plt.sec", 16}, Table{".plt.got", 8}}) {
    const ElfSection* const section = image.FindSection(table.section);
    if (section != nullptr) AddStubs(image, *section, table.size_of_stub, &stubs);
  }
  return stubs;
}

}  // namespace profiler::symbolize::x86
