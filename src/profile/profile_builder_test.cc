#include "src/profile/profile_builder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/branch_filter.h"
#include "src/format/perf_event/records.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_codec.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::profile {
namespace {

using perf_event::Attr;
using perf_event::kContextKernel;
using perf_event::kContextUser;
using perf_event::kContextUserDeferred;
using perf_event::kMiscKernel;
using perf_event::kMiscUser;
using perf_event::RecordBuilder;

constexpr uint64_t kType = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                           perf_event::kSampleTid | perf_event::kSampleTime |
                           perf_event::kSampleCpu | perf_event::kSamplePeriod |
                           perf_event::kSampleCallchain;

constexpr uint64_t kKernelText = 0xffffffff81000000;
constexpr uint64_t kDataSize = 4711;  // size of the whole recording

// This is no ProfileBuilderTest, because the checks after each of those would take long here.
TEST(ManyChainsTest, ForgottenChainsAreCountedInTheirOldRows) {
  // More chains than the cache of chains keeps.
  constexpr uint64_t kChains = 700'000;
  RecordBuilder records(perf_event::SampleAttr(kType));
  records.By(7, 7);
  for (uint64_t i = 0; i < kChains; ++i) records.Sample(8 * i, {kContextUser, 8 * i, 0x1001});
  for (uint64_t i = 0; i < 1000; ++i) records.Sample(8 * i, {kContextUser, 8 * i, 0x1001});
  for (const uint32_t threads : {1, 2}) {
    FakeSymbolizer symbolizer;
    ProfileBuilder builder(symbolizer, {.threads = threads});
    builder.AddEvent("cpu-clock", records.attr());
    for (perf_event::RawRecord record : records.records()) builder.Add(record, 0, 0);
    const Profile profile = std::move(builder).Finish();
    ASSERT_EQ(profile.rows.size(), kChains);
    EXPECT_EQ(profile.stacks.size(), kChains + 1);
    for (uint64_t i = 0; i < kChains; ++i) {
      ASSERT_EQ(profile.rows[i].count, i < 1000 ? 2u : 1u);
      ASSERT_EQ(profile[profile.rows[i].self].ip.value, 8 * i);
    }
  }
}

class ProfileBuilderTest : public testing::Test {
 protected:
  ProfileBuilderTest() : records_(perf_event::SampleAttr(kType)) {}

  // Builds the profile of the records so far. Each test starts with "cat" (pid and tid 7), with
  // /bin/cat at 0x1000–0x2fff (file offset 0) and /lib/libc.so at 0x10000–0x1ffff (file offset
  // 0x4000).
  Profile Build(BuilderOptions options = {}) {
    ProfileBuilder builder(symbolizer_, std::move(options));
    builder.AddEvent("cpu-clock", records_.attr());
    return Finish(std::move(builder));
  }

  Profile Finish(ProfileBuilder builder) {
    AddRecords(builder);
    return std::move(builder).Finish();
  }

  void AddRecords(ProfileBuilder& builder) {
    for (perf_event::RawRecord record : records_.records()) {
      builder.Add(record, 0, perf_event::TimeOf(record, records_.layout()));
    }
  }

  std::string Stored();

  // Checks after each test that the stored profile of the records equals the profile that is built
  // from them, for all combinations that a reader may want.
  void TearDown() override {
    for (const bool threads : {false, true}) {
      for (const DimensionSet& dimensions : {DimensionSet{}, {true, false}, kStoredDimensions}) {
        for (const uint32_t cpus : {0, 1}) {
          const SampleSelection samples{.cpus = std::vector<uint32_t>(cpus, 1)};
          ExpectStoredAsMade({threads, dimensions, samples});
        }
      }
    }
  }

  void ExpectStoredAsMade(const Wanted& wanted) {
    const Profile expected = Build({.dimensions = wanted.dimensions,
                                    .keep_thread = wanted.threads,
                                    .slices = TimeSlices::Of(0, 99, 10),
                                    .samples = wanted.samples});
    auto stored = DecodeProfile(Stored(), kDataSize, wanted);
    ASSERT_TRUE(stored.has_value());
    const Profile got = Named(WithImages(*std::move(stored), symbolizer_), symbolizer_);
    EXPECT_EQ(RowsText(got), RowsText(expected));
    EXPECT_EQ(got.events[0].samples, expected.events[0].samples);
    EXPECT_EQ(got.events[0].period, expected.events[0].period);
    EXPECT_EQ(got.losses.lost_records, expected.losses.lost_records);
    EXPECT_EQ(got.losses.corrupt_chains, expected.losses.corrupt_chains);
    EXPECT_EQ(got.chains, expected.chains);
  }

  std::string Rows(BuilderOptions options = {}) { return RowsText(Build(std::move(options))); }

  RecordBuilder& StartCat() {
    return records_.At(1)
        .By(7, 7)
        .Comm("cat", true)
        .Mmap2(0x1000, 0x2000, 0, "/bin/cat")
        .Mmap2(0x10000, 0x10000, 0x4000, "/lib/libc.so");
  }

  FakeSymbolizer symbolizer_;
  RecordBuilder records_;
};

TEST_F(ProfileBuilderTest, CountsSamplesAndPeriodsOfEqualStacks) {
  StartCat();
  records_.Period(10).Sample(0x1234, {kContextUser, 0x1234});
  records_.Period(20).Sample(0x1234, {kContextUser, 0x1234});
  records_.Period(5).Sample(0x2234, {kContextUser, 0x2234});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: cat+0x1200  1 5\n"
            "cat 7/7: cat+0x200  2 30\n");
  EXPECT_EQ(profile.events[0].samples, 3u);
  EXPECT_EQ(profile.events[0].period, 35u);
}

TEST_F(ProfileBuilderTest, ManySamplesInARowAreAllCountedWhateverStandsBetweenThem) {
  StartCat();
  for (uint64_t i = 0; i < 100; ++i) {
    records_.At(10 + i).Sample(0x1000 + 0x100 * (i % 3), {kContextUser, 0x1000 + 0x100 * (i % 3)});
    if (i == 40) records_.Mmap2(0x1000, 0x2000, 0x2000, "/bin/dog");
  }
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0  14 14\n"
            "cat 7/7: cat+0x100  14 14\n"
            "cat 7/7: cat+0x200  13 13\n"
            "cat 7/7: dog+0x2000  20 20\n"
            "cat 7/7: dog+0x2100  19 19\n"
            "cat 7/7: dog+0x2200  20 20\n");
}

TEST_F(ProfileBuilderTest, NeitherThreadsNorBatchesChangeTheProfile) {
  StartCat();
  records_.By(8, 8).Comm("dog", true).Mmap2(0x1000, 0x2000, 0, "/bin/dog").By(8, 9).Comm("pup");
  // Chains that share a random number of outer entries with the last one of any process.
  std::mt19937 random(1);
  std::vector<uint64_t> callers;  // outermost first
  for (uint64_t i = 0; i < 3000; ++i) {
    callers.resize(random() % (callers.size() + 1));
    while (callers.size() < 20 && random() % 8 != 0) callers.push_back(0x1001 + random() % 0x1fff);
    std::vector<uint64_t> chain = {kContextUser, 0x1100 + random() % 2 * 0x100};
    if (random() % 16 == 0) chain = {kContextKernel, kKernelText + random() % 4, kContextUser};
    chain.insert(chain.end(), callers.rbegin(), callers.rend());
    const uint32_t pid = 7 + random() % 2;
    records_.At(10 + i).On(random() % 4).By(pid, pid == 7 ? 7 : 8 + random() % 2);
    records_.Sample(chain.back() == kContextUser ? kKernelText : chain[1], chain);
    if (i % 700 == 600) records_.Mmap2(0x2000, 0x1000, i, "/bin/plugin");
  }
  const auto build = [&](uint32_t threads) {
    return Build({.dimensions = {true}, .keep_order = true, .threads = threads});
  };
  const Profile one = build(1);
  const Profile several = build(4);
  EXPECT_GT(one.rows.size(), 1000u);
  EXPECT_EQ(RowsText(one), RowsText(several));
  // Not even numbers of stacks and rows differ.
  ASSERT_EQ(one.stacks.size(), several.stacks.size());
  for (uint32_t i = 0; i < one.stacks.size(); ++i) {
    ASSERT_EQ(one.stacks[i].parent, several.stacks[i].parent);
    ASSERT_EQ(one.stacks[i].frame, several.stacks[i].frame);
  }
  ASSERT_EQ(one.order.size(), 3000u);
  ASSERT_EQ(several.order.size(), 3000u);
  for (size_t i = 0; i < 3000; ++i) ASSERT_EQ(one.order[i].row, several.order[i].row);
  EXPECT_EQ(RowsText(one), RowsText(Build({.dimensions = {true},
                                           .on_samples = [](const auto&, const auto&, auto) {},
                                           .whole_samples = true})));
}

TEST_F(ProfileBuilderTest, AnImagesShareIsOfTheSamplesThatHaveItOnTheirStackHoweverOften) {
  StartCat();
  for (int i = 0; i < 3; ++i) {
    records_.Sample(0x10100, {kContextUser, 0x10100, 0x1300, 0x10200, 0x1400});
  }
  records_.Sample(0x1234, {kContextUser, 0x1234});
  records_.Sample(0x50000, {kContextUser, 0x50000});  // nothing is mapped at this address
  ProfileBuilder builder(symbolizer_);
  builder.AddEvent("cpu-clock", records_.attr());
  for (perf_event::RawRecord record : records_.records()) builder.Add(record, 0, 1);
  std::string shares;
  for (const auto& [image, share] : SharesOfImages(std::move(builder).Unnamed())) {
    shares += symbolizer_.image(image).path + " " + std::to_string(share) + "\n";
  }
  EXPECT_EQ(shares, "/bin/cat 0.800000\n/lib/libc.so 0.600000\n[kernel.kallsyms] 0.000000\n");
}

TEST_F(ProfileBuilderTest, FramesOfOneFunctionAtTwoAddressesAreTwo) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  records_.Sample(0x1238, {kContextUser, 0x1238});
  const Profile profile = Build();
  EXPECT_EQ(profile.frames.size(), 2u);
  EXPECT_EQ(profile.symbols.size(), 1u);
  EXPECT_EQ(RowsText(profile), "cat 7/7: cat+0x200  1 1\ncat 7/7: cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, CallersAreLookedUpOneByteBeforeAndInterruptedInstructionsWhereTheyAre) {
  StartCat();
  // 0x1300 is the return address of the call at 0x12ff; as an interrupted instruction it belongs to
  // the next function.
  records_.Sample(0x1300, {kContextUser, 0x1300, 0x1300, 0x1400});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x300;cat+0x200;cat+0x300  1 1\n");
}

