// Where the functions of a JIT's dump ran, as far as samples tell.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::annotate {

// Cost: a pass over the profile's addresses. The profile must outlive it.
class GeneratedCode {
 public:
  GeneratedCode(const profile::Profile& profile, profile::DsoId dso);

  // Its start; the lowest one where it was moved.
  std::optional<uint64_t> StartOf(profile::SymbolId function) const;

  // "name" or "name+0x10" of the function there that was on a stack. Nothing where there was none,
  // or several in turn.
  std::string NameAt(uint64_t address) const;

 private:
  struct Loaded {
    uint64_t start = 0;
    profile::SymbolId function{};
    auto operator<=>(const Loaded&) const = default;
  };

  const profile::Profile& profile_;
  std::vector<Loaded> loaded_;  // by start, distinct
  uint64_t longest_ = 0;        // of them
};

}  // namespace profiler::annotate
