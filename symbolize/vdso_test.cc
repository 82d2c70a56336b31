#include "symbolize/vdso.h"

#include <elf.h>

#include <span>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {
namespace {

bool HasText(std::span<const std::byte> bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text) != std::string_view::npos;
}

TEST(VdsoTest, ThatOfProgramsWithThirtyTwoBitsIsAnotherOne) {
  const std::span<const std::byte> bytes = VdsoOf32Bit();
  if (bytes.empty()) GTEST_SKIP() << "this kernel has none";
  const auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_FALSE(image->is_64_bit());
  EXPECT_EQ(image->machine(), EM_386);
  EXPECT_NE(image->FindSection(".eh_frame"), nullptr);
  EXPECT_TRUE(HasText(bytes, "__kernel_vsyscall"));
  EXPECT_FALSE(HasText(OwnVdso(), "__kernel_vsyscall"));
}

TEST(VdsoTest, EachIsOpenedByItsName) {
  const OpenedImage own = OpenVdso({.kind = ImageKind::kVdso, .path = "[vdso]"});
  if (OwnVdso().empty()) GTEST_SKIP() << "this machine has none";
  ASSERT_TRUE(own.file.has_value());
  EXPECT_TRUE(own.file->elf.is_64_bit());
  const OpenedImage other = OpenVdso({.kind = ImageKind::kVdso, .path = std::string(kVdsoOf32Bit)});
  ASSERT_EQ(other.file.has_value(), !VdsoOf32Bit().empty());
  EXPECT_FALSE(other.file && other.file->elf.is_64_bit());
}

}  // namespace
}  // namespace profiler::symbolize
