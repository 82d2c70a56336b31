#include "symbolize/address_space.h"

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

Mapping MakeMapping(uint64_t start, uint64_t size, uint64_t offset, uint32_t image) {
  return {RuntimeAddress{start}, size, FileOffset{offset}, ImageId{image}};
}

// Formats mappings as "start+size=image@offset", in hexadecimal.
std::string Text(const AddressSpace& space) {
  return absl::StrJoin(space.mappings(), " ", [](std::string* out, const Mapping& mapping) {
    absl::StrAppend(out, absl::Hex(mapping.start.value), "+", absl::Hex(mapping.size), "=",
                    static_cast<uint32_t>(mapping.image), "@", absl::Hex(mapping.place.value));
  });
}

TEST(AddressSpaceTest, FindsTheMappingThatHoldsAnAddress) {
  AddressSpace space;
  space.Map(MakeMapping(0x1000, 0x1000, 0, 1));
  space.Map(MakeMapping(0x3000, 0x1000, 0x500, 2));
  EXPECT_EQ(space.Find({0xfff}), nullptr);
  EXPECT_EQ(space.Find({0x1000})->image, ImageId{1});
  EXPECT_EQ(space.Find({0x1fff})->image, ImageId{1});
  EXPECT_EQ(space.Find({0x2000}), nullptr);
  EXPECT_EQ(space.Find({0x3001})->image, ImageId{2});
  EXPECT_EQ(space.Find({0x4000}), nullptr);
}

TEST(AddressSpaceTest, ANewMappingSplitsTheOneAroundIt) {
  AddressSpace space;
  space.Map(MakeMapping(0x1000, 0x3000, 0x100, 1));
  space.Map(MakeMapping(0x2000, 0x1000, 0, 2));
  EXPECT_EQ(Text(space), "1000+1000=1@100 2000+1000=2@0 3000+1000=1@2100");
}

TEST(AddressSpaceTest, ANewMappingCutsBothNeighbours) {
  AddressSpace space;
  space.Map(MakeMapping(0x1000, 0x1000, 0, 1));
  space.Map(MakeMapping(0x2000, 0x1000, 0, 2));
  space.Map(MakeMapping(0x1800, 0x1000, 0, 3));
  EXPECT_EQ(Text(space), "1000+800=1@0 1800+1000=3@0 2800+800=2@800");
}

TEST(AddressSpaceTest, MappingsReachTheEndOfTheAddressSpace) {
  AddressSpace space;
  space.Map(MakeMapping(0xffffffff81000000, 0x7f000000, 0, 1));
  space.Map(MakeMapping(0xfffffffffffff000, 0x5000, 0, 2));
  EXPECT_EQ(Text(space), "ffffffff81000000+7efff000=1@0 fffffffffffff000+1000=2@0");
  EXPECT_EQ(space.Find({~uint64_t{0}})->image, ImageId{2});
  space.Map(MakeMapping(0, ~uint64_t{0}, 0, 3));
  EXPECT_EQ(space.Find({5})->image, ImageId{3});
}

TEST(AddressSpaceTest, UnmapSplits) {
  AddressSpace space;
  space.Map(MakeMapping(0x1000, 0x3000, 0, 1));
  space.Unmap({0x2000}, 0x1000);
  EXPECT_EQ(Text(space), "1000+1000=1@0 3000+1000=1@2000");
}

TEST(AddressSpaceTest, GenerationChangesOnlyWithTheContent) {
  AddressSpace space;
  AddressSpace other;
  EXPECT_EQ(space.generation(), other.generation());
  space.Map(MakeMapping(0x1000, 0x2000, 0, 1));
  other.Map(MakeMapping(0x1000, 0x2000, 0, 1));
  const uint64_t first = space.generation();
  EXPECT_NE(first, other.generation());
  space.Map(MakeMapping(0x1000, 0x2000, 0, 1));
  space.Map(MakeMapping(0x1800, 0x800, 0x800, 1));
  space.Map(MakeMapping(0x9000, 0, 0, 1));
  space.Unmap({0x5000}, 0x1000);
  EXPECT_EQ(space.generation(), first);
  space.Map(MakeMapping(0x1800, 0x800, 0x900, 1));
  EXPECT_NE(space.generation(), first);
}

