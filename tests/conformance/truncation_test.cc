// Cuts every recording of the corpus at every 997th byte. Readers must return the remaining
// part, and one warning that the end is missing.
//
// A stream that is cut between two records looks like a whole stream, so it gives no warning.
// Files over 512 KiB are cut at every second or third position, so that the test takes about a
// minute of CPU time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "tests/conformance/corpus.h"

namespace profiler::conformance {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;

constexpr uint64_t kStep = 997;

struct Outcome {
  bool opened = false;
  // File offset of each sample's end. For a compressed sample, it is the offset at which the
  // compressed record begins.
  std::vector<uint64_t> ends;
  std::vector<std::string> lines;
};

Outcome Read(const std::string& path) {
  Outcome outcome;
  const auto recording = Recording::Open(path);
  if (!recording.ok()) {
    outcome.lines.emplace_back(recording.status().message());
    return outcome;
  }
  outcome.opened = true;
  const absl::Status status =
      (*recording)->ForEach(Recording::Order::kTime, [&](const TimedRecord& record) {
        if (record.record.type() != perf_event::kRecordSample) return;
        outcome.ends.push_back(record.file_offset + record.record.size());
      });
  outcome.lines = (*recording)->warnings();
  if (!status.ok()) outcome.lines.emplace_back(status.message());
  return outcome;
}

// A test that cuts the files of one shard. It shortens each file step by step with ftruncate(2).
class Truncated : public testing::TestWithParam<size_t> {};

constexpr size_t kGroups = 16;

TEST_P(Truncated, GivesTheReadablePartAndOneLine) {
  const std::optional<std::string> directory = CorpusDirectory();
  if (!directory) GTEST_SKIP() << kNoCorpus;
  const std::vector<CorpusFile> files = CorpusFiles(*directory);
  for (size_t i = GetParam(); i < files.size(); i += kGroups) {
    const CorpusFile& file = files[i];
    SCOPED_TRACE(file.name);
    const bool stream = file.exercises.find("; pipe;") != std::string::npos;
    const bool compressed = file.exercises.find("COMPRESSED") != std::string::npos;
    const bool bad = file.exercises.find("BAD:") != std::string::npos;
    const std::string path = testing::TempDir() + "/truncated." + std::to_string(i);
    std::filesystem::copy_file(file.path, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    std::vector<uint64_t> ends = Read(path).ends;
    std::sort(ends.begin(), ends.end());
    const uint64_t whole = std::filesystem::file_size(path);
    for (uint64_t size = (whole - 1) / kStep * kStep;; size -= kStep) {
      ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0);
      const Outcome outcome = Read(path);
      const auto readable = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin();
      if (outcome.opened && !compressed) {
        EXPECT_EQ(outcome.ends.size(), static_cast<size_t>(readable)) << "cut at " << size;
      }
      const std::string lines = testing::PrintToString(outcome.lines);
      if (stream || bad) {
        EXPECT_LE(outcome.lines.size(), 1u) << "cut at " << size << ": " << lines;
      } else {
        EXPECT_EQ(outcome.lines.size(), 1u) << "cut at " << size << ": " << lines;
      }
      if (size == 0) break;
    }
    std::filesystem::remove(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Truncated, testing::Range<size_t>(0, kGroups));

}  // namespace
}  // namespace profiler::conformance
