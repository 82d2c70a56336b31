// How differently two words are spelt: for "did you mean …?".

#pragma once

#include <cstddef>
#include <string_view>

namespace profiler {

// The fewest letters to insert, remove or replace, or neighbours to swap, that make one word of the
// other (the optimal string alignment distance). Cost: the product of their lengths.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace profiler
