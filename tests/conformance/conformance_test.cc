// Reads the recordings of the corpus and compares every sample with perf 6.1's output for it.
//
// perf and this reader differ on purpose:
//  - perf prints user frames of a call chain relative to their image once it knows the mapping. The
//    pages differ, the offsets within the page are equal.
//  - perf unwinds stack dumps while it prints, so its chain continues beyond the recorded chain.
//  - perf prints at most 127 frames.
//  - perf splits a sample with a group READ into one sample per event of the group. The period of
//    such a sample is the increment of its event's count. The test compares only the first sample
//    of a group, without period and event.
//  - If the file has no name for an event, perf 6.1 calls it cycles:HG if it counts hosts and
//    guests, and cycles if it counts hosts only. perf 7.2 and this profiler use cycles:H instead of
//    cycles.
//  - perf synthesizes samples from AUX traces (intel_pt). For such recordings, only
//    counts are compared.
//  - perf refuses attrs over 128 bytes. For such recordings, the goldens come from copies with
//    shorter attrs and the same records.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "tests/conformance/corpus.h"
#include "tests/conformance/perf_script.h"

namespace profiler::conformance {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;

const std::map<uint32_t, std::string>& TypeNames() {
  static const auto& names = *new std::map<uint32_t, std::string>{
      {1, "MMAP"},          {2, "LOST"},      {3, "COMM"},
      {4, "EXIT"},          {5, "THROTTLE"},  {6, "UNTHROTTLE"},
      {7, "FORK"},          {8, "READ"},      {9, "SAMPLE"},
      {10, "MMAP2"},        {11, "AUX"},      {12, "ITRACE_START"},
      {13, "LOST_SAMPLES"}, {14, "SWITCH"},   {15, "SWITCH_CPU_WIDE"},
      {16, "NAMESPACES"},   {17, "KSYMBOL"},  {18, "BPF_EVENT"},
      {19, "CGROUP"},       {20, "TEXT_POKE"}};
  return names;
}

struct ReadSample {
  perf_event::Sample sample;  // only its numbers are valid; the members below copy lists and texts
  std::string event;
  bool stack_dump = false;
  bool group_read = false;
  std::vector<uint64_t> ips;
  std::vector<std::pair<uint64_t, uint64_t>> branches;
  std::vector<uint64_t> user_regs;
};

std::vector<uint64_t> WithoutMarkers(perf_event::U64Array chain) {
  std::vector<uint64_t> ips;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (chain[i] < perf_event::kContextMax) ips.push_back(chain[i]);
  }
  return ips;
}

ReadSample Copy(const perf_event::Sample& sample, const perf_data::EventDescription& event) {
  ReadSample copy;
  copy.sample = sample;
  copy.event = event.name;
  copy.stack_dump = (event.attr.sample_type & perf_event::kSampleStackUser) != 0;
  copy.group_read = (event.attr.sample_type & perf_event::kSampleRead) != 0 &&
                    (event.attr.read_format & perf_event::kFormatGroup) != 0;
  if ((event.attr.sample_type & perf_event::kSampleCallchain) != 0) {
    copy.ips = WithoutMarkers(sample.callchain);
  } else {
    copy.ips = {sample.ip};
  }
  const perf_event::U64Array branches(sample.branches);
  for (size_t i = 0; i + 2 < branches.size(); i += 3) {
    copy.branches.emplace_back(branches[i], branches[i + 1]);
  }
  const perf_event::U64Array regs(sample.user_regs.values);
  for (size_t i = 0; i < regs.size(); ++i) copy.user_regs.push_back(regs[i]);
  return copy;
}

// Returns a time as perf prints it: truncated to microseconds.
std::string TimeText(uint64_t ns) {
  char text[64];
  std::snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000000,
                ns % 1000000000 / 1000);
  return text;
}

constexpr size_t kMaxFrames = 127;

// Returns the first difference; empty if there is none.
std::string Difference(const ReadSample& ours, const ScriptSample& perfs, const CorpusFile& file) {
  const auto shows = [&file](const char* field) {
    return testing::Value(file.script_fields, testing::Contains(field));
  };
  const perf_event::Sample& sample = ours.sample;
  if (static_cast<int>(sample.pid) != perfs.pid || static_cast<int>(sample.tid) != perfs.tid) {
    return "pid/tid";
  }
  if (perfs.cpu >= 0 && static_cast<int>(sample.cpu) != perfs.cpu) return "cpu";
  if (TimeText(sample.time) != perfs.time) return "time";
  if (shows("period") && !ours.group_read && sample.period != perfs.period) return "period";
  if (shows("addr") && sample.addr != perfs.addr) return "addr";
  if (shows("brstack") && ours.branches != perfs.branches) return "branches";
  if (shows("uregs") && ours.user_regs != perfs.user_regs) return "registers";
  if (!ours.group_read && NameWithoutGuests(ours.event) != NameWithoutGuests(perfs.event)) {
    return "event: " + ours.event + " and " + perfs.event;
  }
  const size_t count = std::min(ours.ips.size(), kMaxFrames);
  if (count > perfs.ips.size() || (count < perfs.ips.size() && !ours.stack_dump)) {
    return "call chain of " + std::to_string(count) + " and " + std::to_string(perfs.ips.size());
  }
  for (size_t i = 0; i < count; ++i) {
    if (!SameFrame(ours.ips[i], perfs.ips[i])) return "frame " + std::to_string(i);
  }
  return "";
}

// Returns the first sample of each group. perf prints `group_size` samples for each group READ.
std::vector<ScriptSample> FirstOfEachGroup(std::vector<ScriptSample> samples, size_t group_size) {
  std::vector<ScriptSample> firsts;
  for (size_t i = 0; i < samples.size(); i += group_size) firsts.push_back(std::move(samples[i]));
  return firsts;
}

