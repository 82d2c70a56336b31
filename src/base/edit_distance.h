// How differently two words are spelt: for "did you mean …?".

#pragma once

#include <cstddef>
#include <string_view>

namespace profiler {

// What two letters cost that stand in each other's place.
enum class Swapped { kTwoEdits, kOneEdit };

// The fewest edits that make one word of the other. An edit inserts, removes or replaces a letter,
// and swaps two neighbours where `swapped` says so (the optimal string alignment distance; without
// swaps the Levenshtein distance). Cost: the product of their lengths.
size_t EditDistance(std::string_view a, std::string_view b, Swapped swapped = Swapped::kTwoEdits);

}  // namespace profiler
