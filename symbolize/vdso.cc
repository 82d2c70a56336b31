#include "symbolize/vdso.h"

#include <elf.h>
#include <gelf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <vector>

#include "symbolize/elf/libelf_file.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {
namespace {

// Returns the size of the file, which ends with the section headers.
size_t SizeOfFile(std::span<const std::byte> start) {
  const LibelfFile file(start);
  GElf_Ehdr header;
  if (gelf_getehdr(file.get(), &header) == nullptr) return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

std::vector<std::byte> ReadVdsoOf32Bit() {
  if (kNativeArchitecture->read_narrow_vdso == nullptr) return {};
  std::vector<std::byte> bytes = kNativeArchitecture->read_narrow_vdso();
  bytes.resize(std::min(bytes.size(), SizeOfFile(bytes)));
  return bytes;
}

}  // namespace

std::span<const std::byte> OwnVdso() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells the address as a number.
  const auto* base = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (base == nullptr) return {};
  return {base, SizeOfFile({base, sizeof(Elf64_Ehdr)})};
}

std::span<const std::byte> VdsoOf32Bit() {
  static const std::vector<std::byte> bytes = ReadVdsoOf32Bit();
  return bytes;
}

}  // namespace profiler::symbolize
