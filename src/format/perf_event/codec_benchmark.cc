// Measures the codec's cost per record. Target: at most 30 ns for a sample with a call chain of 20
// frames.

#include <vector>

#include "benchmark/benchmark.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::perf_event {
namespace {

constexpr uint64_t kTypical = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                              kSampleCpu | kSamplePeriod | kSampleCallchain;

RecordBuilder TypicalSample() {
  RecordBuilder builder(SampleAttr(kTypical));
  std::vector<uint64_t> chain = {kContextUser};
  for (uint64_t i = 0; i < 20; ++i) chain.push_back(0x400000 + 64 * i);
  builder.By(1, 2).At(3).Sample(0x400000, chain);
  return builder;
}

void BM_DecodeSample(benchmark::State& state) {
  const RecordBuilder builder = TypicalSample();
  Sample sample;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Decode(builder.last(), builder.layout(), &sample));
    benchmark::DoNotOptimize(sample);
  }
}
BENCHMARK(BM_DecodeSample);

void BM_TimeOfSample(benchmark::State& state) {
  const RecordBuilder builder = TypicalSample();
  for (auto _ : state) benchmark::DoNotOptimize(TimeOf(builder.last(), builder.layout()));
}
BENCHMARK(BM_TimeOfSample);

void BM_EncodeSample(benchmark::State& state) {
  const RecordBuilder builder = TypicalSample();
  Sample sample;
  Decode(builder.last(), builder.layout(), &sample);
  std::vector<std::byte> out;
  for (auto _ : state) {
    out.clear();
    benchmark::DoNotOptimize(Encode(kRecordSample, kMiscUser, builder.layout(), sample, &out));
  }
}
BENCHMARK(BM_EncodeSample);

void BM_SwapSample(benchmark::State& state) {
  const RecordBuilder builder = TypicalSample();
  std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
  for (auto _ : state) {
    benchmark::DoNotOptimize(SwapToForeign(bytes, builder.layout()));
    benchmark::DoNotOptimize(SwapToNative(bytes, builder.layout()));
  }
}
BENCHMARK(BM_SwapSample);

}  // namespace
}  // namespace profiler::perf_event
