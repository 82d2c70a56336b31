#include "symbolize/unwind/code_space.h"

namespace profiler::symbolize {

uint64_t CodeSpace::WithoutSignature(uint64_t address) const {
  const uint64_t stripped = Stripped(address);
  MappedCode code;
  for (const uint8_t bits : architecture_->address_widths) {
    const uint64_t shorter = stripped & ((uint64_t{1} << bits) - 1);
    if (shorter != 0 && Find(RuntimeAddress{shorter - 1}, &code)) return shorter;
  }
  return stripped;
}

}  // namespace profiler::symbolize
