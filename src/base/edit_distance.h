// Computes how different two words are, for "did you mean …?".

#pragma once

#include <cstddef>
#include <string_view>

namespace profiler {

// The cost of swapping two neighbouring letters.
enum class Swapped { kTwoEdits, kOneEdit };

// Returns the fewest edits that turn one word into the other. An edit inserts, removes or replaces
// a letter. With kTwoEdits the result is the Levenshtein distance. With kOneEdit, swapping two
// neighbouring letters is one edit, too (optimal string alignment distance). Cost: the product of
// the lengths.
size_t EditDistance(std::string_view a, std::string_view b, Swapped swapped = Swapped::kTwoEdits);

}  // namespace profiler
