#include "src/report/options.h"

#include <charconv>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace profiler::report {
namespace {

// The pieces of `text` between commas; empty ones are dropped.
std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view piece = text.substr(0, comma);
    if (!piece.empty()) pieces.push_back(piece);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return pieces;
}

absl::string_view Quotable(std::string_view text) { return {text.data(), text.size()}; }

std::optional<SortKey> SortKeyNamed(std::string_view name) {
  if (name == "pid") return SortKey::kPid;
  if (name == "tid") return SortKey::kTid;
  if (name == "tgid") return SortKey::kTgid;
  if (name == "comm") return SortKey::kComm;
  if (name == "dso") return SortKey::kDso;
  if (name == "sym" || name == "symbol") return SortKey::kSymbol;
  if (name == "cpu") return SortKey::kCpu;
  if (name == "srcline") return SortKey::kSrcline;
  if (name == "srcfile") return SortKey::kSrcfile;
  if (name == "symoff") return SortKey::kSymoff;
  if (name == "symbol_from") return SortKey::kSymbolFrom;
  if (name == "symbol_to") return SortKey::kSymbolTo;
  if (name == "dso_from") return SortKey::kDsoFrom;
  if (name == "dso_to") return SortKey::kDsoTo;
  if (name == "mispredict") return SortKey::kMispredict;
  if (name == "cycles") return SortKey::kCycles;
  return std::nullopt;
}

// Sets what `word` stands for; false where it is no word that we know.
bool ApplyWord(std::string_view word, CallGraphOptions& options) {
  if (word == "graph") {
    options.type = CallGraphType::kGraph;
  } else if (word == "flat") {
    options.type = CallGraphType::kFlat;
  } else if (word == "fractal") {
    options.type = CallGraphType::kFractal;
  } else if (word == "folded") {
    options.type = CallGraphType::kFolded;
  } else if (word == "none") {
    options.type = CallGraphType::kNone;
  } else if (word == "caller") {
    options.order = ChainOrder::kCaller;
  } else if (word == "callee") {
    options.order = ChainOrder::kCallee;
  } else if (word == "percent") {
    options.value = ChainValue::kPercent;
  } else if (word == "period") {
    options.value = ChainValue::kPeriod;
  } else if (word == "count") {
    options.value = ChainValue::kCount;
  } else {
    return word == "function";  // the only key that chains are compared by
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text) {
  std::vector<SortKey> keys;
  for (const std::string_view name : SplitAtCommas(text)) {
    const std::optional<SortKey> key = SortKeyNamed(name);
    if (!key) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown sort key '", Quotable(name),
          "': use pid, tid, tgid, comm, dso, symbol, srcline, srcfile, symoff or cpu, "
          "and of branches symbol_from, symbol_to, dso_from, dso_to, mispredict or cycles"));
    }
    keys.push_back(*key);
  }
  if (keys.empty()) return absl::InvalidArgumentError("no sort key");
  return keys;
}

absl::StatusOr<CallGraphOptions> ParseCallGraph(std::string_view text) {
  CallGraphOptions options;
  int numbers = 0;
  for (const std::string_view word : SplitAtCommas(text)) {
    if (ApplyWord(word, options)) continue;
    double threshold = 0;
    if (numbers == 0 && absl::SimpleAtod(Quotable(word), &threshold) && threshold >= 0 &&
        threshold <= 100) {
      options.threshold = threshold;
      numbers = 1;
      continue;
    }
    uint64_t limit = 0;
    if (numbers == 1 && absl::SimpleAtoi(Quotable(word), &limit)) {
      options.print_limit = limit;
      numbers = 2;
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("call graph: cannot read '", Quotable(word),
                                                   "': use graph, flat, fractal, folded or none, a "
                                                   "threshold from 0 to 100, caller or callee"));
  }
  return options;
}

}  // namespace profiler::report