struct Contents {
  absl::Status status;
  std::map<std::string, uint64_t> counts;
  std::vector<ReadSample> samples;
  std::vector<std::string> warnings;
  size_t events = 0;
};

Contents Read(const std::string& path, Recording::Order order) {
  Contents contents;
  absl::StatusOr<std::unique_ptr<Recording>> recording = Recording::Open(path);
  contents.status = recording.status();
  if (!recording.ok()) return contents;
  contents.status = (*recording)->ForEach(order, [&](const TimedRecord& record) {
    const auto name = TypeNames().find(record.record.type());
    if (name != TypeNames().end()) ++contents.counts[name->second];
    if (record.record.type() != perf_event::kRecordSample) return;
    const perf_data::EventDescription& event = (*recording)->events()[record.event];
    perf_event::Sample sample;
    EXPECT_TRUE(perf_event::Decode(record.record, event.layout, &sample))
        << path << ", offset " << record.file_offset;
    contents.samples.push_back(Copy(sample, event));
  });
  contents.events = (*recording)->events().size();
  contents.warnings = (*recording)->warnings();
  return contents;
}

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> directory = CorpusDirectory();
    if (!directory) {
      GTEST_SKIP() << kNoCorpus;
    }
    files_ = CorpusFiles(*directory);
    ASSERT_FALSE(files_.empty());
  }

  std::vector<CorpusFile> files_;
};

TEST_F(Corpus, EveryFileHasItsSamples) {
  for (const CorpusFile& file : files_) {
    const Contents contents = Read(file.path, Recording::Order::kFile);
    if (file.exercises.find("BAD:") == std::string::npos) {
      EXPECT_TRUE(contents.status.ok()) << contents.status;
      EXPECT_EQ(contents.samples.size(), file.samples) << file.name;
      EXPECT_THAT(contents.warnings, testing::IsEmpty()) << file.name;
    } else {
      EXPECT_TRUE(absl::IsDataLoss(contents.status)) << file.name << ": " << contents.status;
      EXPECT_FALSE(contents.counts.empty()) << file.name;  // records before the damaged record
    }
  }
}

TEST_F(Corpus, EveryFileHasAsManyRecordsOfEachTypeAsPerfCounts) {
  for (const CorpusFile& file : files_) {
    if (file.script_fields.empty()) continue;
    const Contents contents = Read(file.path, Recording::Order::kFile);
    for (const auto& [type, count] : RecordCounts(file)) {
      const auto ours = contents.counts.find(type);
      if (ours == contents.counts.end()) continue;  // only perf's statistics count this type
      EXPECT_EQ(ours->second, count) << file.name << ": " << type;
    }
  }
}

TEST_F(Corpus, EverySampleIsWhatPerfPrints) {
  size_t compared = 0;
  for (const CorpusFile& file : files_) {
    if (file.script_fields.empty() || file.exercises.find("AUXTRACE") != std::string::npos) {
      continue;
    }
    SCOPED_TRACE(file.name);
    const Contents contents = Read(file.path, Recording::Order::kTime);
    std::vector<ScriptSample> perfs = ParseScript(ScriptLines(file), file.script_fields);
    if (!contents.samples.empty() && contents.samples.front().group_read) {
      perfs = FirstOfEachGroup(std::move(perfs), contents.events);
    }
    EXPECT_EQ(contents.samples.size(), perfs.size());
    size_t differing = 0;
    for (size_t i = 0; i < std::min(perfs.size(), contents.samples.size()); ++i) {
      const std::string difference = Difference(contents.samples[i], perfs[i], file);
      if (difference.empty()) continue;
      if (++differing > 3) continue;
      ADD_FAILURE() << "sample " << i << " at " << perfs[i].time << ": " << difference;
    }
    EXPECT_EQ(differing, 0u);
    compared += perfs.size();
  }
  std::printf("compared %zu samples with perf's\n", compared);
}

// Reads the section of each feature that perf defines. Returns the features that cannot be read.
std::vector<int> UnreadableFeatures(const perf_data::Features& features) {
  const std::map<int, bool> readable = {{13, perf_data::ReadCpuTopology(features).has_value()},
                                        {14, perf_data::ReadNumaTopology(features).has_value()},
                                        {16, perf_data::ReadPmuMappings(features).has_value()},
                                        {17, perf_data::ReadGroups(features).has_value()},
                                        {20, perf_data::ReadCaches(features).has_value()},
                                        {22, perf_data::ReadMemoryTopology(features).has_value()},
                                        {24, perf_data::ReadDirFormat(features).has_value()},
                                        {25, perf_data::ReadBpfPrograms(features).has_value()},
                                        {26, perf_data::ReadBpfTypes(features).has_value()},
                                        {27, perf_data::ReadCompression(features).has_value()},
                                        {28, perf_data::ReadCpuPmuCaps(features).has_value()},
                                        {30, perf_data::ReadHybridTopology(features).has_value()},
                                        {31, perf_data::ReadPmuCaps(features).has_value()},
                                        {33, perf_data::ReadElfMachine(features).has_value()}};
  std::vector<int> unreadable;
  for (const auto& [bit, ok] : readable) {
    if (features.other.count(bit) != 0 && !ok) unreadable.push_back(bit);
  }
  return unreadable;
}

TEST_F(Corpus, EveryFeatureIsReadable) {
  for (const CorpusFile& file : files_) {
    absl::StatusOr<std::unique_ptr<Recording>> recording = Recording::Open(file.path);
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_THAT(UnreadableFeatures((*recording)->features()), testing::IsEmpty()) << file.name;
  }
}

}  // namespace
}  // namespace profiler::conformance
