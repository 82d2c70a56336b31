#include "src/base/nearest_word.h"

#include <algorithm>
#include <cstddef>

#include "src/base/edit_distance.h"

namespace profiler {

std::string NearestWord(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64, kFarthest = 3, kShortestBeginning = 3;
  if (word.size() > kLongest) return "";
  std::string nearest;
  size_t least = std::min(kFarthest, word.size() / 2) + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() >= kShortestBeginning && candidate.starts_with(word);
    const size_t distance = begins ? 0 : EditDistance(word, candidate, Swapped::kOneEdit);
    if (distance < least) {
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
