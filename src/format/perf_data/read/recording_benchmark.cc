// Measures reading recordings, with the page faults of a file in the page cache.
//
// - A million call-chain samples are visited without decoding, in the order of the file, in time
//   order, and in time order without round markers (two rings, rounds of 100 ms at 25 kHz, 200
//   bytes per record).
// - Every record is visited and decoded, in this machine's byte order and in the other one. Targets
//   on one CPU: 2 GB/s of stack dumps, and 15 million call chains per second. The other byte order
//   may take three times as long.
// - Stack dumps are also measured with each of their words read, as an unwinder may do. In this
//   machine's byte order, decoding reads none of these words.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <bit>
#include <span>
#include <string>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/read/round_sorter.h"
#include "src/format/perf_data/testing/recording_builder.h"

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

// Returns samples with 8 KiB of user stack and the registers of x86-64, as --call-graph dwarf
// records them.
perf_event::RecordBuilder StackDumps() {
  perf_event::Attr attr = UsualAttr();
  attr.sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
  attr.sample_regs_user = 0xff0fff;
  perf_event::RecordBuilder records(attr);
  const std::vector<std::byte> stack(8192, std::byte{0x5a});
  const std::vector<uint64_t> registers(std::popcount(attr.sample_regs_user), 0x7fff12345678);
  perf_event::Sample sample;
  sample.user_regs = {perf_event::kRegsAbi64, attr.sample_regs_user,
                      std::as_bytes(std::span(registers))};
  sample.user_stack = stack;
  sample.user_stack_size = stack.size();
  for (int i = 0; i < 30'000; ++i) {
    sample.time = 1'000'000 + 40'000 * i;
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
  }
  return records;
}

perf_event::RecordBuilder Callchains() {
  perf_event::RecordBuilder records(UsualAttr());
  const std::vector<uint64_t> chain(16, 0x1234);
  for (int i = 0; i < kSamples; ++i) records.At(1'000'000 + uint64_t{40'000} * i).Sample(1, chain);
  return records;
}

uint64_t SumOf(perf_event::U64Array words) {
  uint64_t sum = 0;
  for (size_t i = 0; i < words.size(); ++i) sum += words[i];
  return sum;
}

void Decode(benchmark::State& state, const perf_event::RecordBuilder& records, bool other_order,
            bool read_stacks = false) {
  const std::string path = "/tmp/profiler_decode_benchmark." + std::to_string(getpid());
  if (other_order) {
    WriteFile(path, FileInOtherOrder(records));
  } else {
    auto writer = Writer::Create(path, {{records.attr(), "cpu-clock", {}}}, 0);
    const std::span<const std::byte> pieces[] = {records.bytes()};
    if (!(*writer)->Append(pieces).ok() || !(*writer)->Finish({}).ok()) abort();
  }
  uint64_t bytes = 0, samples = 0;
  perf_event::Sample sample;
  for (auto _ : state) {
    auto recording = Recording::Open(path);
    const perf_event::RecordLayout layout = (*recording)->events().front().layout;
    const absl::Status status =
        (*recording)->ForEach(Recording::Order::kFile, [&](const TimedRecord& record) {
          bytes += record.record.size();
          samples += perf_event::Decode(record.record, layout, &sample);
          benchmark::DoNotOptimize(sample);
          if (read_stacks) {
            benchmark::DoNotOptimize(SumOf(perf_event::U64Array(sample.user_stack)));
          }
        });
    if (!status.ok()) state.SkipWithError("cannot read");
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.SetItemsProcessed(static_cast<int64_t>(samples));
  unlink(path.c_str());
}

void BM_DecodeStackDumps(benchmark::State& state) {
  Decode(state, StackDumps(), state.range(0) != 0);
}
void BM_DecodeAndReadStackDumps(benchmark::State& state) {
  Decode(state, StackDumps(), state.range(0) != 0, true);
}
void BM_DecodeCallchains(benchmark::State& state) {
  Decode(state, Callchains(), state.range(0) != 0);
}
BENCHMARK(BM_DecodeStackDumps)
    ->ArgName("other_order")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DecodeAndReadStackDumps)
    ->ArgName("other_order")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DecodeCallchains)
    ->ArgName("other_order")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

// Measures only the sorter: a million entries of `rings` rings, in rounds.
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