TEST_F(ProfileBuilderTest, AKernelFunctionsFirstInstructionBehindItsPaddingIsNoReturnAddress) {
  const uint64_t k = kKernelText;
  StartCat().Ksymbol(k + 0x100, 0x10, "__pfx_f").Ksymbol(k + 0x110, 0x40, "f");
  records_.Mode(kMiscKernel).Sample(k, {kContextKernel, k, k + 0x110, k + 0x201});
  EXPECT_EQ(Rows(),
            "cat 7/7: [kernel.kallsyms]+0xffffffff81000200;f;"
            "[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, ACallAtTheEndOfAKernelFunctionIsThatFunctionsWhateverIsBehindIt) {
  const uint64_t k = kKernelText;
  StartCat()
      .Ksymbol(k + 0x100, 0x20, "exits")
      .Ksymbol(k + 0x120, 0x20, "follows")
      .Ksymbol(k + 0x140, 0x20, "exits_too")
      .Ksymbol(k + 0x160, 0x10, "__pfx_g")
      .Ksymbol(k + 0x170, 0x20, "g");
  records_.Mode(kMiscKernel).Sample(k, {kContextKernel, k, k + 0x120, k + 0x160});
  EXPECT_EQ(Rows(), "cat 7/7: exits_too;exits;[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, ACallerAtTheFirstByteAfterAMappingBelongsToTheMapping) {
  StartCat();
  records_.Sample(0x1000, {kContextUser, 0x1000, 0x3000});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x1f00;cat+0  1 1\n");
}

TEST_F(ProfileBuilderTest, AChainOfTheKernelsWithACallerInNoMappingIsShownAndCountedAsBroken) {
  StartCat();
  const std::vector<uint64_t> broken = {kContextUser, 0x1234, 0x7878787878787878, 0x1301};
  records_.Sample(0x1234, broken).Sample(0x1234, broken);
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1301});
  records_.Sample(0x1234, {kContextUser, 0x1234});      // a chain without a caller
  records_.Sample(0x999999, {kContextUser, 0x999999});  // interrupted at an unmapped address
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: 0x999999@[unknown]  1 1\n"
            "cat 7/7: cat+0x200  1 1\n"
            "cat 7/7: cat+0x300;0x7878787878787878@[unknown];cat+0x200  2 2\n"
            "cat 7/7: cat+0x300;cat+0x200  1 1\n");
  EXPECT_EQ(profile.chains.by_kernel, 3u);
  EXPECT_EQ(profile.chains.broken, 2u);
  EXPECT_EQ(profile.chains.chains(), 0u) << "none of them was unwound";
}

TEST_F(ProfileBuilderTest, ChainsThatTheRecorderUnwoundAreNoneOfTheKernels) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1300});
  EXPECT_EQ(Build({.exact_user_chains = true}).chains.by_kernel, 0u);
}

TEST_F(ProfileBuilderTest, AChainThatTheRecorderCutBeginsWithTheReason) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1300, kCutMarks + 3});
  records_.Sample(0x1234, {kContextUser, 0x1234, kCutMarks + 63});
  const Profile profile = Build({.exact_user_chains = true});
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: [cut: stack too short];cat+0x300;cat+0x200  1 1\n"
            "cat 7/7: [cut: unknown];cat+0x200  1 1\n");
  EXPECT_EQ(profile[profile[profile.rows[0].stack].frame].mode, Mode::kUser);
}

TEST_F(ProfileBuilderTest, AnAddressThatLooksLikeAMarkIsOneOnlyBehindCallersThatWeUnwound) {
  StartCat();
  records_.Sample(kCutMarks + 3, {kContextUser, kCutMarks + 3, 0x1300});
  EXPECT_EQ(RowsText(Build({.exact_user_chains = true})),
            "cat 7/7: cat+0x300;0xc03@[unknown]  1 1\n");
  records_.Sample(0x1234, {kContextUser, 0x1234, kCutMarks + 3});
  EXPECT_THAT(RowsText(Build()), testing::HasSubstr("0xc03@[unknown];cat+0x200"));
}

TEST_F(ProfileBuilderTest, AChainWithAMarkerThatIsNoneIsNotBelievedAndCountedEachTime) {
  StartCat();
  const std::vector<uint64_t> corrupt = {kContextUser, 0x1234, 0x1300, ~uint64_t{0}, 0x1400};
  records_.Sample(0x1234, corrupt);
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1300});
  records_.Sample(0x1234, corrupt);
  records_.Sample(0x1434, corrupt);
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: cat+0x200  2 2\n"
            "cat 7/7: cat+0x200;cat+0x200  1 1\n"
            "cat 7/7: cat+0x400  1 1\n");
  EXPECT_EQ(profile.losses.corrupt_chains, 3u);
}

TEST_F(ProfileBuilderTest, KernelFramesStandOnTheUserFramesThatEnteredTheKernel) {
  records_.By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000000, kKernelText, "[kernel.kallsyms]_text");
  records_.Mode(kMiscUser);
  StartCat();
  records_.Mode(kMiscKernel);
  // The first entry of each part is an interrupted instruction; the others are return addresses.
  records_.Sample(kKernelText + 0x100, {kContextKernel, kKernelText + 0x100, kKernelText + 0x300,
                                        kContextUser, 0x10100, 0x1300});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x200;libc.so+0x4100;"
            "[kernel.kallsyms]+0xffffffff81000200;[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, OneKernelChainOnManyUserStacksIsManyStacks) {
  StartCat();
  records_.Mode(kMiscKernel);
  const uint64_t k = kKernelText;
  records_.Sample(k, {kContextKernel, k, k + 0x101, kContextUser, 0x1100});
  records_.Sample(k, {kContextKernel, k, k + 0x101, kContextUser, 0x1200});
  records_.Sample(k, {kContextKernel, k, k + 0x101, kContextUser, 0x1100});
  records_.Sample(k, {kContextKernel, k, k + 0x101});
  const std::string kernel =
      "[kernel.kallsyms]+0xffffffff81000100;"
      "[kernel.kallsyms]+0xffffffff81000000[k]";
  EXPECT_EQ(Rows(), "cat 7/7: " + kernel + "  1 1\n" +                //
                        "cat 7/7: cat+0x100;" + kernel + "  2 2\n" +  //
                        "cat 7/7: cat+0x200;" + kernel + "  1 1\n");
}

TEST_F(ProfileBuilderTest, WithoutCallersOnlyTheInnermostFrameOfAStackIsLeft) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1300, 0x1400});
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x1500});
  records_.Sample(0x1234, {kContextUser, 0x1234, ~uint64_t{0}});  // corrupt
  records_.Sample(0x1600);
  const uint64_t k = kKernelText;
  records_.Mode(kMiscKernel).Sample(k, {kContextKernel, k, k + 0x101, kContextUser, 0x1300});
  const Profile profile = Build({.keep_callers = false});
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n"
            "cat 7/7: cat+0x200  3 3\n"
            "cat 7/7: cat+0x600  1 1\n");
  EXPECT_EQ(profile.losses.corrupt_chains, 1u);
}

TEST_F(ProfileBuilderTest, SamplesWithoutACallChainAreStacksOfOneFrame) {
  StartCat();
  records_.Sample(0x1234).Sample(0x1234, {kContextUser});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x200  2 2\n");
}

TEST_F(ProfileBuilderTest, AnInstructionPointerThatLooksLikeAMarkerIsAnUnknownFrame) {
  StartCat();
  for (const uint64_t ip : {kContextUser, perf_event::kContextUserDeferred, ~uint64_t{0}}) {
    records_.Sample(ip).Sample(ip, {kContextUser});
  }
  const Profile profile = Build();
  ASSERT_EQ(profile.events[0].samples, 6u);
  for (const Row& row : profile.rows) {
    EXPECT_EQ(profile[profile[profile[row.stack].frame].image].kind,
              symbolize::ImageKind::kUnknown);
    EXPECT_GE(profile[row.self].ip.value, perf_event::kContextMax);
  }
}

TEST_F(ProfileBuilderTest, SkidLeavesTheChainsLeafAndTheSamplesOwnFrameApart) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1334, 0x1434});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x400;cat+0x300  1 1 self cat+0x200\n");
}

TEST_F(ProfileBuilderTest, AddressesOutsideAnyMappingKeepTheirValue) {
  StartCat();
  records_.Sample(0x9999, {kContextUser, 0x9999, 0x1300});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile), "cat 7/7: cat+0x200;0x9999@[unknown]  1 1\n");
  const Frame& frame = profile[profile.rows[0].self];
  EXPECT_EQ(frame.unnamed, Unnamed::kNoMapping);
  EXPECT_EQ(profile[frame.image].kind, symbolize::ImageKind::kUnknown);
}

TEST_F(ProfileBuilderTest, AnImageWithoutAFileSaysSo) {
  symbolizer_.LoseImage("/bin/cat");
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile), "cat 7/7: 0x234@cat  1 1\n");
  EXPECT_EQ(profile[profile.rows[0].self].unnamed, Unnamed::kNoImageFile);
}

TEST_F(ProfileBuilderTest, AddressesWithoutASymbolAreOneFunctionByItsStart) {
  symbolizer_.Strip("/bin/cat");
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  records_.Sample(0x1238, {kContextUser, 0x1238});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile), "cat 7/7: cat+0x200  1 1\ncat 7/7: cat+0x200  1 1\n");
  ASSERT_EQ(profile.symbols.size(), 1u);
  EXPECT_EQ(profile.symbols[0].start, ElfAddress{0x200});
  EXPECT_EQ(profile.symbols[0].size, 0x100u);
  for (const Row& row : profile.rows) EXPECT_EQ(profile[row.self].unnamed, Unnamed::kNoSymbol);
  EXPECT_EQ(profile[profile.rows[1].self].symbol_offset, 0x38u);
}

TEST_F(ProfileBuilderTest, InlinedCallsAreLinesOfOneFrame) {
  symbolizer_.InlineIn("/bin/cat");
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(), "cat 7/7: in:cat+0x200<cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, EachDistinctFrameIsNamedOnce) {
  StartCat();
  for (int i = 0; i < 3; ++i) {
    records_.Sample(0x1234, {kContextUser, 0x1234, 0x1301});
    records_.Sample(0x1434, {kContextUser, 0x1434, 0x1301});
  }
  Build();
  EXPECT_EQ(symbolizer_.asked(),
            (std::vector<std::string>{"/bin/cat @0x234", "/bin/cat @0x300", "/bin/cat @0x434"}));
}

TEST_F(ProfileBuilderTest, AForkedChildHasItsParentsMappingsAndName) {
  StartCat();
  records_.At(2).Fork(8, 8);
  records_.At(3).By(8, 8).Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(), "cat 8/8: cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, MappingsAfterAForkAreTheirProcesssOwn) {
  StartCat();
  records_.At(2).Fork(8, 8);
  records_.At(3).By(8, 8).Mmap2(0x50000, 0x1000, 0, "/lib/child.so");
  records_.At(4).Sample(0x50100, {kContextUser, 0x50100});
  records_.At(5).By(7, 7).Sample(0x50100, {kContextUser, 0x50100});
  EXPECT_EQ(Rows(),
            "cat 7/7: 0x50100@[unknown]  1 1\n"
            "cat 8/8: child.so+0x100  1 1\n");
}

