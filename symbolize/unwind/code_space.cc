#include "symbolize/unwind/code_space.h"

namespace profiler::symbolize {

uint64_t CodeSpace::WithoutSignature(uint64_t address) const {
  const uint64_t stripped = Stripped(address);
  if (architecture_ != Architecture::kAArch64) return stripped;
  MappedCode code;
  for (const unsigned bits : {48, 47, 42, 39, 36}) {
    const uint64_t shorter = stripped & ((uint64_t{1} << bits) - 1);
    if (shorter != 0 && Find(RuntimeAddress{shorter - 1}, &code)) return shorter;
  }
  return stripped;
}

}  // namespace profiler::symbolize
