// Runs every target with its seeds, with mutations of the seeds, and with the recordings of the
// corpus if the corpus is beside the source tree. tools/fuzz searches for longer.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/corpus.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/heap_meter.h"
#include "tests/fuzz/mutator.h"

namespace profiler::fuzz {

void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }

namespace {

constexpr int kMutations = 2000;
constexpr int kMutationsOfSlow = 500;
// Number of truncated seeds per target; each seed is truncated at least once. kCutsOfSlow applies
// to slow targets.
constexpr size_t kCuts = 2000, kCutsOfSlow = 200;
constexpr int kMutationsOfOthers = 20;
// Largest file of the corpus that is tried, in bytes. Larger files would only cost time.
constexpr size_t kLargestFile = 64 << 10;

// Largest memory for one input, in bytes. A reader may use 512 MB, but these inputs are small. The
// window of zstd is not counted.
constexpr size_t kMostMemory = 160 << 20;

// Runs the target on one input, and checks the memory that the target takes.
void Feed(const FuzzTarget& target, const Bytes& input) {
  // A copy without spare capacity, so that AddressSanitizer finds reads beyond its end.
  const Bytes exact(input);
  const size_t before = ResetPeakHeap();
  target.run(exact);
  ASSERT_LE(PeakHeap() - before, kMostMemory) << "on " << input.size() << " bytes";
}

class FuzzTest : public testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzTest, GetsThroughItsSeeds) {
  const std::vector<Bytes> seeds = GetParam().seeds();
  ASSERT_FALSE(seeds.empty());
  for (const Bytes& seed : seeds) ASSERT_NO_FATAL_FAILURE(Feed(GetParam(), seed));
}

TEST_P(FuzzTest, GetsThroughSeedsCutAnywhere) {
  const std::vector<Bytes> seeds = GetParam().seeds();
  const size_t cuts = (GetParam().is_slow ? kCutsOfSlow : kCuts) / seeds.size() + 1;
  for (const Bytes& seed : seeds) {
    const size_t step = 1 + seed.size() / cuts;
    for (size_t size = 0; size < seed.size(); size += step) {
      ASSERT_NO_FATAL_FAILURE(
          Feed(GetParam(), Bytes(seed.begin(), seed.begin() + static_cast<ptrdiff_t>(size))));
    }
  }
}

TEST_P(FuzzTest, GetsThroughMutationsOfItsSeeds) {
  const std::vector<Bytes> seeds = GetParam().seeds();
  Mutator mutator(1);
  const int mutations = GetParam().is_slow ? kMutationsOfSlow : kMutations;
  for (int i = 0; i < mutations; ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(Feed(GetParam(), mutator.Mutate(seeds)));
  }
}

Bytes ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return ToBytes(std::string(std::istreambuf_iterator<char>(in), {}));
}

class RecordingFuzzTest : public FuzzTest {};

TEST_P(RecordingFuzzTest, GetsThroughMutationsOfRecordingsByOthers) {
  const auto directory = conformance::CorpusDirectory();
  if (!directory) GTEST_SKIP() << conformance::kNoCorpus;
  Mutator mutator(2);
  for (const conformance::CorpusFile& file : conformance::CorpusFiles(*directory)) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file.path, error)) continue;
    if (std::filesystem::file_size(file.path, error) > kLargestFile) continue;
    SCOPED_TRACE(file.name);
    const Bytes seeds[] = {ReadWhole(file.path)};
    ASSERT_NO_FATAL_FAILURE(Feed(GetParam(), seeds[0]));
    for (int i = 0; i < kMutationsOfOthers; ++i) {
      ASSERT_NO_FATAL_FAILURE(Feed(GetParam(), mutator.Mutate(seeds)));
    }
  }
}

std::vector<FuzzTarget> RecordingTargets() {
  std::vector<FuzzTarget> targets(Targets().begin(), Targets().end());
  std::erase_if(targets, [](const FuzzTarget& target) { return !target.reads_recordings; });
  return targets;
}

std::string NameOf(const testing::TestParamInfo<FuzzTarget>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(Targets().begin(), Targets().end()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Targets, RecordingFuzzTest, testing::ValuesIn(RecordingTargets()), NameOf);

}  // namespace
}  // namespace profiler::fuzz
