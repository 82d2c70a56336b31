// Finds the addresses at which functions of a JIT's dump ran, from the frames of a profile.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::annotate {

// The functions of a dump that were on a stack. Refers to the profile, which must outlive this
// object. Cost: a pass over the profile's frames.
class GeneratedCode {
 public:
  GeneratedCode(const profile::Profile& profile, profile::ImageId image);

  // Returns the function's start; the lowest one if the function was moved. Returns nothing if the
  // function was on no stack.
  std::optional<uint64_t> StartOf(profile::SymbolId function) const;

  // Returns "name" or "name+0x10" for the function at an address. Empty if no function, or several
  // in turn, ran there.
  std::string NameAt(uint64_t address) const;

 private:
  struct Loaded {
    uint64_t start = 0;
    profile::SymbolId function{};
    auto operator<=>(const Loaded&) const = default;
  };

  const profile::Profile& profile_;
  std::vector<Loaded> loaded_;  // sorted by start, without duplicates
  uint64_t longest_ = 0;        // size of the longest function
};

}  // namespace profiler::annotate
