#include "src/profile/chain_cache.h"

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

using Words = std::vector<uint64_t>;

class ChainCacheTest : public testing::Test {
 protected:
  Fingerprint PrintOf(const ChainPlace& place, const Words& words) const {
    Words copy(words.size() + 1, 7);
    const Fingerprint print =
        key_.Of(place, perf_event::U64Array(std::as_bytes(std::span(words))), copy.data());
    EXPECT_EQ(copy.back(), 7u) << "more was copied than there is";
    copy.pop_back();
    EXPECT_EQ(copy, words);
    return print;
  }

  FingerprintKey key_;
};

TEST_F(ChainCacheTest, ChainsThatDifferInOneWordOrInTheirPlaceDifferInTheirFingerprint) {
  const ChainPlace place{
      .process_generation = 3, .kernel_generation = 5, .mode = Mode::kUser, .ip = 7};
  std::set<std::pair<uint64_t, uint64_t>> prints;
  size_t chains = 0;
  const auto add = [&](const ChainPlace& at, const Words& words) {
    const Fingerprint print = PrintOf(at, words);
    EXPECT_EQ(print, PrintOf(at, words));
    prints.insert({print.high, print.low});
    ++chains;
  };
  for (size_t size = 0; size <= 9; ++size) {
    const Words zeros(size, 0);
    add(place, zeros);
    for (size_t i = 0; i < size; ++i) {
      Words words = zeros;
      words[i] = 1;
      add(place, words);
      words[i] = ~uint64_t{0};
      add(place, words);
    }
  }
  for (uint64_t ChainPlace::*const number :
       {&ChainPlace::process_generation, &ChainPlace::kernel_generation, &ChainPlace::ip}) {
    ChainPlace other = place;
    other.*number = 1000;
    add(other, {});
    add(other, {1, 2, 3});
  }
  ChainPlace in_kernel = place;
  in_kernel.mode = Mode::kKernel;
  add(in_kernel, {});
  EXPECT_EQ(prints.size(), chains);
}

TEST_F(ChainCacheTest, EachKeyMakesItsOwnFingerprints) {
  const Words words = {1, 2, 3};
  const perf_event::U64Array chain(std::as_bytes(std::span(words)));
  Words copy(3);
  EXPECT_NE(FingerprintKey().Of({}, chain, copy.data()),
            FingerprintKey().Of({}, chain, copy.data()));
}

TEST_F(ChainCacheTest, WhatIsRememberedIsFoundUntilThereWouldBeTooMuch) {
  ChainCache cache;
  const auto known = [&](uint64_t chain) {
    bool was_known = true;
    const KnownChain& found = cache.FindOrMake(PrintOf({.ip = chain}, {}), [&] {
      was_known = false;
      return KnownChain{.number = static_cast<uint32_t>(chain)};
    });
    EXPECT_EQ(found.number, chain);
    return was_known;
  };
  for (uint64_t chain = 0; chain < ChainCache::kMaxChains; ++chain) {
    if (chain % ChainCache::kSearches == 0) cache.MakeRoom();
    ASSERT_FALSE(known(chain));
  }
  EXPECT_TRUE(known(0));
  EXPECT_TRUE(known(ChainCache::kMaxChains - 1));
  EXPECT_TRUE(cache.IsFull());
  cache.MakeRoom();
  EXPECT_FALSE(cache.IsFull());
  EXPECT_FALSE(known(0));
}

}  // namespace
}  // namespace profiler::profile
