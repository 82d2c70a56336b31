// Names made coarser, so that rows of one thing become one row:
//
//   fold_templates = 0  std::vector<std::pair<int, X<int> > >::push_back(int)
//                       std::vector<...>::push_back(int)
//   fold_templates = 1  std::vector<std::pair<...> >::push_back(int)
//   strip_args          void ns::f<int>(int)::{lambda(int)#1}::operator()(int) const
//                       ns::f<int>::{lambda(int)#1}::operator()
//   merge_clones        f(int) [clone .cold], parse.part.0.isra.0
//                       f(int), parse
//
// Understands what demanglers print of C++ and Rust; leaves alone what it does not understand.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::query {

struct NameRules {
  // Levels of template arguments (or of Rust's generic ones) that are kept; unset: all.
  std::optional<uint32_t> fold_templates;
  bool merge_clones =
      false;                // without what a compiler appends to a function that it made of another
  bool strip_args = false;  // without parameters, qualifiers and return type

  bool any() const { return fold_templates || merge_clones || strip_args; }
};

// Linear in the name's length.
std::string SimplifiedName(std::string_view name, const NameRules& rules);

// Renames all symbols, and lets lines refer to one symbol where several of a DSO have come to one
// name: the first of them. Symbols that nothing refers to any more stay in the table.
void SimplifyNames(profile::Profile& profile, const NameRules& rules);

}  // namespace profiler::query