TEST(AddressSpacesTest, AForkedChildHasItsParentsMappingsUntilEitherChanges) {
  AddressSpaces spaces;
  spaces.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 1));
  spaces.Fork(1, 2);
  EXPECT_EQ(spaces.Process(2).generation(), spaces.Process(1).generation());
  spaces.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 7));
  spaces.Process(2).Map(MakeMapping(0x5000, 0x1000, 0, 2));
  EXPECT_EQ(Text(spaces.Process(1)), "1000+1000=7@0");
  EXPECT_EQ(Text(spaces.Process(2)), "1000+1000=1@0 5000+1000=2@0");
  EXPECT_NE(spaces.Process(2).generation(), spaces.Process(1).generation());
}

TEST(AddressSpacesTest, ExecClearsOnlyTheProcessThatCallsIt) {
  AddressSpaces spaces;
  spaces.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 1));
  spaces.Fork(1, 2);
  const uint64_t before = spaces.Process(2).generation();
  spaces.Exec(2);
  EXPECT_EQ(Text(spaces.Process(2)), "");
  EXPECT_NE(spaces.Process(2).generation(), before);
  EXPECT_EQ(Text(spaces.Process(1)), "1000+1000=1@0");
}

// Process 1 has mapped image 1 (program) and image 2 (libc), and then executes another program.
class ExecTest : public testing::Test {
 protected:
  ExecTest() {
    spaces_.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 1));
    spaces_.Process(1).Map(MakeMapping(0x8000, 0x1000, 0, 2));
    spaces_.Exec(1);
  }

  std::string InKernel(uint64_t user_ip) {
    return Text(spaces_.DuringExec(1, /*in_user_code=*/false, RuntimeAddress{user_ip}));
  }

  AddressSpaces spaces_;
};

constexpr char kOld[] = "1000+1000=1@0 8000+1000=2@0";
constexpr char kNew[] = "1000+1000=3@0";

TEST_F(ExecTest, SamplesInTheSystemCallAreOfTheOldImageUntilTheNewOneRuns) {
  EXPECT_EQ(InKernel(0x8010), kOld);
  spaces_.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 3));
  EXPECT_EQ(InKernel(0x8010), kOld);
  EXPECT_TRUE(spaces_.IsExecuting(1));
  EXPECT_EQ(Text(spaces_.DuringExec(1, /*in_user_code=*/true, std::nullopt)), kNew);
  EXPECT_FALSE(spaces_.IsExecuting(1));
}

TEST_F(ExecTest, SamplesInTheKernelThatAreOfTheNewImageEndItAsWell) {
  spaces_.Process(1).Map(MakeMapping(0x4000, 0x1000, 0, 3));
  EXPECT_EQ(InKernel(0x4010), "4000+1000=3@0");
  EXPECT_FALSE(spaces_.IsExecuting(1));
}

TEST_F(ExecTest, WhereTheNewImageCoversTheOldOneTheAddressOfTheSystemCallTells) {
  EXPECT_EQ(InKernel(0x1010), kOld);
  spaces_.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 3));
  EXPECT_EQ(InKernel(0x1010), kOld);
  EXPECT_EQ(InKernel(0x1020), kNew);
  EXPECT_FALSE(spaces_.IsExecuting(1));
}

TEST_F(ExecTest, WhereNothingTellsTheImagesApartNoneIsTaken) {
  spaces_.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 3));
  EXPECT_EQ(InKernel(0x1010), "");
  EXPECT_EQ(InKernel(0x1020), kNew) << "registers that have changed are the new image's";
}

TEST_F(ExecTest, TheSameImageAtTheSamePlaceNeedsNoTellingApart) {
  spaces_.Process(1).Map(MakeMapping(0x8000, 0x1000, 0, 2));
  EXPECT_EQ(InKernel(0x8010), "8000+1000=2@0");
}

TEST_F(ExecTest, WhatIsInNeitherImageIsOfTheNewOne) {
  EXPECT_EQ(InKernel(0x9999), "");
  EXPECT_FALSE(spaces_.IsExecuting(1));
}

TEST_F(ExecTest, ASampleWithoutUserCodeChangesNothing) {
  EXPECT_EQ(Text(spaces_.DuringExec(1, /*in_user_code=*/false, std::nullopt)), "");
  EXPECT_EQ(InKernel(0x8010), kOld);
}

TEST(AddressSpacesTest, AProcessKeepsItsMappingsUntilItsPidIsForkedAgain) {
  AddressSpaces spaces;
  spaces.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 1));
  spaces.Process(2).Map(MakeMapping(0x2000, 0x1000, 0, 2));
  EXPECT_EQ(Text(spaces.Process(2)), "2000+1000=2@0");
  spaces.Fork(1, 2);
  EXPECT_EQ(Text(spaces.Process(2)), "1000+1000=1@0");
}

