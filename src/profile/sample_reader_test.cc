#include "src/profile/sample_reader.h"

#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/testing/fake_symbolizer.h"

namespace profiler::profile {
namespace {

using perf_event::RecordBuilder;

constexpr uint64_t kType =
    perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime |
    perf_event::kSampleAddr | perf_event::kSampleCallchain | perf_event::kSampleBranchStack |
    perf_event::kSampleRegsUser | perf_event::kSampleWeightStruct | perf_event::kSampleCgroup;

class SampleReaderTest : public testing::Test {
 protected:
  SampleReaderTest() : records_(AttrOfAll()) {
    records_.At(1).By(7, 7).Comm("cat", true).Mmap2(0x1000, 0x2000, 0, "/bin/cat");
  }

  static perf_event::Attr AttrOfAll() {
    perf_event::Attr attr = perf_event::SampleAttr(kType);
    attr.sample_regs_user = 0b101;
    return attr;
  }

  // Returns the details of the only sample among the records.
  SampleDetails Read(SampleReader::LookUps look_ups = {}) {
    SampleReader reader(perf_event::ArchitectureOf("x86_64"));
    reader.AddCgroup({.id = 42, .path = "/user.slice"});
    SampleDetails details;
    ProfileBuilder* at = nullptr;
    ProfileBuilder builder(
        symbolizer_,
        {.on_samples =
             [&](const Profile& profile, std::span<const SampleRow>,
                 const perf_event::Sample* sample) {
               details = reader.Read(*sample, records_.layout(), look_ups, *at);
               for (const Branch& branch : details.branches) {
                 for (FrameId id : {branch.from_frame, branch.to_frame}) {
                   branch_images_.push_back(
                       id == kNoFrame ? "none"
                                      : std::string(profile.text(profile[profile[id].image].name)));
                 }
               }
             },
         .whole_samples = true});
    at = &builder;
    builder.AddEvent("cycles", records_.attr());
    for (perf_event::RawRecord record : records_.records()) {
      builder.Add(record, 0, perf_event::TimeOf(record, records_.layout()));
    }
    return details;
  }

  perf_event::Sample SampleOfAll() {
    perf_event::Sample sample{.ip = 0x1234, .pid = 7, .tid = 7, .time = 2, .addr = 0x77};
    sample.branches = std::as_bytes(std::span(branches_));
    sample.user_regs = {perf_event::kRegsAbi64, 0b101, std::as_bytes(std::span(registers_))};
    sample.weight = 5 | 6ull << 32 | 7ull << 48;
    sample.cgroup = 42;
    return sample;
  }

  const std::array<uint64_t, 6> branches_ = {0x1100, 0x2200, 1, 0x9000, 0xfffffffffffffe00, 2};
  const std::array<uint64_t, 2> registers_ = {0xa, 0xc};
  FakeSymbolizer symbolizer_;
  RecordBuilder records_;
  std::vector<std::string> branch_images_;
};

TEST_F(SampleReaderTest, GivesWhatTheSampleSays) {
  records_.Add(perf_event::kRecordSample, perf_event::kMiscUser, SampleOfAll());
  const SampleDetails details = Read();
  EXPECT_EQ(details.misc, perf_event::kMiscUser);
  EXPECT_EQ(details.addr, 0x77u);
  EXPECT_EQ(details.addr_frame, kNoFrame);
  EXPECT_EQ(details.weight, 5u);
  EXPECT_EQ(details.instruction_latency, 6u);
  EXPECT_EQ(details.retire_latency, 7u);
  ASSERT_EQ(details.user_registers.values.size(), 2u);
  EXPECT_EQ(details.user_registers.values[1].first, "CX");
  EXPECT_EQ(details.user_registers.values[1].second, 0xcu);
  EXPECT_EQ(details.interrupt_registers.abi, 0u);
  ASSERT_EQ(details.branches.size(), 2u);
  EXPECT_EQ(details.branches[0].to, 0x2200u);
  EXPECT_EQ(details.branches[0].from_frame, kNoFrame);
}

TEST_F(SampleReaderTest, LooksBranchesUpWhereTheyWereThen) {
  records_.Add(perf_event::kRecordSample, perf_event::kMiscUser, SampleOfAll());
  Read({.branches = true});
  EXPECT_EQ(branch_images_, (std::vector<std::string>{"cat", "cat", "[unknown]", "none"}));
}

}  // namespace
}  // namespace profiler::profile
