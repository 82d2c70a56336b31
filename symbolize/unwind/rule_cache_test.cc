#include "symbolize/unwind/rule_cache.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

UnwindRule RuleOf(int32_t cfa_offset) {
  return {.kind = UnwindRule::kFromStackPointer, .return_slot = -1, .cfa_offset = cfa_offset};
}

uint64_t KeyOf(uint32_t table, uint64_t address, bool is_return_address = false) {
  return *RuleCache::KeyOf(table, ElfAddress{address}, is_return_address);
}

TEST(RuleCacheTest, ARuleIsFoundByItsImageAddressAndKindOfAddress) {
  RuleCache cache;
  cache.Add(KeyOf(1, 0x1000), RuleOf(8));
  ASSERT_NE(cache.Find(KeyOf(1, 0x1000)), nullptr);
  EXPECT_EQ(*cache.Find(KeyOf(1, 0x1000)), RuleOf(8));
  EXPECT_EQ(cache.Find(KeyOf(2, 0x1000)), nullptr);
  EXPECT_EQ(cache.Find(KeyOf(1, 0x1001)), nullptr);
  EXPECT_EQ(cache.Find(KeyOf(1, 0x1000, true)), nullptr);
}

TEST(RuleCacheTest, WhatDoesNotFitIntoAKeyHasNone) {
  const auto has_key = [](uint32_t table, uint64_t address) {
    return RuleCache::KeyOf(table, ElfAddress{address}, true).has_value();
  };
  EXPECT_TRUE(has_key((1 << 18) - 1, (uint64_t{1} << 43) - 1));
  EXPECT_FALSE(has_key(1 << 18, 1));
  EXPECT_FALSE(has_key(1, uint64_t{1} << 43));
  EXPECT_FALSE(has_key(1, 0)) << "an empty place would be its";
}

// Addresses whose hash ends with zeros, like the contents of an empty entry.
TEST(RuleCacheTest, AnEmptyPlaceIsNobodys) {
  const RuleCache cache;
  for (uint32_t table = 1; table < 1 << 18; ++table) {
    ASSERT_EQ(cache.Find(KeyOf(table, 1)), nullptr);
    ASSERT_EQ(cache.Find(KeyOf(table, (uint64_t{1} << 43) - 1, true)), nullptr);
  }
}

TEST(RuleCacheTest, WhereThereIsNoRoomRulesAreForgottenAndNeverTakenForOthers) {
  std::mt19937_64 random(1);
  RuleCache cache;
  std::map<uint64_t, UnwindRule> added;
  size_t found = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t key = KeyOf(1 + random() % 5, 1 + random() % 30'000, random() % 2 == 0);
    const UnwindRule* const rule = cache.Find(key);
    if (rule != nullptr) {
      ASSERT_EQ(*rule, added.at(key));
      ++found;
      continue;
    }
    added[key] = RuleOf(static_cast<int32_t>(random() % 300));
    cache.Add(key, added[key]);
  }
  EXPECT_GT(found, 1'000u);
}

TEST(RuleCacheTest, OfTooManyDifferentRulesTheLastAreNotKept) {
  RuleCache cache;
  for (int32_t i = 1; i < 1 << 16; ++i) {
    const uint64_t key = KeyOf(1, static_cast<uint64_t>(i));
    cache.Add(key, RuleOf(i));
    const UnwindRule* const rule = cache.Find(key);
    if (i < 1 << 15) {
      ASSERT_TRUE(rule != nullptr && *rule == RuleOf(i)) << i;
    } else {
      ASSERT_EQ(rule, nullptr) << i;
    }
  }
}

}  // namespace
}  // namespace profiler::symbolize
