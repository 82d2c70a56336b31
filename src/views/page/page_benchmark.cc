// Measures the page of a million samples, all different in thread, time and stack.

#include <string>

#include "benchmark/benchmark.h"
#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/page/call_paths.h"
#include "src/views/page/page.h"
#include "src/views/page/testing/many_samples.h"

namespace profiler::page {
namespace {

const profile::Profile& MillionSamples() {
  static const exports::ProfileForTest* const test = [] {
    auto* made = new exports::ProfileForTest;
    AddManySamples(kMillionSamples, *made);
    return made;
  }();
  return test->profile();
}

void FindPaths(benchmark::State& state) {
  const Side side{.profile = &MillionSamples(), .name = "a"};
  for (auto _ : state) benchmark::DoNotOptimize(FindCallPaths({&side, 1}));
}
BENCHMARK(FindPaths)->Unit(benchmark::kMillisecond);

void MakePage(benchmark::State& state) {
  const Side side{.profile = &MillionSamples(), .name = "a"};
  size_t bytes = 0;
  for (auto _ : state) bytes = Page({&side, 1}).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(MakePage)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::page

BENCHMARK_MAIN();
