#include "src/record/frame_pointers.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "src/base/mapped_file.h"

namespace profiler::record {
namespace {

std::optional<bool> Of(const std::string& fixture) {
  const char* root = std::getenv("TEST_SRCDIR");
  auto file = MappedFile::Open(std::string(root == nullptr ? "." : root) +
                               "/profiler/symbolize/unwind/testdata/" + fixture);
  EXPECT_TRUE(file.ok()) << file.status();
  const auto image = symbolize::ElfImage::Parse(file->bytes());
  EXPECT_TRUE(image.ok()) << image.status();
  return KeepsFramePointers(*image);
}

TEST(FramePointersTest, AreThereWhereTheCompilerWasToldToKeepThem) {
  EXPECT_EQ(Of("gcc_frame_pointer"), true);
  EXPECT_EQ(Of("clang_frame_pointer"), true);
}

TEST(FramePointersTest, AreMissingFromOptimizedCode) {
  EXPECT_EQ(Of("gcc_O2"), false);
  EXPECT_EQ(Of("clang_O2"), false);
  EXPECT_EQ(Of("gcc_static"), false);
}

TEST(FramePointersTest, NothingIsKnownWithoutCallFrameInformation) {
  EXPECT_EQ(Of("gcc_split"), std::nullopt);
}

}  // namespace
}  // namespace profiler::record
