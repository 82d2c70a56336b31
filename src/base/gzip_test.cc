#include "src/base/gzip.h"

#include "gtest/gtest.h"

namespace profiler {
namespace {

// Returns a text that compresses, but not to nothing.
std::string SomeText() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 10'007) + "\n";
  return text;
}

TEST(GzipTest, ATextIsInflatedAsItWas) {
  for (const std::string& text : {std::string(), std::string("a\0b", 3), SomeText()}) {
    for (const int level : {kGzipFile, kGzipMessage}) {
      const std::string packed = Gzip(text, level);
      EXPECT_TRUE(IsGzip(packed));
      EXPECT_EQ(*Gunzip(packed), text);
    }
  }
  EXPECT_LT(Gzip(SomeText()).size(), SomeText().size() / 2);
}

TEST(GzipTest, AllMembersAreInflated) { EXPECT_EQ(*Gunzip(Gzip("one ") + Gzip("two")), "one two"); }

TEST(GzipTest, TheStartOfAFileIsInflated) {
  const std::string packed = Gzip(SomeText());
  EXPECT_EQ(GunzipStart(packed.substr(0, packed.size() / 2), 10), SomeText().substr(0, 10));
}

TEST(GzipTest, CutAndDamagedFilesAreRefused) {
  std::string packed = Gzip(SomeText());
  EXPECT_EQ(Gunzip(packed.substr(0, packed.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
  EXPECT_EQ(Gunzip(packed).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(IsGzip("plain"));
}

TEST(GzipTest, AFileMadeToFillMemoryIsRefused) {
  EXPECT_EQ(Gunzip(Gzip(std::string(size_t{20} << 20, '0'))).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace profiler
