#include "symbolize/elf/embedded_elf.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kPage = 4096;

class EmbeddedElfTest : public testing::Test {
 protected:
  EmbeddedElfTest() : library_(ReadFile(TestFile("shared"))) {
    code_ = library_.find("<the bytes of marked_code>");
  }
  // Appends `text` at the next page.
  size_t Add(std::string_view text) {
    archive_.resize((archive_.size() + kPage - 1) / kPage * kPage, 'x');
    const size_t start = archive_.size();
    archive_ += text;
    return start;
  }
  std::optional<uint64_t> StartOf(size_t offset) {
    bytes_ = Bytes(archive_);
    const auto found = FindEmbeddedElf(bytes_, {offset});
    return found ? std::optional(found->start) : std::nullopt;
  }

  const std::string library_;
  size_t code_ = 0;
  std::string archive_ = "PK\3\4";
  std::vector<std::byte> bytes_;
};

TEST_F(EmbeddedElfTest, CodeBelongsToTheFileThatBeginsBeforeIt) {
  const size_t first = Add(library_);
  Add("something else");
  const size_t second = Add(library_);
  Add("the end");
  EXPECT_EQ(StartOf(first + code_), first);
  EXPECT_EQ(StartOf(second + code_), second);
}

TEST_F(EmbeddedElfTest, ItsAddressesAreThoseOfTheFileByItself) {
  const size_t start = Add(library_);
  bytes_ = Bytes(archive_);
  const auto found = FindEmbeddedElf(bytes_, {start + code_});
  const auto plain = Bytes(library_);
  const auto alone = ElfImage::Parse(plain);
  ASSERT_TRUE(found && alone.ok());
  EXPECT_EQ(found->elf.AddressOf({code_}), alone->AddressOf({code_}));
  EXPECT_TRUE(SameBuildId(found->elf.build_id(), alone->build_id()));
}

TEST_F(EmbeddedElfTest, WhatIsNoCodeOfAFileBelongsToNone) {
  const size_t start = Add(library_);
  const size_t behind = Add("something else");
  EXPECT_EQ(StartOf(behind), std::nullopt);
  EXPECT_EQ(StartOf(start - 1), std::nullopt);
  EXPECT_EQ(StartOf(archive_.size()), std::nullopt);
  EXPECT_EQ(StartOf(SIZE_MAX), std::nullopt);
}

TEST_F(EmbeddedElfTest, AnElfFileAndWhatIsNoArchiveHaveNone) {
  archive_ = library_;
  const size_t start = Add(library_);
  EXPECT_EQ(StartOf(start + code_), std::nullopt);
  archive_ = "no archive";
  EXPECT_EQ(StartOf(Add(library_) + code_), std::nullopt);
}

TEST_F(EmbeddedElfTest, ManyHeadersWithoutAFileAreNotAllLookedInto) {
  const size_t start = Add(library_);
  for (int i = 0; i < 1000; ++i) Add("\177ELF");
  archive_.resize(archive_.size() + kPage);
  EXPECT_EQ(StartOf(archive_.size() - 1), std::nullopt);
  EXPECT_EQ(StartOf(start + code_), start);
}

TEST_F(EmbeddedElfTest, AFileThatIsCutShortIsNone) {
  const size_t start = Add(library_.substr(0, 40));
  archive_.resize(start + code_ + kPage);
  EXPECT_EQ(StartOf(start + code_), std::nullopt);
}

}  // namespace
}  // namespace profiler::symbolize
