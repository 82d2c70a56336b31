#include "src/profile/dense_index.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

struct Number {
  uint64_t value = 0;
  bool operator==(const Number&) const = default;
};

// Numbers kept in a vector, as users of DenseIndex do.
class Numbers {
 public:
  uint32_t IdOf(uint64_t number, uint64_t hash) {
    return index_.FindOrInsert(
        hash, [&](uint32_t id) { return numbers_[id] == number; },
        [&] {
          numbers_.push_back(number);
          return static_cast<uint32_t>(numbers_.size() - 1);
        });
  }

 private:
  std::vector<uint64_t> numbers_;
  DenseIndex index_;
};

// With the fixed initial value 0x9e37…, such values made every product 0, whatever the other factor
// was.
TEST(DenseIndexTest, NobodyCanChooseValuesThatAreLookedForAtOnePlace) {
  DenseIndex index;
  constexpr uint32_t kValues = 5000;
  uint64_t compared = 0;
  for (uint32_t i = 0; i < kValues; ++i) {
    index.FindOrInsert(
        Mix(0x9e3779b97f4a7c15, i), [&](uint32_t) { return ++compared == 0; }, [&] { return i; });
  }
  EXPECT_LT(compared, kValues);
}

TEST(DenseIndexTest, FindsAllValuesAgainHoweverOftenTheTableHasGrown) {
  Numbers numbers;
  for (uint32_t i = 0; i < 200'000; ++i) ASSERT_EQ(numbers.IdOf(i, Mix(i, 1)), i);
  for (uint32_t i = 0; i < 200'000; ++i) ASSERT_EQ(numbers.IdOf(i, Mix(i, 1)), i);
}

// All hashes begin at the last slots, so values wrap around the table's end, and the growing table
// must move them to the right slots.
TEST(DenseIndexTest, FindsValuesWhoseSlotsGoRoundTheEndOfTheTable) {
  Numbers numbers;
  const auto hash_of = [](uint64_t i) { return ~uint64_t{0} - (i % 3 << 32); };
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(numbers.IdOf(i, hash_of(i)), i);
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(numbers.IdOf(i, hash_of(i)), i);
}

// All hashes begin at the first slots, where no slot is free to move up to.
TEST(DenseIndexTest, FindsValuesThatCrowdAtTheStartOfTheTable) {
  Numbers numbers;
  const auto hash_of = [](uint64_t i) { return i % 5 << 32; };
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(numbers.IdOf(i, hash_of(i)), i);
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(numbers.IdOf(i, hash_of(i)), i);
}

TEST(KeyIndexTest, GivesEqualKeysOneId) {
  struct Key : Number {
    uint64_t Hash() const { return Mix(value, 2); }
  };
  KeyIndex<Key> index;
  uint32_t made = 0;
  const auto id_of = [&](uint64_t value) {
    const Key key{{value}};
    return index.FindOrInsert(key, key.Hash(), [&] { return made++; });
  };
  for (uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(id_of(i), i);
  for (uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(id_of(i), i);
  EXPECT_EQ(made, 100'000u);
}

}  // namespace
}  // namespace profiler::profile