TEST_F(ProfileBuilderTest, AThreadSharesItsProcesssMappingsAndInheritsTheName) {
  StartCat();
  records_.At(2).Fork(7, 9);
  records_.At(3).By(7, 9).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(4).Mmap2(0x50000, 0x1000, 0, "/lib/plugin.so");
  records_.At(5).By(7, 7).Sample(0x50100, {kContextUser, 0x50100});
  EXPECT_EQ(Rows(),
            "cat 7/7: plugin.so+0x100  1 1\n"
            "cat 7/9: cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, ExecDropsTheMappingsAndTheName) {
  StartCat();
  records_.At(2).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(3).Comm("grep", true).Mmap2(0x1000, 0x1000, 0, "/bin/grep");
  records_.At(4).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(5).Sample(0x10100, {kContextUser, 0x10100});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x200  1 1\n"
            "grep 7/7: 0x10100@[unknown]  1 1\n"
            "grep 7/7: grep+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, ExecInAForkedChildLeavesTheParentAlone) {
  StartCat();
  records_.At(2).Fork(8, 8);
  records_.At(3).By(8, 8).Comm("grep", true);
  records_.At(4).By(7, 7).Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, ALibraryLoadedOverAnOldOneReplacesItFromThenOn) {
  StartCat();
  records_.At(2).Sample(0x10100, {kContextUser, 0x10100, 0x1301});
  records_.At(3).Mmap2(0x10000, 0x10000, 0, "/lib/other.so");
  records_.At(4).Sample(0x10100, {kContextUser, 0x10100, 0x1301});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x300;libc.so+0x4100  1 1\n"
            "cat 7/7: cat+0x300;other.so+0x100  1 1\n");
}

TEST_F(ProfileBuilderTest, OverlappingMappingsAreCutWhereTheyOverlap) {
  StartCat();
  records_.At(2).Mmap2(0x12000, 0x1000, 0x800, "/lib/middle.so");
  records_.At(3);
  for (uint64_t ip : {0x11f00, 0x12000, 0x12fff, 0x13000}) records_.Sample(ip, {kContextUser, ip});
  EXPECT_EQ(Rows(),
            "cat 7/7: libc.so+0x5f00  1 1\n"
            "cat 7/7: libc.so+0x7000  1 1\n"
            "cat 7/7: middle.so+0x1700  1 1\n"
            "cat 7/7: middle.so+0x800  1 1\n");
}

TEST_F(ProfileBuilderTest, AMovedMappingIsKnownAtItsNewPlace) {
  StartCat();
  // mremap is recorded as a mapping at the new address.
  records_.At(2).Mmap2(0x70000, 0x10000, 0x4000, "/lib/libc.so");
  records_.At(3).Sample(0x70100, {kContextUser, 0x70100});
  EXPECT_EQ(Rows(), "cat 7/7: libc.so+0x4100  1 1\n");
}

TEST_F(ProfileBuilderTest, TheSameCodeAtTwoPlacesIsOneFrame) {
  StartCat();
  records_.At(2).Mmap2(0x70000, 0x10000, 0x4000, "/lib/libc.so");
  records_.At(3).Sample(0x70100, {kContextUser, 0x70100}).Sample(0x10100, {kContextUser, 0x10100});
  EXPECT_EQ(Rows(), "cat 7/7: libc.so+0x4100  2 2\n");
}

TEST_F(ProfileBuilderTest, ADataMappingOverCodeLeavesNoCodeThere) {
  StartCat();
  records_.At(2).DataMmap2(0x10000, 0x1000, 0, "/data/file");
  records_.At(3).Sample(0x10100, {kContextUser, 0x10100}).Sample(0x11100, {kContextUser, 0x11100});
  EXPECT_EQ(Rows(),
            "cat 7/7: 0x10100@[unknown]  1 1\n"
            "cat 7/7: libc.so+0x5100  1 1\n");
}

TEST_F(ProfileBuilderTest, ARenamedThreadIsAnotherOneUntilItHasItsNameBack) {
  StartCat();
  records_.At(2).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(3).Comm("worker").Sample(0x1234, {kContextUser, 0x1234});
  records_.At(4).Comm("cat").Sample(0x1234, {kContextUser, 0x1234});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: cat+0x200  2 2\n"
            "worker 7/7: cat+0x200  1 1\n");
  EXPECT_EQ(profile.threads.size(), 2u);
}

TEST_F(ProfileBuilderTest, AChildOfTheIdleThreadIsCalledAsThatIs) {
  records_.At(1).By(0, 0).Fork(1, 1);
  records_.At(2).By(1, 1).Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(), "swapper 1/1: 0x1234@[unknown]  1 1\n");
}

TEST_F(ProfileBuilderTest, APidThatIsUsedAgainStartsAfresh) {
  StartCat();
  records_.At(2).Exit();
  // Late samples of the ended process still belong to it.
  records_.At(3).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(4).By(1, 1).Comm("init").Fork(7, 7);
  records_.At(5).By(7, 7).Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x200  1 1\n"
            "init 7/7: 0x1234@[unknown]  1 1\n");
}

TEST_F(ProfileBuilderTest, ForksThatPerfMakesUpCopyNoMappings) {
  StartCat();
  const perf_event::Task task{.pid = 8, .ppid = 7, .tid = 8, .ptid = 7};
  records_.At(2).Add(perf_event::kRecordFork, perf_event::kMiscForkExec, task);
  records_.At(3).By(8, 8).Sample(0x1234, {kContextUser, 0x1234});
  EXPECT_EQ(Rows(), "cat 8/8: 0x1234@[unknown]  1 1\n");
}

TEST_F(ProfileBuilderTest, ThreadsThatNothingNamedAreCalledByTheirNumber) {
  records_.By(5, 6).Sample(0x1234).By(0, 0).Sample(0x1234).By(~0u, ~0u).Sample(0x1234);
  EXPECT_EQ(Rows(),
            ":-1 4294967295/4294967295: 0x1234@[unknown]  1 1\n"
            ":6 5/6: 0x1234@[unknown]  1 1\n"
            "swapper 0/0: 0x1234@[unknown]  1 1\n");
}

TEST_F(ProfileBuilderTest, AThreadWhoseNameIsLearntLaterHasItFromTheStart) {
  records_.At(1).By(5, 6).Sample(0x1234);
  records_.At(2).Comm("worker").Sample(0x1234);
  records_.At(3).Comm("idle").Sample(0x1234);
  EXPECT_EQ(Rows(),
            "idle 5/6: 0x1234@[unknown]  1 1\n"
            "worker 5/6: 0x1234@[unknown]  2 2\n");
}

TEST_F(ProfileBuilderTest, ANameThatIsLearntLaterIsNotThatOfAnEarlierThreadOfTheSameNumber) {
  records_.At(1).By(5, 6).Sample(0x1234);
  records_.At(2).By(5, 5).Fork(5, 6);
  records_.At(3).By(5, 6).Comm("worker").Sample(0x1234);
  EXPECT_EQ(Rows(),
            ":6 5/6: 0x1234@[unknown]  1 1\n"
            "worker 5/6: 0x1234@[unknown]  1 1\n");
}

TEST_F(ProfileBuilderTest, ThreadsThatLearnTheSameNameAreOneWhereNamesAreWhatCounts) {
  records_.At(1).By(5, 6).Sample(0x1234).By(5, 7).Sample(0x1234);
  records_.At(2).By(5, 6).Comm("worker").By(5, 7).Comm("worker").Sample(0x1234);
  const Profile profile = Build({.keep_thread = false});
  EXPECT_EQ(RowsText(profile), "worker 0/0: 0x1234@[unknown]  3 3\n");
  EXPECT_EQ(profile.threads.size(), 1u);
}

TEST_F(ProfileBuilderTest, AThreadIsKnownByItsLastNameAndItsProcessByItsLeaders) {
  StartCat();
  records_.At(2).Fork(7, 8).By(7, 8).Comm("early").Sample(0x1234, {kContextUser, 0x1234});
  records_.At(3).Comm("late").By(7, 7).Comm("dog");
  records_.At(4).By(9, 10).Sample(0x1234);
  const Profile profile = Build();
  std::string text;
  for (const Thread& thread : profile.threads) {
    text += std::string(profile.text(thread.comm)) + ", at last " +
            std::string(profile.text(thread.last_comm)) + ", of " +
            std::string(profile.text(thread.process_comm)) + "\n";
  }
  EXPECT_EQ(text,
            "early, at last late, of dog\n"
            ":10, at last :10, of :9\n");
}

TEST_F(ProfileBuilderTest, KernelAddressesAreTheKernelsWhereNoRecordSaysMore) {
  records_.By(7, 7).Mode(kMiscKernel).Sample(kKernelText + 0x10).Sample(0xffffffffc0000010);
  EXPECT_EQ(Rows(),
            ":7 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n"
            ":7 7/7: [kernel.kallsyms]+0xffffffffc0000000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, TheSymbolizerLearnsWhereTheKernelWas) {
  records_.Mode(kMiscKernel).Mmap(kKernelText, 0x1000, kKernelText + 8, "[kernel.kallsyms]_stext");
  Build();
  EXPECT_EQ(symbolizer_.kernel_reference(), "_stext @0xffffffff81000008");
}

TEST_F(ProfileBuilderTest, ModulesAndBpfProgramsAreImagesBesideTheKernel) {
  const uint64_t module = 0xffffffffc0000000, bpf = 0xffffffffc0800000;
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000000, kKernelText, "[kernel.kallsyms]_text");
  records_.Mmap(module, 0x1000, 0, "/lib/modules/6.1/kernel/nf-nat.ko.xz");
  records_.At(2).Ksymbol(bpf, 0x80, "bpf_prog_1");
  records_.At(3).By(7, 7).Sample(module + 0x10).Sample(bpf + 0x10);
  records_.At(4).Ksymbol(bpf, 0x80, "bpf_prog_1", /*unregistered=*/true);
  records_.At(5).Sample(bpf + 0x10);
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            ":7 7/7: 0xffffffffc0800010@[unknown][k]  1 1\n"
            ":7 7/7: bpf_prog_1[k]  1 1\n"
            ":7 7/7: nf-nat.ko.xz+0xffffffffc0000000[k]  1 1\n");
  std::vector<std::string> names;
  for (const Image& image : profile.images) names.emplace_back(profile.text(image.name));
  EXPECT_EQ(names,
            (std::vector<std::string>{"[unknown]", "[kernel.kallsyms]", "[nf_nat]", "bpf_prog_1"}));
}

