// Shortens names, so that rows of one function become one row:
//
//   fold_templates = 0  std::vector<std::pair<int, X<int> > >::push_back(int)
//                       std::vector<...>::push_back(int)
//   fold_templates = 1  std::vector<std::pair<...> >::push_back(int)
//   strip_args          void ns::f<int>(int)::{lambda(int)#1}::operator()(int) const
//                       ns::f<int>::{lambda(int)#1}::operator()
//   merge_clones        f(int) [clone .cold], parse.part.0.isra.0
//                       f(int), parse
//
// Understands the demangled names of C++ and Rust, and leaves all other names unchanged.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::analysis {

struct NameRules {
  // Levels of template arguments (or Rust's generic arguments) that are kept; unset: all.
  std::optional<uint32_t> fold_templates;
  bool merge_clones = false;  // True: drop the suffix of compiler-made clones.
  bool strip_args = false;    // True: drop parameters, qualifiers and return type.

  bool any() const { return fold_templates || merge_clones || strip_args; }
};

// Returns the shortened name. Linear in the name's length.
std::string SimplifiedName(std::string_view name, const NameRules& rules);

// Renames all symbols. If several symbols of an image get the same name, lines refer to the first
// of them. Unused symbols stay in the table.
void SimplifyNames(profile::Profile& profile, const NameRules& rules);

}  // namespace profiler::analysis
