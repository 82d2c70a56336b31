// Writes ELF files with false contents and code that runs.
//
//   0       ELF header, program headers
//   0x1000  code: Enter calls Descend, which calls itself `depth` times and then spins for half a
//           millisecond; with Stairs(), Enter reaches Descend through six hundred calls, each from
//           another address
//   0x2000  sections, in the order in which they were added; a section that claims more bytes than
//           it has leaves a hole in the file
//   …       section names, section headers
//
// Addresses equal file offsets. The file can be executed, or mapped by a program that calls 0x1000.
// The code is for x86-64.

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
  uint64_t hole = 0;  // unwritten bytes after the section
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
  uint32_t link = 0;
  uint64_t entry_size = 0;
};

class HostileElf {
 public:
  HostileElf();

  // Sets how often the code calls itself.
  HostileElf& Depth(uint32_t depth);
  HostileElf& Stairs();
  HostileElf& Add(HostileSection section);
  // Adds "evil_enter", "evil_descend" and "evil_spin" in a .symtab.
  HostileElf& AddSymbols();
  // Adds a .symtab or .dynsym with one symbol per name; each symbol covers all the code.
  HostileElf& AddSymbolsNamed(const std::vector<std::string>& names, uint32_t type = SHT_SYMTAB);
  HostileElf& AddBuildId(std::span<const std::byte> id);
  // Adds call frame information for every frame of the code.
  HostileElf& AddFrames();
  // Adds program headers in front of the program header of the code.
  HostileElf& Segments(std::vector<Elf64_Phdr> segments);
  // A function that changes the headers just before they are written.
  using Lie = std::function<void(Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections)>;
  HostileElf& Lying(Lie lie);

  // Returns the next section's file offset, which is also its address.
  uint64_t next_offset() const { return next_; }
  // Returns the next section's index.
  uint32_t next_index() const { return static_cast<uint32_t>(sections_.size()) + 1; }

  void Write(const std::string& path) const;
  // Returns the bytes of the file up to its first hole.
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