TEST_F(ProfileBuilderTest, AModuleWhoseAddressWasHiddenCoversNothing) {
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(0, UINT64_MAX, 0, "/lib/modules/3.13/kernel/pata_acpi.ko");
  records_.At(2).By(7, 7).Sample(kKernelText + 0x10);
  EXPECT_EQ(Rows(), ":7 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, KernelCodeBehindTheTextThatTheRecorderKnewIsTheKernels) {
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000000, kKernelText, "[kernel.kallsyms]_text");
  records_.By(7, 7).Sample(kKernelText + 0x2780000).Sample(0xffffffffc0000000);
  EXPECT_EQ(Rows(),
            ":7 7/7: 0xffffffffc0000000@[unknown][k]  1 1\n"
            ":7 7/7: [kernel.kallsyms]+0xffffffff83780000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, FramesKeepTheirRuntimeAddressesWhereTheseAreAskedFor) {
  records_.At(1).By(7, 7).Mmap(0x10000, 0x1000, 0, "/lib/libc.so").Sample(0x10100);
  records_.At(2).By(8, 8).Mmap(0x20000, 0x1000, 0, "/lib/libc.so").Sample(0x20100);
  EXPECT_EQ(Build().frames.size(), 1u);
  const Profile profile = Build({.keep_addresses = true});
  ASSERT_EQ(profile.frames.size(), 2u);
  EXPECT_EQ(profile.frames[0].ip.value, 0x10100u);
  EXPECT_EQ(profile.frames[1].ip.value, 0x20100u);
}

TEST_F(ProfileBuilderTest, AKsymbolInsideOfTheKernelIsOneMoreSymbolThere) {
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000000, kKernelText, "[kernel.kallsyms]_text");
  records_.Ksymbol(kKernelText + 0x100, 0x10, "trampoline");
  records_.By(7, 7).Sample(kKernelText + 0x108).Sample(kKernelText + 0x110);
  EXPECT_EQ(Rows(),
            ":7 7/7: [kernel.kallsyms]+0xffffffff81000100[k]  1 1\n"
            ":7 7/7: trampoline[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, ProcessesOutsideThePidNamespaceAreNobodyElses) {
  records_.At(1).By(0, 0).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(2).Comm("sleep", true).Mmap2(0x1000, 0x1000, 0, "/bin/sleep");
  records_.At(3).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(4).By(7, 7).Comm("cat", true).Mmap2(0x1000, 0x1000, 0, "/bin/cat");
  records_.At(5).Sample(0x1010, {kContextUser, 0x1010});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "[other pid namespace] 0/0: 0x1010@[unknown]  2 2\n"
            "cat 7/7: cat+0  1 1\n");
  EXPECT_EQ(profile.losses.warnings.size(), 1u);
}

TEST_F(ProfileBuilderTest, ABpfProgramThatIsLoadedWhileNothingIsKnownOfTheKernelIsAnImage) {
  records_.At(1).By(7, 7).Sample(kKernelText);
  records_.At(2).Mode(kMiscKernel).Ksymbol(0xffffffffc0800000, 0x80, "bpf_prog_1");
  records_.At(3).By(7, 7).Sample(0xffffffffc0800010);
  records_.At(4).Ksymbol(0xffffffffc0800000, 0x80, "bpf_prog_2");
  records_.At(5).By(7, 7).Sample(0xffffffffc0800010);
  const Profile profile = Build();
  std::vector<std::string> names;
  for (const Image& image : profile.images) names.emplace_back(profile.text(image.name));
  EXPECT_EQ(names, (std::vector<std::string>{"[unknown]", "[kernel.kallsyms]", "bpf_prog_1",
                                             "bpf_prog_2"}));
}

TEST_F(ProfileBuilderTest, TheKernelIsItselfWhateverFileItIsNamedAfter) {
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000000, kKernelText, "[kernel.vmlinux]_stext");
  records_.By(7, 7).Sample(kKernelText + 0x10);
  EXPECT_EQ(Rows(), ":7 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
  EXPECT_EQ(symbolizer_.kernel_reference(), "_stext @0xffffffff81000000");
}

TEST_F(ProfileBuilderTest, BpfProgramsStayWhereTheKernelHidesItsAddresses) {
  records_.At(1).By(~0u, 0).Mode(kMiscKernel).Ksymbol(0xffffffffc0800000, 0x80, "bpf_prog_1");
  records_.At(2).By(7, 7).Sample(0xffffffffc0800010).Sample(kKernelText);
  EXPECT_EQ(Rows(),
            ":7 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n"
            ":7 7/7: bpf_prog_1[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, MemoryWithoutAFileIsItsProcesssJitCode) {
  records_.At(1).By(7, 7).Mmap2(0x1000, 0x1000, 0, "//anon").Sample(0x1010, {kContextUser, 0x1010});
  records_.At(2).By(8, 8).Mmap2(0x1000, 0x1000, 0, "//anon").Sample(0x1010, {kContextUser, 0x1010});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            ":7 7/7: perf-7.map+0x1000  1 1\n"
            ":8 8/8: perf-8.map+0x1000  1 1\n");
  EXPECT_EQ(profile.text(profile.images[1].name), "/tmp/perf-7.map");
  EXPECT_EQ(profile.text(profile.images[1].long_name), "/tmp/perf-7.map");
  EXPECT_EQ(profile.images[1].kind, symbolize::ImageKind::kJit);
}

// Code of two functions, the second over the first, and the second one moved elsewhere.
std::vector<symbolize::JitCode> ReusedCode() {
  const auto code = [](uint64_t time, uint64_t start, uint64_t offset) {
    return symbolize::JitCode{time, 7, {start}, 0x100, {offset}};
  };
  return {code(10, 0x1000, 0x500), code(20, 0x1000, 0x700), code(30, 0x3000, 0x700)};
}

TEST_F(ProfileBuilderTest, CodeOfAJitsDumpIsWhereItWasWhenTheSampleWasTaken) {
  Attr attr = perf_event::SampleAttr(kType);
  attr.flags |= perf_event::kAttrUseClockid;
  attr.clockid = 1;  // CLOCK_MONOTONIC
  records_ = RecordBuilder(attr);
  symbolizer_.SetJitCodes(ReusedCode());
  records_.At(1).By(7, 7).Comm("node").Mmap2(0x1000, 0x1000, 0, "//anon");
  records_.At(2).Mmap2(0x9000, 0x1000, 0, "/tmp/jit-7.dump");
  records_.At(9).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(11).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(20).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(29).Sample(0x3010, {kContextUser, 0x3010});
  records_.At(31).Sample(0x3010, {kContextUser, 0x3010});
  records_.At(32).Comm("other", true).Mmap2(0x1000, 0x1000, 0, "/bin/other");
  records_.At(33).Sample(0x1010, {kContextUser, 0x1010});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "node 7/7: 0x3010@[unknown]  1 1\n"
            "node 7/7: jit-7.dump+0x500  1 1\n"
            "node 7/7: jit-7.dump+0x700  2 2\n"
            "node 7/7: perf-7.map+0x1000  1 1\n"
            "other 7/7: other+0  1 1\n");
  EXPECT_EQ(profile.text(profile.images[2].name), "jit-7.dump");
  EXPECT_EQ(profile.images[2].kind, symbolize::ImageKind::kJitDump);
  EXPECT_EQ(profile.images[2].pid, 7u);
}

TEST_F(ProfileBuilderTest, CodeOfAJitsDumpStaysWhenItsMemoryIsMadeExecutable) {
  Attr attr = perf_event::SampleAttr(kType);
  attr.flags |= perf_event::kAttrUseClockid;
  attr.clockid = 1;  // CLOCK_MONOTONIC
  records_ = RecordBuilder(attr);
  symbolizer_.SetJitCodes(ReusedCode());
  records_.At(1).By(7, 7).Comm("wasm").Mmap2(0x9000, 0x1000, 0, "/tmp/jit-7.dump");
  records_.At(12).Mmap2(0x1000, 0x1000, 0, "//anon").Sample(0x1010, {kContextUser, 0x1010});
  records_.At(21).Mmap2(0x1000, 0x1000, 0, "//anon").Sample(0x1010, {kContextUser, 0x1010});
  records_.At(22).Sample(0x1210, {kContextUser, 0x1210});
  records_.At(23).Mmap2(0x1000, 0x1000, 0, "/bin/other").Sample(0x1010, {kContextUser, 0x1010});
  EXPECT_EQ(Rows(),
            "wasm 7/7: jit-7.dump+0x500  1 1\n"
            "wasm 7/7: jit-7.dump+0x700  1 1\n"
            "wasm 7/7: other+0  1 1\n"
            "wasm 7/7: perf-7.map+0x1200  1 1\n");
}

TEST_F(ProfileBuilderTest, AJitsDumpIsOneWhateverItIsCalled) {
  symbolizer_.SetJitCodes(ReusedCode());
  records_.At(1).By(7, 7).Mmap2(0x9000, 0x1000, 0, "/tmp/code.dump");
  records_.At(2).Sample(0x1010, {kContextUser, 0x1010});
  EXPECT_EQ(Rows(), ":7 7/7: code.dump+0x700  1 1\n");
}

TEST_F(ProfileBuilderTest, WithoutACommonClockTheLastCodeOfAJitsDumpCounts) {
  symbolizer_.SetJitCodes(ReusedCode());
  records_.At(1).By(7, 7).Mmap2(0x9000, 0x1000, 0, "/tmp/jit-7.dump");
  records_.At(2).Sample(0x1010, {kContextUser, 0x1010});
  EXPECT_EQ(Rows(), ":7 7/7: jit-7.dump+0x700  1 1\n");
}

TEST_F(ProfileBuilderTest, AJitsDumpThatIsGoneIsToldOf) {
  records_.At(1).By(7, 7).Mmap2(0x9000, 0x1000, 0, "/tmp/jit-7.dump");
  records_.At(2).Sample(0x1010, {kContextUser, 0x1010});
  EXPECT_THAT(Build().losses.warnings,
              testing::ElementsAre("the code in the JIT's dump has no names: /tmp/jit-7.dump: No "
                                   "such file or directory"));
}

TEST_F(ProfileBuilderTest, WhatWasNotReadOfAFileIsToldOf) {
  symbolizer_.SetWarnings({"/tmp/perf-7.map is too large"});
  records_.At(1).By(7, 7).Mmap2(0x1000, 0x1000, 0, "/bin/other");
  records_.At(2).Sample(0x1010, {kContextUser, 0x1010});
  EXPECT_THAT(Build().losses.warnings, testing::ElementsAre("/tmp/perf-7.map is too large"));
}

TEST_F(ProfileBuilderTest, TheVdsoIsReadFromItsStartAndSpecialMappingsKeepTheirNames) {
  records_.At(1).By(7, 7).Mmap2(0x7000'0000'7000, 0x2000, 0x99000, "[vdso]");
  records_.Mmap2(0x10000, 0x1000, 0, "[vsyscall]")
      .Mmap2(0x20000, 0x1000, 0, "/memfd:jit (deleted)");
  for (const uint64_t ip : std::initializer_list<uint64_t>{0x7000'0000'7110, 0x10110, 0x20110}) {
    records_.Sample(ip, {kContextUser, ip});
  }
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            ":7 7/7: [vdso]+0x100  1 1\n"
            ":7 7/7: [vsyscall]+0x10100  1 1\n"
            ":7 7/7: memfd:jit (deleted)+0x20100  1 1\n");
  EXPECT_EQ(profile.images[1].kind, symbolize::ImageKind::kVdso);
  EXPECT_EQ(profile.images[2].kind, symbolize::ImageKind::kAnonymous);
}

TEST_F(ProfileBuilderTest, BuildIdsComeFromTheMappingElseFromTheFile) {
  const std::array<std::byte, 2> own = {std::byte{1}, std::byte{2}};
  const std::array<std::byte, 2> of_file = {std::byte{3}, std::byte{4}};
  records_.By(7, 7).Mmap2(0x1000, 0x1000, 0, "/bin/a", own).Mmap2(0x2000, 0x1000, 0, "/bin/b");
  records_.Sample(0x1000).Mode(kMiscKernel).Sample(kKernelText);
  ProfileBuilder builder(symbolizer_);
  builder.AddEvent("cpu-clock", records_.attr());
  for (const char* name : {"/bin/a", "/bin/b", "[kernel.kallsyms]"}) {
    builder.AddBuildId(name, of_file);
  }
  const Profile profile = Finish(std::move(builder));
  EXPECT_EQ(symbolizer_.images()[0].build_id, std::vector<std::byte>(own.begin(), own.end()));
  EXPECT_EQ(symbolizer_.images()[1].build_id,
            std::vector<std::byte>(of_file.begin(), of_file.end()));
  EXPECT_EQ(symbolizer_.images()[2].build_id,
            std::vector<std::byte>(of_file.begin(), of_file.end()));
  EXPECT_EQ(profile.images[2].build_id, std::vector<std::byte>(of_file.begin(), of_file.end()));
}

