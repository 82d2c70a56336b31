// ELF files that lie, with code that runs.
//
//   0       ELF header, program headers
//   0x1000  code: Enter calls Descend, which calls itself `depth` times and then spins for half a
//           millisecond; where there are stairs, there are six hundred calls before, each from
//           another address
//   0x2000  sections, in the order in which they were added; where one claims more than it has, the
//           file has a hole
//   …       section names, section headers
//
// Addresses are offsets. The file can be executed, and mapped by somebody who calls 0x1000. The
// code is x86-64's.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::tests {

inline constexpr uint64_t kCode = 0x1000, kEnd = 0x2000;
inline constexpr uint64_t kEnterSize = 0x40, kDescend = kCode + 0x40, kSpin = kCode + 0x50,
                          kStairs = kCode + 0x100;

struct HostileSection {
  std::string name;
  std::vector<std::byte> bytes;
  uint64_t hole = 0;  // bytes of the file that follow and are not written
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
  uint32_t link = 0;
  uint64_t entry_size = 0;
};

class HostileElf {
 public:
  HostileElf();

  // How often the code calls itself.
  HostileElf& Depth(uint32_t depth);
  HostileElf& Stairs();
  HostileElf& Add(HostileSection section);
  // "evil_enter", "evil_descend" and "evil_spin" in a .symtab.
  HostileElf& AddSymbols();
  // A .symtab or .dynsym with one symbol over all the code for each name.
  HostileElf& AddSymbolsNamed(const std::vector<std::string>& names, uint32_t type = SHT_SYMTAB);
  HostileElf& AddBuildId(std::span<const std::byte> id);
  // Call frame information that tells every frame of the code.
  HostileElf& AddFrames();
  // Further segments, in front of the one with the code.
  HostileElf& Segments(std::vector<Elf64_Phdr> segments);
  // Changes the headers just before they are written.
  using Lie = std::function<void(Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections)>;
  HostileElf& Lying(Lie lie);

  // Where the next section will be: its address as well.
  uint64_t next_offset() const { return next_; }
  // Its index.
  uint32_t next_index() const { return static_cast<uint32_t>(sections_.size()) + 1; }

  void Write(const std::string& path) const;
  // The file up to its first hole.
  std::string Bytes() const;

 private:
  struct Placed {
    HostileSection section;
    uint64_t offset;
  };

  std::vector<std::byte> code_;
  std::vector<Placed> sections_;
  std::vector<Elf64_Phdr> segments_;
  Lie lie_;
  uint64_t next_ = kEnd;
};

std::vector<std::byte> BytesOf(std::string_view text);

}  // namespace profiler::tests
