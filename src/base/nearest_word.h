// Finds the word that a user probably meant, for "did you mean …?".

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profiler {

// Returns the word of `known` that the user probably meant by `word`: a word that begins with
// `word`, a word with which `word` begins, or else the word that needs the fewest edits. Returns "" if each word needs more than one
// edit per three letters of the shorter word, or more than three edits.
std::string NearestWord(std::string_view word, const std::vector<std::string>& known);

// Returns "; did you mean 'WORD'?" for the nearest word; "" if no word is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace profiler
