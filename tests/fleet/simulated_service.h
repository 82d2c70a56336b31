// Simulates one program of a fleet: its functions, their call stacks, and the weight of each stack.
//
//   functions   a few thousand, some of them in the kernel
//   stacks      some ten thousand, 20 to 40 frames deep; each branches off an earlier stack at some
//               depth, so they form a tree, like those of real programs
//   weights     Zipf's law: the weight of stack i is proportional to 1 / (i + 1)

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fleet/seeded_random.h"

namespace profiler::fleet {

struct SimulatedFunction {
  std::string name, image;
};

// A simulated program. Its const functions are thread-safe.
class SimulatedService {
 public:
  SimulatedService(std::string name, uint32_t stacks, uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<SimulatedFunction>& functions() const { return functions_; }
  // Returns the functions in stack `number` as indices in functions(), outermost first.
  const std::vector<uint32_t>& stack(uint32_t number) const { return stacks_[number]; }

  // Returns the number of a random stack, chosen by weight. Takes constant time.
  uint32_t AnyStack(SeededRandom& random) const;

  // Returns the numbers of the stacks whose leaf function has this name.
  std::vector<uint32_t> StacksIn(std::string_view function) const;
  // Returns the share of the service's time that these stacks have.
  double ShareOf(const std::vector<uint32_t>& stacks) const;

 private:
  void MakeFunctions(SeededRandom& random);
  void MakeStacks(uint32_t number, SeededRandom& random);
  void MakeLots();
  uint32_t AnyFunction(SeededRandom& random) const;

  std::string name_;
  std::vector<SimulatedFunction> functions_;  // kernel functions come last
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<double> weights_;  // [stack number]; the weights' sum is 1
  // A. Walker's alias method: lot i means stack i with probability chances_[i], else stack
  // aliases_[i].
  std::vector<double> chances_;
  std::vector<uint32_t> aliases_;
};

}  // namespace profiler::fleet
