// Measures views of a profile of 300,000 distinct stacks, 30 frames deep, of which many share
// names: the code of 64 processes.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "benchmark/benchmark.h"
#include "src/views/flamegraph/flame_graph.h"
#include "src/views/flamegraph/folded.h"

namespace profiler::exports {
namespace {

using namespace profile;  // NOLINT: builds its types

class Random {
 public:
  uint32_t Below(uint32_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<uint32_t>((state_ >> 33) % limit);
  }

 private:
  uint64_t state_ = 42;
};

constexpr uint32_t kStacks = 300'000, kSymbols = 20'000, kFrames = 100'000, kDepth = 30;

Profile Generate() {
  Profile profile;
  Random random;
  profile.events.push_back({profile.strings.Intern("cpu-clock"), kStacks, kStacks, true});
  profile.images.push_back({profile.strings.Intern("app"),
                            profile.strings.Intern("/usr/bin/app"),
                            symbolize::ImageKind::kUser,
                            {}});
  for (uint32_t i = 0; i < 8; ++i) {
    profile.threads.push_back({i, i, profile.strings.Intern("process" + std::to_string(i))});
  }
  for (uint32_t i = 0; i < kSymbols; ++i) {
    const std::string name = "name::space::Class<int>::function" + std::to_string(i) + "(int)";
    profile.symbols.push_back({profile.strings.Intern(name), ImageId{0}, {}, 64});
  }
  for (uint32_t i = 0; i < kFrames; ++i) {
    profile.lines.push_back({SymbolId{random.Below(kSymbols)}, false, {}, 0});
    profile.frames.push_back({.unnamed = Unnamed::kNamed, .first_line = i, .line_count = 1});
  }
  std::unordered_map<uint64_t, uint32_t> interned;
  while (profile.rows.size() < kStacks) {
    uint32_t parent = 0xffffffff;
    // As in real programs, callers vary little near the root and much near the leaf.
    for (uint32_t depth = 1; depth <= kDepth; ++depth) {
      const uint32_t choices = depth < 20 ? 2 : 8;
      const uint32_t from = random.Below(4) == 0 ? random.Below(choices) : 0;
      const uint32_t frame = (depth * 2654435761U + from * 40503U + parent * 97U) % kFrames;
      const auto id = static_cast<uint32_t>(profile.stacks.size());
      auto [it, added] = interned.try_emplace(uint64_t{parent} << 32 | frame, id);
      if (added) profile.stacks.push_back({StackId{parent}, FrameId{frame}, depth});
      parent = it->second;
    }
    profile.rows.push_back({.thread = ThreadId{random.Below(8)},
                            .stack = StackId{parent},
                            .count = 3,
                            .period = 3'000'000});
  }
  return profile;
}

const Profile& Generated() {
  static const Profile profile = Generate();
  return profile;
}

void FoldedText(benchmark::State& state) {
  const Profile& profile = Generated();
  size_t bytes = 0;
  for (auto _ : state) {
    WriteFolded(profile, {}, [&](std::string_view lines) { bytes += lines.size(); });
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["stack nodes"] = static_cast<double>(profile.stacks.size());
}
BENCHMARK(FoldedText)->Unit(benchmark::kMillisecond);

void FlameGraph(benchmark::State& state) {
  const Profile& profile = Generated();
  size_t size = 0;
  for (auto _ : state) {
    size = FlameGraphSvg(profile, {.reverse = state.range(0) != 0}).size();
  }
  state.counters["bytes"] = static_cast<double>(size);
}
BENCHMARK(FlameGraph)->ArgName("reverse")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::exports

BENCHMARK_MAIN();