TEST_F(ProfileBuilderTest, ManyProcessesShareOneImageOfAFileAndReplacedFilesHaveAnother) {
  const auto map = [&](uint32_t pid, uint64_t ino) {
    const perf_event::Mmap2 mmap{.pid = pid,
                                 .tid = pid,
                                 .addr = 0x1000,
                                 .len = 0x1000,
                                 .ino = ino,
                                 .prot = 5,
                                 .filename = "/bin/cat"};
    records_.Add(perf_event::kRecordMmap2, kMiscUser, mmap);
  };
  for (uint32_t pid = 10; pid < 20; ++pid) map(pid, 1);
  map(20, 2);
  Build();
  std::vector<uint32_t> pids;
  for (const symbolize::ImageSpec& image : symbolizer_.images()) {
    if (image.kind == symbolize::ImageKind::kUser) pids.push_back(image.pid);
  }
  EXPECT_EQ(pids, (std::vector<uint32_t>{10, 20}));
}

// A program may map one file under any number of names, each up to 4 KB long.
TEST_F(ProfileBuilderTest, OneProcessCannotTakeTheRoomForTheImagesOfOthers) {
  const std::string directory = "/" + std::string(4000, 'd') + "/";
  constexpr uint64_t kMany = 2000;
  records_.At(1).By(7, 7).Comm("many");
  for (uint64_t i = 1; i <= kMany; ++i) {
    records_.Mmap2(i * 0x1000, 0x1000, 0, directory + std::to_string(i));
  }
  records_.At(2).Sample(0x1010, {kContextUser, 0x1010});
  records_.At(3).Sample(kMany * 0x1000 + 0x10, {kContextUser, kMany * 0x1000 + 0x10});
  records_.By(8, 8).Comm("other").Mmap2(0x1000, 0x1000, 0, "/bin/other");
  records_.At(4).Sample(0x1010, {kContextUser, 0x1010});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "many 7/7: 1+0  1 1\n"
            "many 7/7: [too many files]+0x7d0000  1 1\n"
            "other 8/8: other+0  1 1\n");
  EXPECT_LT(profile.images.size(), kMany / 2);
  EXPECT_THAT(profile.losses.warnings,
              testing::ElementsAre("process 7 has more mapped files than are distinguished: code "
                                   "of the others is shown as [too many files]"));
}

TEST_F(ProfileBuilderTest, LossesAreAddedUp) {
  records_.Lost(5).Lost(7).LostSamples(3).Throttle().Throttle();
  const Profile profile = Build();
  EXPECT_EQ(profile.losses.lost_events, 2u);
  EXPECT_EQ(profile.losses.lost_records, 12u);
  EXPECT_EQ(profile.losses.lost_samples, 3u);
  EXPECT_EQ(profile.losses.throttled, 2u);
}

TEST_F(ProfileBuilderTest, RecordsThatMakeNoSenseAreCountedAndPassedOver) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  ProfileBuilder builder(symbolizer_);
  builder.AddEvent("cpu-clock", records_.attr());
  std::vector<std::byte> bytes(records_.last().bytes().begin(), records_.last().bytes().end());
  const auto with_header = [&](uint32_t type, uint16_t size) {
    const perf_event::RecordHeader header{type, kMiscUser, size};
    __builtin_memcpy(bytes.data(), &header, sizeof(header));
    return perf_event::RawRecord(std::span(bytes).first(size));
  };
  builder.Add(with_header(perf_event::kRecordSample, 16), 0, 0);
  builder.Add(with_header(perf_event::kRecordMmap2, 16), 0, 0);
  builder.Add(with_header(perf_event::kRecordSample, 64), 1, 0);  // the event does not exist
  builder.Add(with_header(40, 16), 0, 0);
  builder.Add(with_header(1000, 16), 0, 0);
  builder.Add(with_header(perf_event::kRecordFinishedRound, 8), 0, 0);
  const Profile profile = Finish(std::move(builder));
  EXPECT_EQ(profile.losses.undecodable, 3u);
  EXPECT_EQ(profile.losses.unknown_records, 2u);
  EXPECT_EQ(RowsText(profile), "cat 7/7: cat+0x200  1 1\n");
}

TEST_F(ProfileBuilderTest, RowsKeepWhatTheyAreAskedTo) {
  StartCat();
  records_.At(5).On(1).Sample(0x1234).At(6).On(1).Sample(0x1234).At(7).On(2).Sample(0x1234);
  records_.At(8).By(7, 9).Comm("cat").Sample(0x1234);
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x200  3 3\n"
            "cat 7/9: cat+0x200  1 1\n");
  EXPECT_EQ(Rows({.dimensions = {true, false}}),
            "cat 7/7: cat+0x200  1 1 cpu 2\n"
            "cat 7/7: cat+0x200  2 2 cpu 1\n"
            "cat 7/9: cat+0x200  1 1 cpu 2\n");
  EXPECT_EQ(Rows({.keep_thread = false}), "cat 0/0: cat+0x200  4 4\n");
}

// Returns "row/stream" of each sample, by time.
std::string OrderOf(const Profile& profile) {
  std::string text;
  for (const OrderedSample& sample : profile.order) {
    text += absl::StrFormat("%d/%d ", sample.row, sample.stream);
  }
  return text;
}

TEST_F(ProfileBuilderTest, KeepsTheOrderOfSamplesByCpuWhereThatIsAskedFor) {
  StartCat();
  records_.At(5).On(1).Sample(0x1234).At(6).On(2).Sample(0x2345).At(7).On(1).Sample(0x1234);
  EXPECT_EQ(OrderOf(Build({.keep_order = true})), "0/1 1/2 0/1 ");
  EXPECT_TRUE(Build().order.empty());
  EXPECT_EQ(Build({.keep_order = true}).events[0].squared_periods, 3);
}

TEST_F(ProfileBuilderTest, TheOrderTellsApartTheThreadsThatHaveTheSameStackInTurn) {
  records_.At(1).By(5, 6).Sample(0x1234).By(5, 7).Sample(0x1234).By(5, 6).Sample(0x1234);
  EXPECT_EQ(OrderOf(Build({.keep_order = true})), "0/0 1/0 0/0 ");
}

TEST_F(ProfileBuilderTest, TheOrderIsOfTheRowsThatAreLeftWhenThreadsTurnOutToBeOne) {
  records_.At(1).By(5, 6).Sample(0x1234).By(5, 7).Sample(0x2345).Sample(0x1234);
  records_.At(2).By(5, 6).Comm("worker").By(5, 7).Comm("worker").Sample(0x1234);
  EXPECT_EQ(OrderOf(Build({.keep_thread = false, .keep_order = true})), "0/0 1/0 0/0 0/0 ");
}

// Returns the values of kParallelism, in brackets, and the periods of the rows.
std::string ParallelismsOf(const Profile& profile) {
  std::string text;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const uint32_t parallelism = profile.ParallelismOf(i);
    text += parallelism == kOthersRan ? "[others]" : absl::StrFormat("[%d]", parallelism);
    text += absl::StrFormat(" %d of %d; ", profile.rows[i].period, profile.rows[i].count);
  }
  return text;
}

TEST_F(ProfileBuilderTest, TellsHowManyThreadsRanAndWhoWaitedWhileNoneDid) {
  StartCat();
  const auto switch_at = [this](uint64_t time, uint32_t tid, uint16_t misc) {
    records_.At(time).By(7, tid).Add(
        perf_event::kRecordSwitch, misc,
        perf_event::Switch{.sample_id = {.pid = 7, .tid = tid, .time = time}});
  };
  constexpr uint16_t kOut = perf_event::kMiscSwitchOut;
  switch_at(100, 7, 0);
  switch_at(100, 8, 0);
  records_.At(150).By(7, 8).Period(50).Sample(0x1234);
  switch_at(200, 8, kOut);
  records_.At(250).By(7, 7).Period(50).Sample(0x1234);
  switch_at(300, 7, kOut);
  switch_at(400, 8, 0);
  ProfileBuilder builder(symbolizer_, {.dimensions = {false, false, true}});
  builder.AddEvent("oncpu-time", records_.attr());
  const EventId waits = builder.AddEvent("offcpu-time", records_.attr());
  AddRecords(builder);
  // Thread 8 was off the CPU from 200 to 400: thread 7 ran until 300, then both waited.
  perf_event::RecordBuilder wait(records_.attr());
  wait.At(400).By(7, 8).Period(200).Sample(0x1634);
  builder.Add(wait.records().front(), static_cast<uint32_t>(waits), 400);
  EXPECT_EQ(ParallelismsOf(std::move(builder).Finish()),
            "[2] 50 of 1; [1] 50 of 1; [0] 50 of 1; [others] 150 of 0; ");
}

// Returns the rows' values in a column with their counts: "50 x2, 100 x1".
std::string ColumnText(const Profile& profile, Dimension dimension) {
  std::string text;
  for (uint32_t row = 0; row < profile.rows.size(); ++row) {
    if (!text.empty()) text += ", ";
    const uint32_t value = profile.column(dimension)[row];
    text += dimension == Dimension::kTime ? std::to_string(profile.quanta.begins[value])
                                          : std::string(profile.text(StringId{value}));
    text += " x" + std::to_string(profile.rows[row].count);
  }
  return text;
}

DimensionSet Only(Dimension dimension) {
  DimensionSet set{};
  set[static_cast<size_t>(dimension)] = true;
  return set;
}

TEST_F(ProfileBuilderTest, SamplesOfOneQuantumOfTimeAreOneRow) {
  StartCat();
  for (const uint64_t time : {50, 99, 100, 149, 1000, 60}) records_.At(time).Sample(0x1234);
  const Profile profile = Build({.dimensions = Only(Dimension::kTime), .time_quantum = 50});
  EXPECT_EQ(ColumnText(profile, Dimension::kTime), "50 x3, 100 x2, 1000 x1");
  EXPECT_EQ(profile.quanta.length, 50u);
}

TEST_F(ProfileBuilderTest, TheFirstAndTheLastNanosecondThatCanBeTimesHaveTheirQuanta) {
  StartCat();
  records_.At(0).Sample(0x1234).At(UINT64_MAX).Sample(0x1234);
  EXPECT_EQ(ColumnText(Build({.dimensions = Only(Dimension::kTime), .time_quantum = 1}),
                       Dimension::kTime),
            "0 x1, 18446744073709551615 x1");
  EXPECT_EQ(ColumnText(Build({.dimensions = Only(Dimension::kTime), .time_quantum = UINT64_MAX}),
                       Dimension::kTime),
            "0 x1, 18446744073709551615 x1");
}

