// A view of a part of the time passes over the samples of other times (Recording::Window). These
// tests compare it with a view that gets every sample.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::naming {
namespace {

using perf_data::Recording;
using perf_event::RecordBuilder;
using profile::SampleSelection;

// A symbolizer that remembers the lives of processes.
class LifeKeeper final : public profile::FakeSymbolizer {
 public:
  void SetLife(uint32_t process, const symbolize::ProcessLife& life) override {
    lives[process] = life;
  }
  std::map<uint32_t, symbolize::ProcessLife> lives;
};

// The facts that a view shows of a recording.
struct Read {
  std::string rows;
  std::map<uint32_t, symbolize::ProcessLife> lives;
  uint64_t samples = 0, visited = 0;
};

Read ReadPart(const std::string& path, const SampleSelection& samples,
              const Recording::Window& window) {
  auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  LifeKeeper symbolizer;
  symbolizer.SetJitCodes({{20, 7, {0x5000}, 0x100, {0}}, {60, 7, {0x5080}, 0x100, {0x200}}});
  profile::BuilderOptions options{.samples = samples};
  options.clock.to_real_time = 1000;
  profile::ProfileBuilder builder(symbolizer, options);
  Read read;
  const absl::Status status = ReadInto(
      **recording, builder, [&](const perf_data::TimedRecord&) { ++read.visited; }, window);
  EXPECT_TRUE(status.ok()) << status;
  const profile::Profile profile = std::move(builder).Finish();
  read.rows = profile::RowsText(profile);
  read.samples = profile.events[0].samples;
  read.lives = symbolizer.lives;
  return read;
}

// Writes records of two rings in rounds: samples of three processes, the code that they map, and
// forks, execs and ends. Some mappings have no time, as those that a recorder reads from /proc.
std::string AnyRecording(uint32_t seed) {
  std::mt19937 random(seed);
  const std::string path = perf_data::TestPath("any");
  perf_event::Attr attr = perf_data::UsualAttr();
  attr.flags |= perf_event::kAttrUseClockid;
  attr.clockid = 1;  // CLOCK_MONOTONIC, the clock of dumps
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {1}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  RecordBuilder records(attr);
  for (uint64_t begin = 1; begin < 100; begin += 10) {
    for (uint32_t ring = 0; ring < 2; ++ring) {
      for (uint64_t time = begin; time < begin + 15; time += 1 + random() % 3) {
        const uint32_t pid = 7 + random() % 3;
        records.Id(1).On(ring).By(pid, pid).At(time);
        const uint64_t place = 0x1000 * (1 + random() % 6);
        switch (random() % 16) {
          case 0:
            records.At(0).Mmap2(place, 0x1000, 0, "/bin/old");
            break;
          case 1:
            records.Mmap2(place, 0x1000, 0, "/bin/new");
            break;
          case 2:
            records.Mmap2(0x100000, 0x1000, 0, "/tmp/jit-7.dump");
            break;
          case 3:
            records.Comm("again", /*exec=*/true);
            break;
          case 4:
            records.Fork(7 + random() % 3, 7 + random() % 3);
            break;
          case 5:
            records.Exit();
            break;
          default:
            records.Sample(place + random() % 0x1000, {perf_event::kContextUser, place, 0x5090});
        }
      }
    }
    EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
    EXPECT_TRUE((*writer)->FinishRound().ok());
  }
  EXPECT_TRUE((*writer)->Finish({}).ok());
  return path;
}

TEST(Window, APartOfTheTimeIsTheSameWithoutTheOtherSamples) {
  uint64_t samples = 0, saved = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string path = AnyRecording(seed);
    for (const Recording::Window& window :
         {Recording::Window{1, 20}, {45, 55}, {.first = 90}, {200, 300}}) {
      const SampleSelection part{.first = window.first, .last = window.last};
      const Read all = ReadPart(path, part, {}), some = ReadPart(path, part, window);
      ASSERT_EQ(some.rows, all.rows) << "seed " << seed << ", from " << window.first;
      ASSERT_EQ(some.lives, all.lives) << "seed " << seed << ", from " << window.first;
      ASSERT_LE(some.visited, all.visited);
      samples += all.samples;
      saved += all.visited - some.visited;
    }
  }
  EXPECT_GT(samples, 1'000u);
  EXPECT_GT(saved, 1'000u);
}

perf_event::Attr With(uint64_t sample_type, uint64_t flags) {
  perf_event::Attr attr = perf_data::UsualAttr();
  attr.sample_type |= sample_type;
  attr.flags |= flags;
  return attr;
}

// Returns the number of records that a pass with the window of this recording visits.
int Visited(const perf_event::Attr& attr) {
  const std::string path = perf_data::TestPath("kinds");
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {1}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  RecordBuilder records(attr);
  for (uint64_t time = 1; time <= 10; ++time) records.Id(1).At(time).Sample(0x1000);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish({}).ok());
  auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok());
  int visited = 0;
  const auto count = [&](const perf_data::TimedRecord&) { ++visited; };
  const Recording::Window window = WindowOf(**recording, {.first = 10});
  EXPECT_TRUE((*recording)->ForEach(Recording::Order::kTime, count, window).ok());
  return visited;
}

TEST(Window, SamplesOnWhichLaterOnesDependAreAllRead) {
  EXPECT_EQ(Visited(perf_data::UsualAttr()), 3);
  EXPECT_EQ(Visited(With(perf_event::kSampleRead, 0)), 10);
  EXPECT_EQ(Visited(With(0, perf_event::kAttrDeferCallchain)), 10);
}

TEST(Window, TheEventsOfAStreamAreNotKnownInFront) {
  const std::string path = perf_data::TestPath("stream");
  perf_data::WriteFile(path, perf_data::StreamOf({{perf_data::UsualAttr(), "cpu-clock", {1}}}, {}));
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_TRUE(WindowOf(**recording, {.first = 10}).HasAll());
}

}  // namespace
}  // namespace profiler::naming
