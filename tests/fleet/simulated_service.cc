#include "tests/fleet/simulated_service.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::fleet {
namespace {

constexpr uint32_t kFunctions = 3000, kKernelFunctions = 400;
constexpr uint32_t kLeastDepth = 20, kMostDepthOfStack = 40;
constexpr std::array<const char*, 12> kVerbs = {"parse",  "encode", "find",  "update",
                                                "handle", "read",   "write", "compare",
                                                "resize", "merge",  "lock",  "hash"};
constexpr std::array<const char*, 12> kNouns = {"request", "header", "session", "index",
                                                "row",     "page",   "buffer",  "queue",
                                                "token",   "cache",  "message", "node"};

template <size_t n>
const char* AnyOf(const std::array<const char*, n>& words, SeededRandom& random) {
  return words[random.Below(n)];
}

}  // namespace

SimulatedService::SimulatedService(std::string name, uint32_t stacks, uint64_t seed)
    : name_(std::move(name)) {
  SeededRandom random(seed);
  MakeFunctions(random);
  MakeStacks(stacks, random);
  MakeLots();
}

void SimulatedService::MakeFunctions(SeededRandom& random) {
  functions_.push_back({"_start", name_});
  functions_.push_back({"__libc_start_main", "libc.so.6"});
  functions_.push_back({"main", name_});
  while (functions_.size() < kFunctions) {
    const size_t number = functions_.size();
    const std::string image =
        random.Below(4) == 0 ? absl::StrCat("lib", name_, random.Below(6), ".so") : name_;
    functions_.push_back(
        {absl::StrCat(name_, "::", AnyOf(kVerbs, random), "_", AnyOf(kNouns, random), "_", number),
         image});
  }
  for (uint32_t i = 0; i < kKernelFunctions; ++i) {
    functions_.push_back(
        {absl::StrCat(i == 0 ? "entry_SYSCALL_64_after_hwframe"
                             : absl::StrCat("__", kVerbs[i % kVerbs.size()], "_",
                                            kNouns[(i / kVerbs.size()) % kNouns.size()], "_", i)),
         "[kernel.kallsyms]"});
  }
}

// Returns a random function. A few functions are returned often and so have many callers; most
// functions have few callers.
uint32_t SimulatedService::AnyFunction(SeededRandom& random) const {
  const double share = random.Share();
  return 3 + static_cast<uint32_t>(share * share * share * (kFunctions - 3));
}

void SimulatedService::MakeStacks(uint32_t number, SeededRandom& random) {
  stacks_.reserve(number);
  while (stacks_.size() < number) {
    std::vector<uint32_t> stack = {0, 1, 2};
    if (!stacks_.empty()) {
      const auto& other = stacks_[random.Below(static_cast<uint32_t>(stacks_.size()))];
      const uint32_t kept = 3 + random.Below(static_cast<uint32_t>(other.size()) - 3);
      stack.assign(other.begin(), other.begin() + kept);
      // Removes kernel functions, because the kernel calls no function of the program.
      std::erase_if(stack, [](uint32_t function) { return function >= kFunctions; });
    }
    const size_t depth = kLeastDepth + random.Below(kMostDepthOfStack - kLeastDepth);
    const size_t in_kernel = random.Below(3) == 0 ? 2 + random.Below(4) : 0;
    while (stack.size() + in_kernel < depth) stack.push_back(AnyFunction(random));
    for (size_t i = 0; i < in_kernel; ++i) {
      stack.push_back(kFunctions + (i == 0 ? 0 : random.Below(kKernelFunctions)));
    }
    stacks_.push_back(std::move(stack));
  }
}

void SimulatedService::MakeLots() {
  const size_t size = stacks_.size();
  weights_.resize(size);
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += weights_[i] = 1 / (static_cast<double>(i) + 1);
  chances_.resize(size);
  aliases_.resize(size);
  std::vector<uint32_t> poor, rich;
  for (uint32_t i = 0; i < size; ++i) {
    weights_[i] /= sum;
    chances_[i] = weights_[i] * static_cast<double>(size);
    aliases_[i] = i;
    (chances_[i] < 1 ? poor : rich).push_back(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const uint32_t taker = poor.back(), giver = rich.back();
    poor.pop_back();
    aliases_[taker] = giver;
    chances_[giver] -= 1 - chances_[taker];
    if (chances_[giver] < 1) {
      rich.pop_back();
      poor.push_back(giver);
    }
  }
}

uint32_t SimulatedService::AnyStack(SeededRandom& random) const {
  const uint32_t lot = random.Below(static_cast<uint32_t>(stacks_.size()));
  return random.Share() < chances_[lot] ? lot : aliases_[lot];
}

std::vector<uint32_t> SimulatedService::StacksIn(std::string_view function) const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < stacks_.size(); ++i) {
    if (functions_[stacks_[i].back()].name == function) found.push_back(i);
  }
  return found;
}

double SimulatedService::ShareOf(const std::vector<uint32_t>& stacks) const {
  double share = 0;
  for (const uint32_t stack : stacks) share += weights_[stack];
  return share;
}

}  // namespace profiler::fleet
