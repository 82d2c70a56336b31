// Sections that are not as they were written, for tests of what reads them.

#pragma once

#include <cstddef>
#include <string>

#include "gtest/gtest.h"

namespace profiler {

// With any byte changed to any value, `read` gives nothing or what `is_whole`; both happen.
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

// With a bit of any byte of its content changed, `read` gives nothing or what `is_same`. For packed
// sections, which have a checksum.
void ExpectDamageIsSeen(const std::string& section, auto read, auto is_same) {
  ASSERT_TRUE(read(section).has_value());
  constexpr size_t kHead = 4;  // version, flags and size, of which only the size counts
  for (size_t at = kHead; at < section.size(); ++at) {
    std::string changed = section;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    auto result = read(changed);
    EXPECT_TRUE(!result.has_value() || is_same(*result)) << at;
  }
}

}  // namespace profiler
