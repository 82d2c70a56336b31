// Finds the code to which addresses of one chain lead.
//
// Private to this package and to the packages that step for it (stack_switches.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

class CodeSpace {
 public:
  // `memory` must outlive this object.
  CodeSpace(UnwindSpace& memory, Architecture architecture)
      : memory_(memory), architecture_(architecture), pc_mask_(AddressMask(architecture)) {}

  Architecture architecture() const { return architecture_; }
  UnwindSpace& memory() const { return memory_; }

  // Finds code like UnwindSpace::FindCode, with one difference: an image of another architecture
  // counts as an image without information. A 64-bit program may continue in 32 bits, as Windows
  // programs in Wine do. Then it has images of two architectures.
  bool Find(RuntimeAddress address, MappedCode* code) const {
    if (!memory_.FindCode(address, code)) return false;
    const bool is_other = code->cfi != nullptr && code->cfi->architecture() != architecture_;
    if (is_other) [[unlikely]]
      code->cfi = nullptr;
    return true;
  }

  // Fills `bytes` with code, like UnwindSpace::ReadCode.
  bool Read(RuntimeAddress address, std::span<std::byte> bytes) const {
    return memory_.ReadCode(address, bytes);
  }

  // Removes the bits that pointer authentication or tagging adds (AddressMask).
  uint64_t Stripped(uint64_t address) const { return address & pc_mask_; }

  // Removes a signature. Stripped assumes addresses of the usual length. Kernels may use fewer bits,
  // and then signatures are longer. So if there is no code at an address, fewer bits are tried.
  uint64_t WithoutSignature(uint64_t address) const;

 private:
  UnwindSpace& memory_;
  const Architecture architecture_;
  const uint64_t pc_mask_;
};

}  // namespace profiler::symbolize
