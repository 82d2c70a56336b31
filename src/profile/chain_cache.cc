#include "src/profile/chain_cache.h"

#include <random>

namespace profiler::profile {

FingerprintKey::FingerprintKey() {
  std::random_device random;
  for (uint64_t* const word : {&seed_[0], &seed_[1], &key_[0], &key_[1]}) {
    *word = uint64_t{random()} << 32 | random();
  }
}

// Computes two independent hashes side by side, so that neither waits for the other. A product of 0
// would drop all former words; because the key is secret, nobody can construct one.
Fingerprint FingerprintKey::Of(const ChainPlace& place, perf_event::U64Array chain,
                               uint64_t* copy) const {
  const uint64_t size = chain.size();
  const uint64_t shape =
      place.kernel_generation << 32 ^ size << 8 ^ static_cast<uint64_t>(place.mode);
  uint64_t a = FoldedProduct(seed_[0] ^ place.process_generation, key_[0] ^ shape);
  uint64_t b = FoldedProduct(seed_[1] ^ place.ip, key_[1] ^ shape);
  a = FoldedProduct(a ^ place.ip, key_[1]);
  b = FoldedProduct(b ^ place.process_generation, key_[0]);
  const uint64_t key_a = key_[0], key_b = key_[1];  // local, because `copy` might alias key_
  size_t i = 0;
  for (; i + 2 <= size; i += 2) {
    const uint64_t first = chain[i], second = chain[i + 1];
    a = FoldedProduct(a ^ first, key_a ^ second);
    b = FoldedProduct(b ^ second, key_b ^ first);
    copy[i] = first;
    copy[i + 1] = second;
  }
  if (i < size) {
    const uint64_t last = chain[i];
    a = FoldedProduct(a ^ last, key_a);
    b = FoldedProduct(b ^ last, key_b);
    copy[i] = last;
  }
  return {a, b};
}

}  // namespace profiler::profile
