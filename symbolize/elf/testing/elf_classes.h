// ELF types of both classes, 32 and 64 bits, for tests that write files of either class.

#pragma once

#include <elf.h>

namespace profiler::symbolize {

struct Elf32Types {
  using Ehdr = Elf32_Ehdr;
  using Shdr = Elf32_Shdr;
  using Phdr = Elf32_Phdr;
  using Chdr = Elf32_Chdr;
  static constexpr unsigned char kClass = ELFCLASS32;
};
struct Elf64Types {
  using Ehdr = Elf64_Ehdr;
  using Shdr = Elf64_Shdr;
  using Phdr = Elf64_Phdr;
  using Chdr = Elf64_Chdr;
  static constexpr unsigned char kClass = ELFCLASS64;
};

}  // namespace profiler::symbolize
