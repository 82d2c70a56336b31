// Reading a recording of a million call-chain samples (two rings, rounds of 100 ms at 25 kHz, 200
// bytes a record), without decoding them. Page faults of the file in the page cache are included.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "src/perf_data/recording.h"
#include "src/perf_data/recording_builder.h"
#include "src/perf_data/round_sorter.h"

namespace profiler::perf_data {
namespace {

constexpr int kSamples = 1'000'000;
constexpr int kRings = 2;
constexpr int kSamplesPerRound = 5000;

std::string WriteRecording(bool rounds) {
  const std::string path = "/tmp/profiler_recording_benchmark." + std::to_string(getpid());
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "cpu-clock", {1}}}, 0);
  perf_event::RecordBuilder records(attr);
  const std::vector<uint64_t> chain(16, 0x1234);
  for (int start = 0; start < kSamples; start += kSamplesPerRound) {
    for (int ring = 0; ring < kRings; ++ring) {
      for (int i = ring; i < kSamplesPerRound; i += kRings) {
        records.At(1'000'000 + uint64_t{40'000} * (start + i)).Id(1).On(ring).Sample(1, chain);
      }
    }
    if (!AppendAll(*writer.value(), records).ok()) abort();
    if (rounds && !writer.value()->FinishRound().ok()) abort();
  }
  if (!writer.value()->Finish(UsualFeatures()).ok()) abort();
  return path;
}

void Read(benchmark::State& state, Recording::Order order, bool rounds) {
  const std::string path = WriteRecording(rounds);
  uint64_t bytes = 0, samples = 0;
  for (auto _ : state) {
    auto recording = Recording::Open(path);
    const absl::Status status = (*recording)->ForEach(order, [&](const TimedRecord& record) {
      bytes += record.record.header().size;
      ++samples;
    });
    if (!status.ok()) state.SkipWithError("cannot read");
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.SetItemsProcessed(static_cast<int64_t>(samples));
  unlink(path.c_str());
  unlink((path + ".old").c_str());
}

void BM_ReadInTimeOrder(benchmark::State& state) { Read(state, Recording::Order::kTime, true); }
void BM_ReadInTimeOrderWithoutRounds(benchmark::State& state) {
  Read(state, Recording::Order::kTime, false);
}
void BM_ReadInFileOrder(benchmark::State& state) { Read(state, Recording::Order::kFile, true); }
BENCHMARK(BM_ReadInTimeOrder)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadInTimeOrderWithoutRounds)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadInFileOrder)->Unit(benchmark::kMillisecond);

// The sorter alone: a million entries of `rings` rings, in rounds.
void BM_SortRounds(benchmark::State& state) {
  const int rings = static_cast<int>(state.range(0));
  for (auto _ : state) {
    RoundSorter sorter;
    uint64_t sum = 0;
    const auto visit = [&sum](const RoundSorter::Entry& entry) { sum += entry.time; };
    for (int start = 0; start < kSamples; start += kSamplesPerRound) {
      for (int ring = 0; ring < rings; ++ring) {
        for (int i = ring; i < kSamplesPerRound; i += rings) sorter.Add(start + i + 1, nullptr);
      }
      sorter.EndRound(visit);
    }
    sorter.Flush(visit);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kSamples);
}
BENCHMARK(BM_SortRounds)->Arg(2)->Arg(16)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::perf_data
