// One program of a simulated fleet: its functions, the stacks that they form, and how often each
// stack is seen.
//
//   functions   a few thousand, in images; some of the kernel
//   stacks      some ten thousand, 20 to 40 frames deep: each leaves one that was there before at
//               some depth, so that they form a tree, as those of a program do
//   weights     Zipf's: stack i is seen as often as 1 / (i + 1)

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

// Reading is thread-safe.
class SimulatedService {
 public:
  SimulatedService(std::string name, uint32_t stacks, uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<SimulatedFunction>& functions() const { return functions_; }
  // Functions by number, the outermost first.
  const std::vector<uint32_t>& stack(uint32_t number) const { return stacks_[number]; }

  // A stack as it is met by chance. Constant time.
  uint32_t AnyStack(SeededRandom& random) const;

  // Those that end in a function of that name.
  std::vector<uint32_t> StacksIn(std::string_view function) const;
  // How much of the service's time they have.
  double ShareOf(const std::vector<uint32_t>& stacks) const;

 private:
  void MakeFunctions(SeededRandom& random);
  void MakeStacks(uint32_t number, SeededRandom& random);
  void MakeLots();
  uint32_t AnyFunction(SeededRandom& random) const;

  std::string name_;
  std::vector<SimulatedFunction> functions_;  // those of the kernel are the last
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<double> weights_;  // by stack; their sum is 1
  // A. Walker's alias method: lot i stands for stack i with its chance, else for its alias.
  std::vector<double> chances_;
  std::vector<uint32_t> aliases_;
};

}  // namespace profiler::fleet
