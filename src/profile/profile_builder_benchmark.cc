// Measures the builder's cost per sample. Target: at most 100 ns for a known chain.

#include <memory>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/fake_symbolizer.h"

namespace profiler::profile {
namespace {

using perf_event::kContextKernel;
using perf_event::kContextUser;
using perf_event::RecordBuilder;

constexpr uint64_t kType = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                           perf_event::kSampleTid | perf_event::kSampleTime |
                           perf_event::kSampleCpu | perf_event::kSamplePeriod |
                           perf_event::kSampleCallchain;
constexpr int kSamples = 1'000'000;
constexpr uint64_t kImages = 20, kImageSize = 0x100000, kImageBase = 0x10000000;
constexpr uint64_t kKernelText = 0xffffffff81000000;

// Makes chains from a program's call tree. Each function calls a few others, so chains share their
// callers as real ones do.
std::vector<std::vector<uint64_t>> Chains(int count) {
  std::mt19937_64 random(1);
  std::vector<std::vector<uint64_t>> chains;
  for (int i = 0; i < count; ++i) {
    std::vector<uint64_t> user;  // root first
    uint64_t code = 1;
    const uint64_t depth = 8 + random() % 16;
    for (uint64_t d = 0; d < depth; ++d) {
      code = code * 3 + random() % 3;
      user.push_back(kImageBase + code * 0x9e3779b1 % (kImages * kImageSize));
    }
    std::vector<uint64_t> chain;
    if (i % 3 == 0) {
      chain.push_back(kContextKernel);
      for (uint64_t d = 8; d-- > 0;) chain.push_back(kKernelText + (i % 97) * 0x1000 + d * 0x40);
    }
    chain.push_back(kContextUser);
    chain.insert(chain.end(), user.rbegin(), user.rend());
    chains.push_back(std::move(chain));
  }
  return chains;
}

void MapImages(RecordBuilder& records, uint32_t pid) {
  records.By(pid, pid).Mode(perf_event::kMiscUser).Comm("cc1plus", true);
  for (uint64_t i = 0; i < kImages; ++i) {
    records.Mmap2(kImageBase + i * kImageSize, kImageSize, 0, "/lib/lib" + std::to_string(i));
  }
}

// Makes a recording with `chains` distinct chains, in random order, of processes that live for
// `samples_each` samples.
RecordBuilder Recording(int chains, int samples_each) {
  RecordBuilder records(perf_event::SampleAttr(kType));
  const auto all = Chains(chains);
  std::mt19937_64 random(2);
  uint32_t pid = 1000;
  for (int i = 0; i < kSamples; ++i) {
    if (i % samples_each == 0) MapImages(records, ++pid);
    const auto& chain = all[random() % all.size()];
    const bool kernel = chain[0] == kContextKernel;
    records.At(i).On(i % 2).Mode(kernel ? perf_event::kMiscKernel : perf_event::kMiscUser);
    records.Sample(chain[1], chain);
  }
  return records;
}

void Build(benchmark::State& state, int chains, int samples_each) {
  const RecordBuilder recording = Recording(chains, samples_each);
  const std::vector<perf_event::RawRecord> records = recording.records();
  size_t rows = 0, stacks = 0;
  for (auto _ : state) {
    FakeSymbolizer symbolizer;
    auto builder = std::make_unique<ProfileBuilder>(symbolizer);
    builder->AddEvent("cpu-clock", recording.attr());
    for (perf_event::RawRecord record : records) builder->Add(record, 0, 0);
    rows = builder->profile().rows.size();
    stacks = builder->profile().stacks.size();
    state.PauseTiming();
    builder.reset();
    state.ResumeTiming();
  }
  state.counters["ns/sample"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSamples * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["rows"] = static_cast<double>(rows);
  state.counters["stacks"] = static_cast<double>(stacks);
}

// Measures one long-running process.
void BM_OneProcess(benchmark::State& state) {
  Build(state, static_cast<int>(state.range(0)), kSamples);
}
BENCHMARK(BM_OneProcess)->Arg(1000)->Arg(50'000)->Unit(benchmark::kMillisecond);

// Measures a build with many short processes. The chains of each process are new, but its frames
// are not.
void BM_ManyProcesses(benchmark::State& state) {
  Build(state, 50'000, static_cast<int>(state.range(0)));
}
BENCHMARK(BM_ManyProcesses)->Arg(10'000)->Arg(500)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::profile
