#include "src/base/nearest_word.h"

#include <algorithm>
#include <cstddef>

#include "src/base/edit_distance.h"

namespace profiler {

std::string NearestWord(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64, kFarthest = 3, kShortestBeginning = 3;
  constexpr size_t kLettersPerEdit = 3, kShortestWhole = 4;
  if (word.size() > kLongest) return "";
  std::string nearest;
  size_t least = kFarthest + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() >= kShortestBeginning && candidate.starts_with(word);
    const bool goes_on = candidate.size() >= kShortestWhole && word.starts_with(candidate);
    const size_t distance =
        begins ? 0 : (goes_on ? 1 : EditDistance(word, candidate, Swapped::kOneEdit));
    const size_t farthest = std::min(word.size(), candidate.size()) / kLettersPerEdit;
    if (distance < least && (begins || distance <= farthest)) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace profiler