TEST_F(ProfileBuilderTest, AProfileWithoutSamplesHasNoQuanta) {
  StartCat();
  const Profile profile = Build({.dimensions = Only(Dimension::kTime)});
  EXPECT_EQ(ColumnText(profile, Dimension::kTime), "");
  EXPECT_TRUE(profile.quanta.begins.empty());
}

TEST_F(ProfileBuilderTest, CgroupsGoByThePathThatTheirIdHadWhenTheSampleWasTaken) {
  records_ = RecordBuilder(perf_event::SampleAttr(kType | perf_event::kSampleCgroup));
  StartCat();
  const auto name = [&](uint64_t id, std::string_view path) {
    records_.Add(perf_event::kRecordCgroup, 0, perf_event::Cgroup{.id = id, .path = path});
  };
  const auto sample = [&](uint64_t cgroup) {
    records_.Add(perf_event::kRecordSample, kMiscUser,
                 perf_event::Sample{.ip = 0x1234, .pid = 7, .tid = 7, .time = 5, .cgroup = cgroup});
  };
  name(1, "/"), name(2, "/a"), name(3, "/a");
  sample(1), sample(2), sample(3), sample(2);
  name(2, "/b");
  sample(2);
  sample(99);  // no CGROUP record has this id
  EXPECT_EQ(ColumnText(Build({.dimensions = Only(Dimension::kCgroup)}), Dimension::kCgroup),
            "/ x1, /a x3, /b x1,  x1");
}

TEST_F(ProfileBuilderTest, SamplesThatDoNotSayTheirCgroupAreOfNone) {
  StartCat().Sample(0x1234);
  records_.Add(perf_event::kRecordCgroup, 0, perf_event::Cgroup{.id = 0, .path = "/"});
  records_.Add(perf_event::kRecordCgroup, 0, perf_event::Cgroup{.id = 5, .path = ""});
  EXPECT_EQ(ColumnText(Build({.dimensions = Only(Dimension::kCgroup)}), Dimension::kCgroup), " x1");
}

// Samples of events of memory.
class AccessTest : public ProfileBuilderTest {
 protected:
  static constexpr uint64_t kL1 = 0x68100142, kRam = 0x68201042;

  AccessTest() {
    records_ = RecordBuilder(perf_event::SampleAttr(
        kType | perf_event::kSampleAddr | perf_event::kSampleWeight | perf_event::kSampleDataSrc));
    StartCat();
  }
  void Sample(uint64_t addr, uint64_t weight, uint64_t data_src) {
    records_.Add(perf_event::kRecordSample, kMiscUser,
                 perf_event::Sample{.ip = 0x1234,
                                    .pid = 7,
                                    .tid = 7,
                                    .time = 5,
                                    .addr = addr,
                                    .period = 1000,
                                    .weight = weight,
                                    .data_src = data_src});
  }
  void MapData(uint64_t addr, uint64_t size, std::string_view file) {
    records_.Add(
        perf_event::kRecordMmap2, kMiscUser | perf_event::kMiscMmapData,
        perf_event::Mmap2{.pid = 7, .tid = 7, .addr = addr, .len = size, .filename = file});
  }
  // "level weight xSAMPLES" for each row.
  std::string Accesses(const Profile& profile) {
    std::string text;
    for (size_t i = 0; i < profile.rows.size(); ++i) {
      const MemoryAccess& access = profile.accesses[profile.column(Dimension::kAccess)[i]];
      text += absl::StrFormat("%s %d x%d %d;", profile.text(access.level), access.weight,
                              profile.rows[i].count, profile.rows[i].period);
    }
    return text;
  }
  // "address image" for each row.
  std::string Places(const Profile& profile) {
    std::string text;
    for (const uint32_t place : profile.column(Dimension::kData)) {
      const DataPlace& data = profile.data[place];
      text += absl::StrFormat("%x %s;", data.address,
                              profile.text(profile[profile[data.frame].image].name));
    }
    return text;
  }
};

TEST_F(AccessTest, AccessesAreToldApartByWhatTheyMetAndCost) {
  Sample(0, 7, kL1), Sample(64, 7, kL1), Sample(0, 300, kRam);
  EXPECT_EQ(Accesses(Build({.dimensions = Only(Dimension::kAccess)})),
            "L1 hit 7 x2 2000;Local RAM hit 300 x1 1000;");
}

TEST_F(AccessTest, SamplesMayWeighWhatTheirAccessCost) {
  Sample(0, 7, kL1), Sample(0, 7, kL1), Sample(0, 0, kRam);
  const Profile profile = Build({.dimensions = Only(Dimension::kAccess), .weigh_accesses = true});
  EXPECT_EQ(Accesses(profile), "L1 hit 7 x2 14;Local RAM hit 0 x1 1;");
  EXPECT_EQ(profile.events[0].period, 15u);
}

TEST_F(AccessTest, DataLieInWhatTheProcessHadMappedThen) {
  Sample(0x500010, 1, kL1);
  MapData(0x500000, 0x2000, "/dev/shm/data");
  Sample(0x500010, 1, kL1), Sample(0x501000, 1, kL1);
  MapData(0x501000, 0x1000, "//anon");
  Sample(0x501000, 1, kL1), Sample(0x1234, 1, kL1);
  EXPECT_EQ(Places(Build({.dimensions = Only(Dimension::kData)})),
            "500010 [unknown];500010 data;501000 data;501000 anon;1234 cat;");
}

TEST_F(AccessTest, DataOfAnOlderProgramAreGoneAfterAnExec) {
  MapData(0x500000, 0x2000, "/dev/shm/data");
  records_.By(7, 7).Comm("dog", true);
  Sample(0x500010, 1, kL1);
  EXPECT_EQ(Places(Build({.dimensions = Only(Dimension::kData)})), "500010 [unknown];");
}

class TraceDimensionTest : public ProfileBuilderTest {
 protected:
  TraceDimensionTest() {
    Attr attr = perf_event::SampleAttr(kType | perf_event::kSampleRaw);
    attr.type = perf_event::kTypeTracepoint;
    records_ = RecordBuilder(attr);
    StartCat();
  }

  void Sample(std::string_view raw, uint32_t cpu = 0) {
    records_.Add(
        perf_event::kRecordSample, kMiscUser,
        perf_event::Sample{
            .ip = 0x1234, .pid = 7, .tid = 7, .cpu = cpu, .raw = std::as_bytes(std::span(raw))});
  }

  // Describes each record by its first four bytes and its CPU.
  BuilderOptions Describing() const {
    return {.dimensions = Only(Dimension::kTrace),
            .describe_tracepoint = [](std::span<const std::byte> raw, uint32_t cpu,
                                      std::string* out, std::vector<uint64_t>*) {
              const auto* const text = reinterpret_cast<const char*>(raw.data());
              out->append(text, std::min<size_t>(raw.size(), 4));
              *out += "@" + std::to_string(cpu);
            }};
  }
};

TEST_F(TraceDimensionTest, RecordsOfATracepointGoByWhatTheySay) {
  // With its size in front, a record's data is a multiple of eight bytes.
  Sample("openabcdefgh"), Sample("readabcdefgh"), Sample("open12345678"), Sample("openabcdefgh", 3);
  EXPECT_EQ(ColumnText(Build(Describing()), Dimension::kTrace), "open@0 x2, read@0 x1, open@3 x1");
}

TEST_F(TraceDimensionTest, RecordsThatNobodyDescribesSayNothing) {
  Sample("openabcdefgh"), Sample("readabcdefgh");
  EXPECT_EQ(ColumnText(Build({.dimensions = Only(Dimension::kTrace)}), Dimension::kTrace), " x2");
}

TEST_F(TraceDimensionTest, FunctionsInTheTextHaveFrames) {
  records_.Add(perf_event::kRecordMmap2, kMiscKernel,
               perf_event::Mmap2{.pid = UINT32_MAX,
                                 .addr = kKernelText,
                                 .len = 0x1000,
                                 .pgoff = kKernelText,
                                 .filename = "[kernel.kallsyms]_text"});
  Sample("openabcdefgh"), Sample("openabcdefgh");
  const Profile profile =
      Build({.dimensions = Only(Dimension::kTrace),
             .describe_tracepoint = [](std::span<const std::byte>, uint32_t, std::string* out,
                                       std::vector<uint64_t>* functions) {
               *out += "f";
               functions->push_back(kKernelText + 0x10);
             }});
  ASSERT_EQ(profile.trace_functions.size(), 1u);
  EXPECT_EQ(profile.trace_functions[0].address, kKernelText + 0x10);
  EXPECT_EQ(profile.text(profile[profile[profile.trace_functions[0].frame].image].name),
            "[kernel.kallsyms]");
}

TEST_F(TraceDimensionTest, RawDataOfOtherEventsSayNothing) {
  records_ = RecordBuilder(perf_event::SampleAttr(kType | perf_event::kSampleRaw));
  StartCat();
  Sample("openabcdefgh");
  EXPECT_EQ(ColumnText(Build(Describing()), Dimension::kTrace), " x1");
}

// Samples of perf 6.15 and later, whose raw data has the thread, its time off the CPU and its call
// chain.
class RawOffCpuTest : public ProfileBuilderTest {
 protected:
  RawOffCpuTest() {
    Attr attr = perf_event::SampleAttr(kType | perf_event::kSampleRaw);
    attr.type = perf_event::kTypeSoftware;
    attr.config = 10;  // PERF_COUNT_SW_BPF_OUTPUT
    records_ = RecordBuilder(attr);
    StartCat();
  }

  void Slept(const std::vector<uint64_t>& words) {
    const std::vector<uint64_t> idle = {kContextKernel, kKernelText};
    records_.Add(
        perf_event::kRecordSample, kMiscKernel,
        perf_event::Sample{.ip = kKernelText,
                           .period = 1,
                           .callchain = perf_event::U64Array(std::as_bytes(std::span(idle))),
                           .raw = std::as_bytes(std::span(words))});
  }

  Profile BuildAs(std::string_view event) {
    ProfileBuilder builder(symbolizer_);
    builder.AddEvent(event, records_.attr());
    return Finish(std::move(builder));
  }

  void TearDown() override {}

  static constexpr uint64_t kCat = uint64_t{7} << 32 | 7;  // tid and pid
};

TEST_F(RawOffCpuTest, TimeOffTheCpuIsOfTheThreadThatSleptWithItsStack) {
  // The kernel pads the raw data and its size, which takes four bytes, to a multiple of eight.
  Slept({kCat, 700, 3, kContextUser, 0x1234, 0x10101, /*cgroup*/ 0, 0});
  Slept({kCat, 300, 0, /*cgroup*/ 0});
  const Profile profile = BuildAs("offcpu-time");
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: 0@[unknown]  1 300\n"
            "cat 7/7: libc.so+0x4100;cat+0x200  1 700\n");
  EXPECT_EQ(profile.events[0].period, 1000u);
}

TEST_F(RawOffCpuTest, RawDataThatIsTooShortIsUndecodable) {
  Slept({kCat, 700});
  Slept({kCat, 700, 2, kContextUser, 0x1234});
  Slept({kCat, 700, ~uint64_t{0}, kContextUser, 0x1234, 0});
  const Profile profile = BuildAs("offcpu-time");
  EXPECT_EQ(RowsText(profile), "");
  EXPECT_EQ(profile.losses.undecodable, 3u);
}