TEST(AddressSpacesTest, ANewThreadIsNoFork) {
  AddressSpaces spaces;
  spaces.Process(1).Map(MakeMapping(0x1000, 0x1000, 0, 1));
  const uint64_t before = spaces.Process(1).generation();
  spaces.Fork(1, 1);
  EXPECT_EQ(Text(spaces.Process(1)), "1000+1000=1@0");
  EXPECT_EQ(spaces.Process(1).generation(), before);
}

// A reference model with one entry per byte of a small address space.
class ByteModel {
 public:
  using Byte = std::optional<std::pair<uint32_t, uint64_t>>;  // image, offset

  void Map(uint64_t start, uint64_t size, uint64_t offset, uint32_t image) {
    for (uint64_t i = 0; i < size; ++i) bytes_[start + i] = {image, offset + i};
  }
  void Unmap(uint64_t start, uint64_t size) {
    for (uint64_t i = 0; i < size; ++i) bytes_.erase(start + i);
  }
  Byte At(uint64_t address) const {
    const auto it = bytes_.find(address);
    return it == bytes_.end() ? std::nullopt : it->second;
  }
  bool operator==(const ByteModel&) const = default;

 private:
  std::map<uint64_t, Byte> bytes_;
};

TEST(AddressSpaceTest, AgreesWithAModelOfSingleBytesOverRandomChanges) {
  constexpr uint64_t kRoom = 80;
  std::mt19937 random(1);
  const auto below = [&random](uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 100; ++round) {
    AddressSpace space;
    ByteModel model;
    for (int step = 0; step < 60; ++step) {
      const ByteModel model_before = model;
      const AddressSpace before = space;
      const uint64_t start = below(kRoom);
      const uint64_t size = below(kRoom - start + 1);
      if (below(4) == 0) {
        space.Unmap({start}, size);
        model.Unmap(start, size);
      } else {
        // Uses few images, and offsets that follow from the address, so that some calls of Map
        // change nothing.
        const auto image = static_cast<uint32_t>(below(2));
        space.Map(MakeMapping(start, size, 1000 + start, image));
        model.Map(start, size, 1000 + start, image);
      }
      for (uint64_t address = 0; address < kRoom; ++address) {
        const Mapping* mapping = space.Find({address});
        ByteModel::Byte byte;
        if (mapping != nullptr) {
          byte = {static_cast<uint32_t>(mapping->image),
                  mapping->place.value + (address - mapping->start.value)};
        }
        ASSERT_EQ(byte, model.At(address)) << "round " << round << " step " << step;
      }
      ASSERT_TRUE(model == model_before || space.generation() != before.generation());
      if (space.generation() == before.generation()) {
        ASSERT_EQ(Text(space), Text(before));
      }
      uint64_t end = 0;
      for (const Mapping& mapping : space.mappings()) {
        ASSERT_GE(mapping.start.value, end);
        ASSERT_GT(mapping.size, 0u);
        end = mapping.start.value + mapping.size;
      }
    }
  }
}

// The program keeps mapping pages at new addresses; no event says that it unmaps them.
TEST(AddressSpaceTest, HasOnlySoManyMappingsAndNoneThatIsWrong) {
  AddressSpace space;
  constexpr uint64_t kPage = 4096;
  const auto at = [](uint64_t i) { return (2 * AddressSpace::kMostMappings - i) * 2 * kPage; };
  for (uint64_t i = 0; i < AddressSpace::kMostMappings + 10; ++i) {
    space.Map(MakeMapping(at(i), kPage, 0, 1));
  }
  EXPECT_EQ(space.mappings().size(), AddressSpace::kMostMappings);
  EXPECT_NE(space.Find({at(0)}), nullptr);
  EXPECT_EQ(space.Find({at(AddressSpace::kMostMappings)}), nullptr);
  // A mapping that replaces two others still fits.
  space.Map(MakeMapping(at(1), at(0) + kPage - at(1), 0, 2));
  ASSERT_NE(space.Find({at(1)}), nullptr);
  EXPECT_EQ(space.Find({at(1)})->image, ImageId{2});
  EXPECT_EQ(space.Find({at(1)}), space.Find({at(0)}));
}

}  // namespace
}  // namespace profiler::symbolize
