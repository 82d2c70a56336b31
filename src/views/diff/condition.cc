#include "src/views/diff/condition.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::diff {
namespace {

bool Take(std::string_view word, std::string_view& text) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

bool Condition::IsMet(const Row& row) const {
  if (!row.significant) return false;
  double change = row.share.difference();
  if (relative) {
    // A function that did not exist before has grown beyond any percentage.
    if (row.share.before == 0) return grows;
    change /= row.share.before;
  }
  return grows ? change > bound : change < bound;
}

absl::StatusOr<Condition> ParseCondition(std::string_view whole) {
  std::string bare;
  for (const char c : whole) {
    if (c != ' ') bare += c;
  }
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("cannot read the condition '", View(whole),
                   "': write it as 'self > +2pt', 'total > +10%' or 'self < -1pt'"));
  std::string_view text = bare;
  Condition condition;
  if (Take("total", text)) {
    condition.weight = Weight::kTotal;
  } else if (!Take("self", text)) {
    return wrong;
  }
  condition.grows = Take(">", text);
  if (!condition.grows && !Take("<", text)) return wrong;
  if (text.ends_with("pt")) {
    text.remove_suffix(2);
  } else if (text.ends_with("%")) {
    text.remove_suffix(1);
    condition.relative = true;
  } else {
    return wrong;
  }
  if (!absl::SimpleAtod(View(text), &condition.bound)) return wrong;
  condition.bound /= 100;
  // Refuses "self > -2pt", because any significant row that has not shrunk would meet it.
  if ((condition.bound > 0) != condition.grows && condition.bound != 0) return wrong;
  return condition;
}

}  // namespace profiler::diff