TEST_F(RawOffCpuTest, RawDataOfOtherProgramsSaysNothingAboutThreads) {
  Slept({kCat, 700, 2, kContextUser, 0x1234, 0});
  EXPECT_EQ(RowsText(BuildAs("__bpf_stdout__")),
            "swapper 0/0: [kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, SocketsAreNotOfSamplesAndLeftToThoseWhoKnowTheMachine) {
  StartCat().On(1).Sample(0x1234);
  EXPECT_TRUE(Build({.dimensions = Only(Dimension::kSocket)}).column(Dimension::kSocket).empty());
}

// Returns the stored profile of the records so far.
std::string ProfileBuilderTest::Stored() {
  ProfileBuilder builder(symbolizer_,
                         {.dimensions = kStoredDimensions, .slices = TimeSlices::Of(0, 99, 10)});
  builder.AddEvent("cpu-clock", records_.attr());
  AddRecords(builder);
  Profile profile = std::move(builder).Unnamed().profile;
  return EncodeProfile(profile, kDataSize);
}

TEST_F(ProfileBuilderTest, StoredProfilesBringWhatTheRecordingSaysOfTheKernel) {
  constexpr uint64_t kBpf = 0xffffffffc0000000;
  records_.At(1).By(~0u, 0).Mode(kMiscKernel);
  records_.Mmap(kKernelText, 0x1000, kKernelText + 8, "[kernel.kallsyms]_stext");
  records_.At(2).Ksymbol(kBpf, 0x80, "bpf_prog_1").By(7, 7).Sample(kBpf + 4);
  auto stored = DecodeProfile(Stored(), kDataSize, {});
  ASSERT_TRUE(stored.has_value());

  FakeSymbolizer elsewhere;
  const Profile named = Named(WithImages(*std::move(stored), elsewhere), elsewhere);
  EXPECT_EQ(elsewhere.kernel_reference(), symbolizer_.kernel_reference());
  EXPECT_EQ(RowsText(named), ":7 0/0: bpf_prog_1[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, StoredProfilesAreOfTheRecordsThatTheyWereMadeOf) {
  StartCat().Sample(0x1234);
  EXPECT_TRUE(DecodeProfile(Stored(), kDataSize, {}).has_value());
  EXPECT_FALSE(DecodeProfile(Stored(), kDataSize + 8, {}).has_value());
}

TEST_F(ProfileBuilderTest, APartOfTheTimeIsShownFromAStoredProfileWhereSlicesEnd) {
  StartCat().At(11).Sample(0x1234).At(19).Sample(0x1234).At(20).Sample(0x1134);
  const auto rows = [&](uint64_t first, uint64_t last) {
    auto part = DecodeProfile(Stored(), kDataSize, {.samples = {first, last, {}}});
    return part ? RowsText(Named(WithImages(*std::move(part), symbolizer_), symbolizer_))
                : "none\n";
  };
  EXPECT_EQ(rows(10, 19), "cat 0/0: cat+0x200  2 2\n");
  EXPECT_EQ(rows(11, 19), "cat 0/0: cat+0x200  2 2\n") << "nothing is in the slice before that";
  EXPECT_EQ(rows(20, 500), "cat 0/0: cat+0x100  1 1\n");
  EXPECT_EQ(rows(12, 19), "none\n") << "the records have to be read";
}

TEST_F(ProfileBuilderTest, SamplesThatAreNotAskedForDoNotCount) {
  StartCat().At(5).On(1).Sample(0x1234).At(6).On(2).Sample(0x1234).At(7).On(1).Sample(0x1234);
  const Profile profile = Build({.samples = {6, 7, {1}}});
  EXPECT_EQ(RowsText(profile), "cat 7/7: cat+0x200  1 1\n");
  EXPECT_EQ(profile.events[0].samples, 1u);
}

TEST_F(ProfileBuilderTest, ADamagedSampleCountsIfItsTimeIsSelected) {
  StartCat();
  for (const uint64_t time : {5, 6, 7}) {
    records_.At(time).Sample(0x1234, {kContextUser, 0x1234, ~uint64_t{0}});
  }
  EXPECT_EQ(Build({.samples = {6, 7, {}}}).losses.corrupt_chains, 2u);
}

TEST_F(ProfileBuilderTest, ACounterGrowsInSamplesThatAreNotAskedForToo) {
  Attr leader = perf_event::SampleAttr(kType | perf_event::kSampleRead);
  leader.read_format = perf_event::kFormatId;
  records_ = RecordBuilder(leader);
  StartCat();
  for (const uint64_t counter : {10, 30, 70}) {
    const uint64_t read[] = {counter, 1};
    records_.Add(perf_event::kRecordSample, kMiscUser,
                 perf_event::Sample{.ip = 0x1234,
                                    .pid = 7,
                                    .tid = 7,
                                    .time = counter,
                                    .read = perf_event::U64Array(std::as_bytes(std::span(read)))});
  }
  ProfileBuilder builder(symbolizer_, {.samples = {70, 70, {}}});
  builder.AddEvent("cpu-clock", leader, std::vector<uint64_t>{1});
  EXPECT_EQ(Finish(std::move(builder)).events[0].period, 40u);
  records_ = RecordBuilder(perf_event::SampleAttr(kType));
}

TEST_F(ProfileBuilderTest, EventsAreCountedApart) {
  StartCat();
  records_.Sample(0x1234);
  ProfileBuilder builder(symbolizer_);
  builder.AddEvent("cycles", records_.attr());
  Attr without_period = records_.attr();
  without_period.sample_type &= ~perf_event::kSamplePeriod;
  without_period.sample_period = 4000;
  builder.AddEvent("faults", without_period);
  RecordBuilder other(without_period);
  other.By(7, 7).Sample(0x1234).Sample(0x1234);
  for (perf_event::RawRecord record : records_.records()) builder.Add(record, 0, 0);
  for (perf_event::RawRecord record : other.records()) builder.Add(record, 1, 0);
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(RowsText(profile),
            "cycles cat 7/7: cat+0x200  1 1\n"
            "faults cat 7/7: cat+0x200  2 8000\n");
  EXPECT_EQ(profile.events[1].samples, 2u);
  EXPECT_EQ(profile.events[1].period, 8000u);
}

TEST_F(ProfileBuilderTest, AStreamingViewSeesEverySampleNamed) {
  StartCat();
  records_.At(5).On(3).Period(10).Sample(0x1234, {kContextUser, 0x1234});
  records_.At(6).On(0).Period(20).Sample(0x1234, {kContextUser, 0x1234, 0x1301});
  std::string seen;
  const Profile profile =
      Build({.keep_rows = false,
             .on_samples = [&](const Profile& so_far, std::span<const SampleRow> rows,
                               const perf_event::Sample*) {
               for (const SampleRow& row : rows) {
                 seen +=
                     absl::StrFormat("%s at %d cpu %d period %d\n", StackText(so_far, row.stack),
                                     row.time, row.cpu, row.period);
               }
             }});
  EXPECT_EQ(seen,
            "cat+0x200 at 5 cpu 3 period 10\n"
            "cat+0x300;cat+0x200 at 6 cpu 0 period 20\n");
  EXPECT_TRUE(profile.rows.empty());
  EXPECT_EQ(profile.events[0].samples, 2u);
}

TEST_F(ProfileBuilderTest, AStreamingViewMayNameOnlySomeFrames) {
  StartCat().At(5).Sample(0x1234, {kContextUser, 0x1234, 0x1301});
  std::vector<FrameId> selves;
  ProfileBuilder builder(
      symbolizer_,
      {.keep_rows = false,
       .on_samples = [&](const Profile&, std::span<const SampleRow> rows,
                         const perf_event::Sample*) { selves.push_back(rows[0].self); },
       .name_frames = false});
  builder.AddEvent("cpu-clock", records_.attr());
  AddRecords(builder);
  (void)builder.profile();
  selves.push_back(builder.FrameAt(7, 0x1302));
  selves.push_back(kNoFrame);
  EXPECT_THAT(symbolizer_.asked(), testing::IsEmpty());
  builder.Name(selves);
  builder.Name(selves);
  const Profile profile = std::move(builder).Finish();
  EXPECT_THAT(symbolizer_.asked(), testing::ElementsAre("/bin/cat @0x234", "/bin/cat @0x302"));
  EXPECT_EQ(profile.LinesOf(profile[selves[0]]).size(), 1u);
}

TEST_F(ProfileBuilderTest, AStreamingViewNamesAThreadAsItWasCalledThen) {
  records_.At(1).By(5, 6).Sample(0x1234).Comm("worker").Sample(0x1234);
  std::string seen;
  Build({.on_samples = [&](const Profile& so_far, std::span<const SampleRow> rows,
                           const perf_event::Sample*) {
    for (const SampleRow& row : rows) {
      seen += std::string(so_far.text(so_far[row.thread].comm)) + "\n";
    }
  }});
  EXPECT_EQ(seen, ":6\nworker\n");
}

TEST_F(ProfileBuilderTest, ASampleThatDoesNotSayItsCpuIsOnNone) {
  Attr attr = records_.attr();
  attr.sample_type &= ~perf_event::kSampleCpu;
  ProfileBuilder builder(symbolizer_, {.dimensions = {true, false}});
  builder.AddEvent("cpu-clock", records_.attr());
  builder.AddEvent("page-faults", attr);
  RecordBuilder without_cpu(attr);
  without_cpu.By(7, 7).Sample(0x1234);
  builder.Add(without_cpu.last(), 1, 0);
  records_.By(7, 7).On(0).Sample(0x1234);
  builder.Add(records_.last(), 0, 0);
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(profile.CpuOf(0), kNoCpu);
  EXPECT_EQ(profile.CpuOf(1), 0u);
}

TEST_F(ProfileBuilderTest, AFrameKnowsTheAddressThatItsImageHasForTheCode) {
  symbolizer_.LinkAt(0x400000, "/bin/cat");
  symbolizer_.LoseImage("/lib/libc.so");
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234, 0x2300, 0x10100});
  const Profile profile = Build();
  std::string addresses;
  for (const Frame& frame : profile.frames) {
    addresses += absl::StrFormat("%#x ", profile.AddressOf(frame));
  }
  // The file of libc could not be read.
  EXPECT_EQ(addresses, "0x4100 0x401300 0x400234 ");
}

TEST_F(ProfileBuilderTest, AStreamingViewIsToldWhichSamplesHaveACallChain) {
  StartCat();
  records_.Sample(0x1234, {kContextUser, 0x1234});
  records_.Sample(0x1234);
  records_.Sample(0x1234, {kContextUser});
  records_.Sample(0x1234, {kContextUser, 0x1234, ~uint64_t{0}});  // corrupt
  records_.Sample(0x1234, {kContextUser, 0x1234});
  std::vector<bool> has_chain;
  Build({.on_samples = [&](const Profile&, std::span<const SampleRow> rows,
                           const perf_event::Sample*) {
    for (const SampleRow& row : rows) has_chain.push_back(row.has_chain);
  }});
  EXPECT_EQ(has_chain, (std::vector<bool>{true, false, false, false, true}));
}

