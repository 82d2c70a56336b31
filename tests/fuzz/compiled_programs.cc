#include "tests/fuzz/compiled_programs.h"

#include <cstdint>
#include <span>

namespace profiler::fuzz {

std::vector<Bytes> CompiledPrograms() {
  static const std::vector<uint8_t> kPrograms[] = {
#include "tests/fuzz/compiled_programs.inc"
  };
  std::vector<Bytes> programs;
  for (const std::vector<uint8_t>& program : kPrograms) {
    const auto bytes = std::as_bytes(std::span(program));
    programs.emplace_back(bytes.begin(), bytes.end());
  }
  return programs;
}

}  // namespace profiler::fuzz
