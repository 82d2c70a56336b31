// Damages encoded sections, to test the code that reads them.

#pragma once

#include <cstddef>
#include <string>

#include "gtest/gtest.h"

namespace profiler {

// Sets each byte to each value in turn. Expects each time that `read` refuses the section or
// returns a value that `is_whole` accepts. Expects that both results occur at least once.
void ExpectWholeOrNone(const std::string& section, auto read, auto is_whole) {
  int refused = 0, accepted = 0;
  for (size_t at = 0; at < section.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = section;
      changed[at] = static_cast<char>(value);
      auto result = read(changed);
      ++(result.has_value() ? accepted : refused);
      ASSERT_TRUE(!result.has_value() || is_whole(*result)) << at << " " << value;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(accepted, 0);
}

// Flips one bit of each content byte and expects that `read` refuses the section or returns a value
// that `is_same` accepts. For packed sections, which have a checksum.
void ExpectDamageIsSeen(const std::string& section, auto read, auto is_same) {
  ASSERT_TRUE(read(section).has_value());
  constexpr size_t kHead = 4;  // version, flags and size; only the size is checked
  for (size_t at = kHead; at < section.size(); ++at) {
    std::string changed = section;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    auto result = read(changed);
    EXPECT_TRUE(!result.has_value() || is_same(*result)) << at;
  }
}

}  // namespace profiler