TEST_F(ProfileBuilderTest, DeferredUserChainsAreJoinedToTheSamplesThatWaitForThem) {
  StartCat();
  const uint64_t k = kKernelText;
  records_.Mode(kMiscKernel);
  records_.At(2).Sample(k, {kContextKernel, k, kContextUserDeferred, 77});
  records_.At(3).Sample(k + 0x100, {kContextKernel, k + 0x100, kContextUserDeferred, 77});
  records_.At(4).CallchainDeferred(77, {kContextUser, 0x10100, 0x1301});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x300;libc.so+0x4100;[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n"
            "cat 7/7: cat+0x300;libc.so+0x4100;[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n");
}

TEST_F(ProfileBuilderTest, SamplesWhoseDeferredChainNeverComesCountWithWhatTheyHave) {
  StartCat();
  const uint64_t k = kKernelText;
  records_.Mode(kMiscKernel);
  records_.At(2).Sample(k, {kContextKernel, k, kContextUserDeferred, 77});
  records_.At(3).Sample(k, {kContextKernel, k, kContextUserDeferred, 78});
  records_.At(4).CallchainDeferred(78, {kContextUser, 0x1101});
  records_.At(5).CallchainDeferred(77, {kContextUser, 0x1101});  // the chain arrives too late
  records_.At(6).Sample(k, {kContextKernel, k, kContextUserDeferred, 79});
  const Profile profile = Build();
  EXPECT_EQ(RowsText(profile),
            "cat 7/7: [kernel.kallsyms]+0xffffffff81000000[k]  2 2\n"
            "cat 7/7: cat+0x100;[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
  EXPECT_EQ(profile.events[0].samples, 3u);
}

// ---- samples whose user chain is the processor's stack of calls (perf record --call-graph lbr)

class CallStackTest : public ProfileBuilderTest {
 protected:
  CallStackTest() {
    Attr attr = perf_event::SampleAttr(kType | perf_event::kSampleBranchStack);
    attr.branch_sample_type = perf_event::kBranchCallStack | perf_event::kBranchHwIndex;
    records_ = RecordBuilder(attr);
    StartCat();
  }

  struct Call {
    uint64_t from, to;
  };
  void AddSample(uint64_t ip, const std::vector<uint64_t>& callchain,
                 const std::vector<Call>& calls) {
    std::vector<uint64_t> words;
    for (const Call& call : calls) words.insert(words.end(), {call.from, call.to, 0});
    records_.Add(perf_event::kRecordSample, ip >> 63 != 0 ? kMiscKernel : kMiscUser,
                 perf_event::Sample{
                     .ip = ip,
                     .pid = 7,
                     .tid = 7,
                     .period = 1,
                     .callchain = perf_event::U64Array(std::as_bytes(std::span(callchain))),
                     .branches = std::as_bytes(std::span(words)),
                 });
  }
};

TEST_F(CallStackTest, TheUserPartIsTheCallsAndEachIsLookedUpAtItsOwnAddress) {
  AddSample(0x10110, {kContextUser, 0x10110, 0x2901}, {{0x1300, 0x10100}, {0x1400, 0x1200}});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x400;cat+0x300;libc.so+0x4100  1 1\n");
}

TEST_F(CallStackTest, TheKernelsPartStandsOnTheInstructionThatEnteredTheKernelAndItsCalls) {
  const uint64_t k = kKernelText;
  AddSample(k, {kContextKernel, k, k + 0x201, kContextUser, 0x10210, 0x2901}, {{0x1300, 0x10100}});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x300;libc.so+0x4200;[kernel.kallsyms]+0xffffffff81000200;"
            "[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(CallStackTest, AnInstructionThatIsNotRecordedIsOfTheFunctionThatWasCalledLast) {
  const uint64_t k = kKernelText;
  AddSample(k, {kContextKernel, k, kContextUser}, {{0x1300, 0x10100}});
  EXPECT_EQ(Rows(),
            "cat 7/7: cat+0x300;libc.so+0x4100;[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(CallStackTest, WithoutCallsTheInterruptedUserInstructionIsAllThatIsKnown) {
  const uint64_t k = kKernelText;
  AddSample(0x10110, {kContextUser, 0x10110, 0x2901}, {});
  AddSample(k, {kContextKernel, k, kContextUser, 0x10210, 0x2901}, {});
  EXPECT_EQ(Rows(),
            "cat 7/7: libc.so+0x4100  1 1\n"
            "cat 7/7: libc.so+0x4200;[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(CallStackTest, AChainOfTheKernelAloneStaysAsItIs) {
  AddSample(kKernelText, {kContextKernel, kKernelText, kKernelText + 0x201}, {{0x1300, 0x10100}});
  EXPECT_EQ(Rows(),
            "cat 7/7: [kernel.kallsyms]+0xffffffff81000200;"
            "[kernel.kallsyms]+0xffffffff81000000[k]  1 1\n");
}

TEST_F(CallStackTest, AChainByFramePointersThatIsReplacedMayBeCorrupt) {
  AddSample(0x10110, {kContextUser, 0x10110, ~uint64_t{0}}, {{0x1300, 0x10100}});
  EXPECT_EQ(Rows(), "cat 7/7: cat+0x300;libc.so+0x4100  1 1\n");
  EXPECT_EQ(Build().losses.corrupt_chains, 0u);
}

TEST_F(CallStackTest, ChainsByFramePointersThatAreReplacedAreNoneOfTheKernels) {
  AddSample(0x10110, {kContextUser, 0x10110, 0x7878787878787878}, {{0x1300, 0x10100}});
  const Profile profile = Build();
  EXPECT_EQ(profile.chains.by_kernel, 0u);
  EXPECT_EQ(profile.chains.broken, 0u);
}

TEST_F(CallStackTest, CallsAreBranchesOnlyWhereTheyAreAskedForAsSuch) {
  AddSample(0x10110, {kContextUser, 0x10110}, {{0x1300, 0x10100}});
  const Profile chains = Build({.keep_branches = true});
  EXPECT_FALSE(chains.events[0].branch_stacks);
  EXPECT_TRUE(chains.branches.empty());
  const Profile branches = Build({.keep_branches = true, .keep_call_branches = true});
  EXPECT_TRUE(branches.events[0].branch_stacks);
  EXPECT_EQ(branches.branches.size(), 1u);
}

// ---- samples that read counters

// Samples of the leader "cpu-clock" with counter 11, which read the group's counters. The member is
// "page-faults" with counter 12.
class GroupReadTest : public ProfileBuilderTest {
 protected:
  explicit GroupReadTest(uint64_t format = perf_event::kFormatId | perf_event::kFormatGroup) {
    attr_.sample_type |= perf_event::kSampleRead;
    attr_.read_format = format;
  }

  struct Counter {
    uint64_t value, id;
  };
  void Read(uint32_t tid, std::vector<Counter> counters) {
    std::vector<uint64_t> words;
    if ((attr_.read_format & perf_event::kFormatGroup) != 0) words.push_back(counters.size());
    for (const Counter& counter : counters) words.insert(words.end(), {counter.value, counter.id});
    samples_.push_back({tid, std::move(words)});
  }

  Profile BuildGroup(BuilderOptions options = {}) {
    ProfileBuilder builder(symbolizer_, std::move(options));
    builder.AddEvent("cpu-clock", attr_, std::array<uint64_t, 1>{11});
    builder.AddEvent("page-faults", attr_, std::array<uint64_t, 1>{12});
    for (perf_event::RawRecord record : StartCat().records()) builder.Add(record, 0, 1);
    RecordBuilder reads(attr_);
    for (const auto& [tid, words] : samples_) {
      reads.Add(perf_event::kRecordSample, kMiscUser,
                perf_event::Sample{.ip = 0x1234,
                                   .pid = 7,
                                   .tid = tid,
                                   .read = perf_event::U64Array(std::as_bytes(std::span(words)))});
    }
    for (perf_event::RawRecord record : reads.records()) builder.Add(record, 0, 2);
    return std::move(builder).Finish();
  }

  Attr attr_ = perf_event::SampleAttr(kType);
  std::vector<std::pair<uint32_t, std::vector<uint64_t>>> samples_;
};

TEST_F(GroupReadTest, EachMemberWhoseCounterMovedHasASampleAsLongAsItMoved) {
  Read(7, {{10, 11}, {4, 12}});
  Read(7, {{30, 11}, {4, 12}});
  Read(7, {{35, 11}, {9, 12}});
  Read(7, {{35, 11}, {9, 12}});
  const Profile profile = BuildGroup();
  EXPECT_EQ(RowsText(profile),
            "cpu-clock cat 7/7: cat+0x200  3 35\n"
            "page-faults cat 7/7: cat+0x200  2 9\n");
  EXPECT_EQ(profile.events[0].samples, 3u);
  EXPECT_EQ(profile.events[1].samples, 2u);
  EXPECT_EQ(profile.events[1].period, 9u);
}

TEST_F(GroupReadTest, CountersThatEachThreadHasForItselfMoveByThread) {
  attr_.flags |= perf_event::kAttrInherit;
  Read(7, {{10, 11}, {4, 12}});
  Read(8, {{3, 11}, {1, 12}});
  Read(7, {{15, 11}, {4, 12}});
  EXPECT_EQ(RowsText(BuildGroup()),
            "cpu-clock :8 7/8: cat+0x200  1 3\n"
            "cpu-clock cat 7/7: cat+0x200  2 15\n"
            "page-faults :8 7/8: cat+0x200  1 1\n"
            "page-faults cat 7/7: cat+0x200  1 4\n");
}

TEST_F(GroupReadTest, CountersOfNoKnownEventAndThoseThatMovedBackSayNothing) {
  Read(7, {{10, 11}, {4, 99}});
  Read(7, {{5, 11}, {6, 99}});
  EXPECT_EQ(RowsText(BuildGroup()), "cpu-clock cat 7/7: cat+0x200  1 10\n");
}

TEST_F(GroupReadTest, AViewOfWholeSamplesGetsAllMembersOfOneAtATime) {
  Read(7, {{10, 11}, {4, 12}});
  Read(7, {{30, 11}, {4, 12}});
  std::string seen;
  BuildGroup({.on_samples =
                  [&](const Profile&, std::span<const SampleRow> rows, const perf_event::Sample*) {
                    for (const SampleRow& row : rows) {
                      seen += absl::StrFormat("event %d period %d; ",
                                              static_cast<uint32_t>(row.event), row.period);
                    }
                    seen += "\n";
                  },
              .whole_samples = true});
  EXPECT_EQ(seen,
            "event 0 period 10; event 1 period 4; \n"
            "event 0 period 20; \n");
}

class LoneReadTest : public GroupReadTest {
 protected:
  LoneReadTest() : GroupReadTest(perf_event::kFormatId) {}
};

TEST_F(LoneReadTest, ACounterThatIsReadAloneCountsAsFarAsItMoved) {
  Read(7, {{10, 11}});
  Read(7, {{10, 11}});
  Read(7, {{25, 11}});
  EXPECT_EQ(RowsText(BuildGroup()), "cpu-clock cat 7/7: cat+0x200  2 25\n");
}

}  // namespace
}  // namespace profiler::profile
