#include "symbolize/unwind/unwind_images.h"

#include <elf.h>

#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;  // address of the image's ELF address 0
constexpr uint64_t kEhFrame = 0x400;

// An image with one function, mapped into a process as its loader does.
class UnwindImagesTest : public testing::Test {
 protected:
  // `elf` has the segments; the function has 0x100 bytes from ELF address `function` on.
  void Image(ElfBuilder elf, uint64_t function) {
    EhFrameBuilder frames(kEhFrame, {});
    frames.Add({.start = function});
    file_ = elf.Section(".eh_frame", kEhFrame, frames.section()).Build();
  }
  void Map(uint64_t address, uint64_t size, uint64_t offset) {
    addresses_.Map({RuntimeAddress{kBase + address}, size, FileOffset{offset}, ImageId{0}});
  }

  // Returns the ELF address of the code at kBase + `address`; empty if its frames are unknown.
  std::optional<uint64_t> ElfAddressAt(uint64_t address) {
    space_.Enter(1, addresses_);
    const RuntimeAddress place{kBase + address};
    MappedCode code;
    if (!space_.FindCode(place, &code) || code.cfi == nullptr) return std::nullopt;
    EXPECT_TRUE(code.Holds(place));
    held_ = code;
    return place.value - code.bias;
  }
  bool IsInFunction(uint64_t address) {
    const auto place = ElfAddressAt(address);
    return place && held_.cfi->Find(ElfAddress{*place}).kind != UnwindRule::kNone;
  }

  std::vector<std::byte> file_;
  AddressSpace addresses_;
  UnwindImages images_{[this](ImageId, uint32_t, const Mapping&) {
    UnwindImageFiles files;
    files.image.elf = *ElfImage::Parse(file_);
    return std::optional(std::move(files));
  }};
  MappedSpace space_{images_};
  MappedCode held_;  // the last result of FindCode
};

// lld, mold and rustc link like this: constants end and code begins in one page of the file, which
// is mapped twice. The first byte of the code's mapping belongs to the constants.
TEST_F(UnwindImagesTest, CodeThatSharesAPageOfTheFileWithConstants) {
  Image(ElfBuilder().Segment(0, 0, 0x1a40, PF_R).Segment(0x1a40, 0x2a40, 0x800, PF_R | PF_X),
        0x2b00);
  Map(0x2000, 0x2000, 0x1000);
  EXPECT_EQ(ElfAddressAt(0x2b10), 0x2b10u);
  EXPECT_TRUE(IsInFunction(0x2b10));
}

TEST_F(UnwindImagesTest, CodeAndConstantsInOneSegment) {
  Image(ElfBuilder().Segment(0, 0, 0x3000, PF_R | PF_X), 0x1000);
  Map(0, 0x3000, 0);
  EXPECT_EQ(ElfAddressAt(0x1010), 0x1010u);
}

TEST_F(UnwindImagesTest, OfTwoSegmentsWithTheSameBytesTheExecutableOneIsMeant) {
  Image(ElfBuilder().Segment(0, 0, 0x2000, PF_R).Segment(0, 0x10000, 0x2000, PF_R | PF_X), 0x11000);
  Map(0x10000, 0x2000, 0);
  EXPECT_EQ(ElfAddressAt(0x11010), 0x11010u);
  EXPECT_TRUE(IsInFunction(0x11010));
}

// The kernel joins mappings that are adjacent in memory and in the file.
TEST_F(UnwindImagesTest, TwoSegmentsOfCodeInOneMapping) {
  Image(ElfBuilder()
            .Segment(0x1000, 0x1000, 0x1000, PF_R | PF_X)
            .Segment(0x2000, 0x2000, 0x1000, PF_R | PF_X),
        0x2000);
  Map(0x1000, 0x2000, 0x1000);
  EXPECT_EQ(ElfAddressAt(0x1010), 0x1010u);
  EXPECT_EQ(ElfAddressAt(0x2010), 0x2010u);
}

TEST_F(UnwindImagesTest, APartOfAMappingHasTheLoadAddressOfTheWhole) {
  Image(ElfBuilder().Segment(0, 0, 0x1a40, PF_R).Segment(0x1a40, 0x2a40, 0x4000, PF_R | PF_X),
        0x5000);
  Map(0x2000, 0x5000, 0x1000);
  addresses_.Unmap(RuntimeAddress{kBase + 0x2000}, 0x2000);
  EXPECT_EQ(ElfAddressAt(0x5010), 0x5010u);
}

// A wrong address before the code must not determine the load address of the code after it.
TEST_F(UnwindImagesTest, BytesOfAMappingThatAreNoCodeSayNothingOfTheRest) {
  Image(ElfBuilder().Segment(0, 0, 0x1a40, PF_R).Segment(0x1a40, 0x2a40, 0x800, PF_R | PF_X),
        0x2b00);
  Map(0x2000, 0x2000, 0x1000);
  EXPECT_EQ(ElfAddressAt(0x2010), std::nullopt);
  MappedCode code;
  ASSERT_TRUE(space_.FindCode(RuntimeAddress{kBase + 0x2010}, &code)) << "it is mapped";
  EXPECT_FALSE(code.Holds(RuntimeAddress{kBase + 0x2b10}));
}

}  // namespace
}  // namespace profiler::symbolize
