// Measures the recorder's cost per byte and per record, without the kernel: passes over full rings.

#include <benchmark/benchmark.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "ringbuf/drain_loop.h"
#include "ringbuf/record_cursor.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::ringbuf {
namespace {

constexpr size_t kRingSize = 512 * 1024;

// A ring that is as full as possible; its records wrap around the end.
struct FullRing {
  explicit FullRing(size_t record_size) : ring(kRingSize, kRingSize / 2 + 8) {
    const std::vector<std::byte> record = MakeRecord(9, record_size - 8);
    while (ring.Publish(record)) ++records;
  }
  FakeRing ring;
  size_t records = 0;
};

void SetRates(benchmark::State& state, size_t records, size_t bytes) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * records));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

// A sample has 64 bytes without a call chain, 256 with 24 frames, and 8 KiB with a copied stack.
void WalkFullRing(benchmark::State& state) {
  FullRing full(state.range(0));
  auto bounce = std::make_unique<BounceBuffer>();
  const RingBytes bytes = full.ring.view().Peek();
  for (auto _ : state) {
    uint64_t samples = 0;
    RecordCursor cursor(bytes, *bounce);
    while (auto record = cursor.Next()) samples += record->type() == 9;
    benchmark::DoNotOptimize(samples);
  }
  SetRates(state, full.records, bytes.size());
}
BENCHMARK(WalkFullRing)->Arg(64)->Arg(256)->Arg(8192);

// Times Peek, the walk and Consume, but not the publishing.
void PassOverFullRings(benchmark::State& state) {
  FakeKernel kernel;
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  EventSetOptions options;
  options.attrs = {attr};
  options.cpus = {0, 1};
  auto events = EventSet::Create(kernel, options).value();
  if (!events->AddThread(1).ok()) return state.SkipWithError("no events");

  boost::asio::io_context io;
  auto bounce = std::make_unique<BounceBuffer>();
  size_t records = 0;
  size_t bytes = 0;
  auto loop = DrainLoop::Create(io, *events, {}, [&](std::span<const RingPass> rings) {
                for (const RingPass& ring : rings) {
                  RecordCursor cursor(ring.bytes, *bounce);
                  while (cursor.Next()) ++records;
                  bytes += ring.bytes.size();
                }
                return absl::OkStatus();
              }).value();
  const std::vector<std::byte> record = MakeRecord(9, static_cast<size_t>(state.range(0)) - 8);
  for (auto _ : state) {
    state.PauseTiming();
    for (int cpu : {0, 1}) {
      while (kernel.PublishQuietly(cpu, record)) {
      }
    }
    state.ResumeTiming();
    if (!loop->PassNow().ok()) state.SkipWithError("pass failed");
  }
  state.SetItemsProcessed(static_cast<int64_t>(records));
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(PassOverFullRings)->Arg(64)->Arg(256)->Arg(8192);

void PassOverEmptyRing(benchmark::State& state) {
  FakeRing ring(kRingSize);
  for (auto _ : state) benchmark::DoNotOptimize(ring.view().Peek().size());
}
BENCHMARK(PassOverEmptyRing);

}  // namespace
}  // namespace profiler::ringbuf
