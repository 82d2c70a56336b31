#include "src/views/report/options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::report {
namespace {

constexpr std::pair<std::string_view, CallGraphType> kTypes[] = {
    {"graph", CallGraphType::kGraph},
    {"flat", CallGraphType::kFlat},
    {"fractal", CallGraphType::kFractal},
    {"folded", CallGraphType::kFolded},
    {"none", CallGraphType::kNone}};
constexpr std::pair<std::string_view, ChainOrder> kOrders[] = {{"caller", ChainOrder::kCaller},
                                                               {"callee", ChainOrder::kCallee}};
constexpr std::pair<std::string_view, ChainValue> kValues[] = {{"percent", ChainValue::kPercent},
                                                               {"period", ChainValue::kPeriod},
                                                               {"count", ChainValue::kCount}};

// Sets the option that `word` names. Returns false if the word is unknown.
bool ApplyWord(std::string_view word, CallGraphOptions& options) {
  const auto sets = [word](const auto& words, auto& value) {
    const auto found = std::find_if(std::begin(words), std::end(words),
                                    [word](const auto& known) { return known.first == word; });
    if (found == std::end(words)) return false;
    value = found->second;
    return true;
  };
  return sets(kTypes, options.type) || sets(kOrders, options.order) ||
         sets(kValues, options.value) ||
         word == "function";  // the only key that chains are compared by
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  return absl::StrSplit(View(text), ',', absl::SkipEmpty());
}

}  // namespace

bool ReportOptions::ShowsFigures() const {
  return show_intervals || std::any_of(fields.fields.begin(), fields.fields.end(), IsFigure) ||
         std::any_of(sort_fields.begin(), sort_fields.end(), IsFigure);
}

absl::StatusOr<CallGraphOptions> ParseCallGraph(std::string_view text) {
  CallGraphOptions options;
  int numbers = 0;
  for (const std::string& word : SplitAtCommas(text)) {
    if (ApplyWord(word, options)) continue;
    double threshold = 0;
    if (numbers == 0 && absl::SimpleAtod(word, &threshold) && threshold >= 0 && threshold <= 100) {
      options.threshold = threshold;
      numbers = 1;
      continue;
    }
    uint64_t limit = 0;
    if (numbers == 1 && absl::SimpleAtoi(word, &limit)) {
      options.print_limit = limit;
      numbers = 2;
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("call graph: cannot read '", word,
                                                   "': use graph, flat, fractal, folded or none, a "
                                                   "threshold from 0 to 100, caller or callee"));
  }
  return options;
}

}  // namespace profiler::report
