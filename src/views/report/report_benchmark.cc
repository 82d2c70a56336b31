// The report of a large recording: a million samples with 300 000 distinct stacks, 20 frames deep.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/report/options.h"
#include "src/views/report/report.h"
#include "src/views/script/script_formatter.h"

namespace profiler::report {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::ImageId;
using profile::kNoStack;
using profile::Profile;
using profile::StackId;
using profile::SymbolId;
using profile::ThreadId;

constexpr size_t kFunctions = 20'000;
constexpr size_t kAddressesPerFunction = 4;
constexpr size_t kComms = 3;
constexpr uint32_t kDepth = 20;

// A compiler at work: from few functions near the root to many at the leaves, some much hotter than
// others. A caller calls few functions, from few places.
class Generator {
 public:
  Generator(size_t samples, size_t stacks) {
    AddNames();
    std::vector<StackId> leaves;
    leaves.reserve(stacks);
    for (size_t i = 0; i < stacks; ++i) leaves.push_back(RandomStack());
    std::vector<uint64_t> hits(stacks, 1);
    for (size_t i = stacks; i < samples; ++i) ++hits[Skewed(stacks)];
    for (size_t i = 0; i < stacks; ++i) {
      const StackId stack = leaves[i];
      profile_.rows.push_back({.event = EventId{},
                               .thread = ThreadId{static_cast<uint32_t>(stack) % uint32_t{kComms}},
                               .self = profile_[stack].frame,
                               .stack = stack,
                               .count = hits[i],
                               .period = hits[i] * 1'000'000});
    }
    profile_.events.push_back({.name = profile_.strings.Intern("cpu-clock"), .samples = samples});
  }

  Profile Take() { return std::move(profile_); }

 private:
  void AddNames() {
    for (size_t i = 0; i < kComms; ++i) {
      const auto id = static_cast<uint32_t>(i + 1);
      profile_.threads.push_back({id, id, profile_.strings.Intern("cc" + std::to_string(i))});
    }
    for (size_t i = 0; i < 8; ++i) {
      profile_.images.push_back({.name = profile_.strings.Intern("lib" + std::to_string(i) + ".so"),
                                 .kind = symbolize::ImageKind::kUser});
    }
    for (uint32_t i = 0; i < kFunctions; ++i) {
      const ImageId image{i % 8};
      profile_.symbols.push_back(
          {.name = profile_.strings.Intern("namespace::function_" + std::to_string(i) + "(int)"),
           .image = image,
           .start = {uint64_t{i} << 12},
           .size = 4096});
      profile_.lines.push_back({.symbol = SymbolId{i}});
      for (uint64_t k = 0; k < kAddressesPerFunction; ++k) {
        profile_.frames.push_back({.place = FileOffset{(uint64_t{i} << 12) + 16 * k},
                                   .mode = profile::Mode::kUser,
                                   .image = image,
                                   .ip = {(uint64_t{i} << 12) + 16 * k},
                                   .first_line = i,
                                   .line_count = 1});
      }
    }
  }

  // Small numbers are much likelier than large ones.
  size_t Skewed(size_t end) {
    const double uniform = std::uniform_real_distribution<>(0, 1)(random_);
    return static_cast<size_t>(static_cast<double>(end) * uniform * uniform * uniform);
  }

  StackId RandomStack() {
    StackId stack = kNoStack;
    uint64_t caller = 0;
    for (uint32_t depth = 1; depth <= kDepth; ++depth) {
      // Functions between the main loop and the leaves vary most.
      const size_t callees = depth % 3 == 0 ? 3 + depth / 2 : 1 + depth / 8;
      const uint64_t call = Skewed(callees);
      // The callee depends on caller, depth and call site.
      const uint64_t mixed = (caller * 31 + call * 7 + depth / 3 + 1) * 0x9e3779b97f4a7c15u;
      const size_t reachable = std::min<size_t>(kFunctions, size_t{1} << std::min(depth, 15u));
      caller = (mixed >> 32) % reachable;
      const auto frame = static_cast<uint32_t>(caller * kAddressesPerFunction +
                                               (call == 0 ? 0 : mixed % kAddressesPerFunction));
      stack = Push(stack, FrameId{frame}, depth);
    }
    return stack;
  }

  StackId Push(StackId parent, FrameId frame, uint32_t depth) {
    const uint64_t key =
        (uint64_t{static_cast<uint32_t>(parent)} << 32) | static_cast<uint32_t>(frame);
    const auto [it, is_new] =
        stacks_.try_emplace(key, StackId{static_cast<uint32_t>(profile_.stacks.size())});
    if (is_new) profile_.stacks.push_back({.parent = parent, .frame = frame, .depth = depth});
    return it->second;
  }

  std::mt19937_64 random_{42};
  Profile profile_;
  std::unordered_map<uint64_t, StackId> stacks_;
};

const Profile& LargeProfile(size_t samples) {
  static std::unordered_map<size_t, Profile> profiles;
  const auto it = profiles.find(samples);
  if (it != profiles.end()) return it->second;
  return profiles.emplace(samples, Generator(samples, samples * 3 / 10).Take()).first->second;
}

void Report(benchmark::State& state, const ReportOptions& options) {
  const Profile& profile = LargeProfile(static_cast<size_t>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    WriteReport(profile, options, [&](std::string_view text) { bytes += text.size(); });
  }
  state.counters["stacks"] = static_cast<double>(profile.stacks.size());
  state.counters["text"] = static_cast<double>(bytes);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_Children(benchmark::State& state) { Report(state, {}); }
void BM_SelfWithCallers(benchmark::State& state) { Report(state, {.children = false}); }
void BM_ChildrenWithCallers(benchmark::State& state) {
  Report(state, {.call_graph = {.order = ChainOrder::kCallee}});
}
void BM_Flat(benchmark::State& state) {
  Report(state, {.children = false, .call_graph = {.type = CallGraphType::kNone}});
}
void BM_Fractal(benchmark::State& state) {
  Report(state, {.call_graph = {.type = CallGraphType::kFractal}, .percent_limit = 0.5});
}

void BM_Script(benchmark::State& state) {
  const Profile& profile = LargeProfile(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    size_t bytes = 0;
    script::ScriptFormatter formatter(profile, {});
    std::string text;
    for (const profile::Row& row : profile.rows) {
      text.clear();
      formatter.FormatSample({row}, {}, &text);
      bytes += text.size();
    }
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(BM_Children)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SelfWithCallers)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ChildrenWithCallers)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Flat)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Fractal)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Script)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::report
