#include "src/report/options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::report {
namespace {

struct SortKeyText {
  SortKey key;
  std::string_view name;
  std::string_view heading;
};
constexpr SortKeyText kSortKeys[] = {
    {SortKey::kPid, "pid", "    Pid:Command"},
    {SortKey::kTid, "tid", "    Tid:Command"},
    {SortKey::kTgid, "tgid", "   Tgid:Command"},
    {SortKey::kComm, "comm", "Command"},
    {SortKey::kDso, "dso", "Shared Object"},
    {SortKey::kSymbol, "symbol", "Symbol"},
    {SortKey::kSymbol, "sym", "Symbol"},
    {SortKey::kCpu, "cpu", "CPU"},
    {SortKey::kParallelism, "parallelism", "Parallelism"},
    {SortKey::kSrcline, "srcline", "Source:Line"},
    {SortKey::kSrcfile, "srcfile", "Source File"},
    {SortKey::kSymoff, "symoff", "Symbol Offset"},
    {SortKey::kSymbolFrom, "symbol_from", "Source Symbol"},
    {SortKey::kSymbolTo, "symbol_to", "Target Symbol"},
    {SortKey::kDsoFrom, "dso_from", "Source Shared Object"},
    {SortKey::kDsoTo, "dso_to", "Target Shared Object"},
    {SortKey::kMispredict, "mispredict", "Branch Mispredicted"},
    {SortKey::kCycles, "cycles", "Basic Block Cycles"},
};

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

// Sets what `word` stands for; false where it is no word that we know.
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

std::string_view Heading(SortKey key) {
  return std::find_if(std::begin(kSortKeys), std::end(kSortKeys),
                      [key](const SortKeyText& text) { return text.key == key; })
      ->heading;
}

absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text) {
  std::vector<SortKey> keys;
  for (const std::string& name : SplitAtCommas(text)) {
    const auto known = std::find_if(std::begin(kSortKeys), std::end(kSortKeys),
                                    [&](const SortKeyText& text) { return text.name == name; });
    if (known == std::end(kSortKeys)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown sort key '", name,
          "': use pid, tid, tgid, comm, dso, symbol, srcline, srcfile, symoff, cpu or parallelism, "
          "and of branches symbol_from, symbol_to, dso_from, dso_to, mispredict or cycles"));
    }
    keys.push_back(known->key);
  }
  if (keys.empty()) return absl::InvalidArgumentError("no sort key");
  return keys;
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
