#include "tests/fuzz/choices.h"

#include <random>

namespace profiler::fuzz {

std::vector<Bytes> ProgramsByChance(size_t count, size_t size) {
  std::mt19937_64 random(count * 1000 + size);
  std::vector<Bytes> programs(count, Bytes(size));
  for (Bytes& program : programs) {
    for (std::byte& byte : program) byte = static_cast<std::byte>(random());
  }
  return programs;
}

}  // namespace profiler::fuzz
