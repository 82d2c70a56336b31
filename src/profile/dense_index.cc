#include "src/profile/dense_index.h"

#include <random>

namespace profiler::profile {
namespace {

HashKey RandomKey() {
  std::random_device random;
  const auto word = [&] { return uint64_t{random()} << 32 | random(); };
  return {word(), word()};
}

}  // namespace

const HashKey kHashKey = RandomKey();

}  // namespace profiler::profile
