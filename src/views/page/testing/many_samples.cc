#include "src/views/page/testing/many_samples.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace profiler::page {
namespace {

// Returns random paths through functions f0 … f(n−1).
std::vector<std::string> RandomStacks(std::mt19937& random, const ManySamples& many) {
  constexpr uint32_t kDepth = 30;
  std::vector<std::string> stacks;
  for (size_t i = 0; i < many.stacks; ++i) {
    // As in real programs, a stack shares its beginning with an earlier one.
    std::string stack = "_start main";
    if (!stacks.empty()) {
      const std::string& other = stacks[random() % stacks.size()];
      stack = other.substr(0, other.find(' ', other.size() / 2 + random() % (other.size() / 2)));
    }
    for (auto levels = static_cast<uint32_t>(std::count(stack.begin(), stack.end(), ' '));
         levels < kDepth; ++levels) {
      stack += " f" + std::to_string(random() % many.functions);
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

}  // namespace

void AddManySamples(const ManySamples& many, exports::ProfileForTest& test) {
  std::mt19937 random(1);
  profile::Profile& made = test.profile();
  const std::vector<std::string> all = RandomStacks(random, many);
  for (const std::string& stack : all) test.In(1, 0, kSlices).Add("worker", stack, 1);
  for (uint32_t tid = 2; tid <= many.threads; ++tid) {
    test.In(tid, random() % kSlices, kSlices).Add(tid % 3 == 0 ? "worker" : "helper", all[0], 1);
  }
  // As in real programs, a few stacks have most of the samples.
  std::geometric_distribution<size_t> choose(12.0 / static_cast<double>(many.stacks));
  while (made.rows.size() < many.samples) {
    profile::Row row = made.rows[choose(random) % many.stacks];
    row.thread = profile::ThreadId{static_cast<uint32_t>(random() % many.threads)};
    made.rows.push_back(row);
    made.column(profile::Dimension::kSlice).push_back(random() % kSlices);
    made.events[0].samples += row.count;
    made.events[0].period += row.period;
  }
}

}  // namespace profiler::page
