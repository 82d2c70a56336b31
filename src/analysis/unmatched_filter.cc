#include "src/analysis/unmatched_filter.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"

namespace profiler::analysis {
namespace {

using profile::Frame;
using profile::Profile;
using profile::Row;

constexpr size_t kMostValues = 8;

// One list of a filter.
struct Criterion {
  std::string_view noun;
  Filter filter;                    // a filter with only this list
  std::vector<std::string> wanted;  // the values that the user named, quoted
  std::function<std::vector<std::string>(const Row&)> values;  // values of a row
};

template <class T>
std::vector<std::string> Texts(const std::vector<T>& list) {
  std::vector<std::string> texts;
  for (const T& value : list) {
    if constexpr (std::is_integral_v<T>) {
      texts.push_back(absl::StrCat(value));
    } else {
      texts.push_back(absl::StrCat("'", value, "'"));
    }
  }
  return texts;
}

// Returns the function at a frame and the functions that are inlined there, each once.
std::vector<std::string> SymbolsOf(const Profile& profile, const Frame& frame) {
  std::vector<std::string> names;
  for (const profile::Line& line : profile.LinesOf(frame)) {
    if (line.symbol == profile::kNoSymbol) continue;
    std::string name(profile.text(profile[line.symbol].name));
    if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
  }
  return names;
}

std::vector<Criterion> CriteriaOf(const Profile& profile, const Filter& filter) {
  using Values = std::vector<std::string>;
  std::vector<Criterion> criteria;
  const auto thread = [&profile](const Row& row) { return profile[row.thread]; };
  if (!filter.comms.empty()) {
    criteria.push_back({"command",
                        {.comms = filter.comms},
                        Texts(filter.comms),
                        [&profile, thread](const Row& row) {
                          return Values{std::string(profile.text(thread(row).comm))};
                        }});
  }
  if (!filter.images.empty()) {
    criteria.push_back(
        {"image", {.images = filter.images}, Texts(filter.images), [&profile](const Row& row) {
           return Values{std::string(profile.text(profile[profile[row.self].image].name))};
         }});
  }
  if (!filter.symbols.empty()) {
    criteria.push_back(
        {"symbol", {.symbols = filter.symbols}, Texts(filter.symbols), [&profile](const Row& row) {
           return SymbolsOf(profile, profile[row.self]);
         }});
  }
  if (!filter.pids.empty()) {
    criteria.push_back(
        {"process", {.pids = filter.pids}, Texts(filter.pids), [thread](const Row& row) {
           return Values{absl::StrCat(thread(row).pid)};
         }});
  }
  if (!filter.tids.empty()) {
    criteria.push_back(
        {"thread", {.tids = filter.tids}, Texts(filter.tids), [thread](const Row& row) {
           return Values{absl::StrCat(thread(row).tid)};
         }});
  }
  return criteria;
}

bool AnyPasses(const Profile& profile, const Filter& filter) {
  const RowFilter rows(profile, filter);
  return std::any_of(profile.rows.begin(), profile.rows.end(),
                     [&](const Row& row) { return row.count != 0 && rows.Passes(row); });
}

// Returns the values as text, the heaviest values first.
std::string ValuesOf(const Profile& profile, const Criterion& criterion) {
  absl::flat_hash_map<std::string, uint64_t> counts;
  for (const Row& row : profile.rows) {
    for (std::string& value : criterion.values(row)) {
      if (!value.empty()) counts[std::move(value)] += row.count;
    }
  }
  std::vector<std::pair<std::string, uint64_t>> values(counts.begin(), counts.end());
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const size_t shown = std::min(values.size(), kMostValues);
  std::string text =
      absl::StrJoin(values.begin(), values.begin() + static_cast<ptrdiff_t>(shown), ", ",
                    [](std::string* out, const auto& value) { out->append(value.first); });
  if (shown < values.size()) absl::StrAppend(&text, " and ", values.size() - shown, " more");
  return text;
}

}  // namespace

std::optional<std::string> WhyNothingPasses(const Profile& profile, const Filter& filter) {
  if (filter.empty()) return std::nullopt;
  uint64_t samples = 0;
  for (const Row& row : profile.rows) samples += row.count;
  if (samples == 0 || AnyPasses(profile, filter)) return std::nullopt;
  const std::string none =
      absl::StrCat("none of ", samples, samples == 1 ? " sample has " : " samples has ");
  const std::vector<Criterion> criteria = CriteriaOf(profile, filter);
  std::vector<std::string> wanted;
  for (const Criterion& criterion : criteria) {
    wanted.push_back(
        absl::StrCat(View(criterion.noun), " ", absl::StrJoin(criterion.wanted, " or ")));
    if (AnyPasses(profile, criterion.filter)) continue;
    const std::string values = ValuesOf(profile, criterion);
    return absl::StrCat(none, wanted.back(),
                        values.empty() ? "; none has any" : absl::StrCat("; there are: ", values));
  }
  return absl::StrCat(none, absl::StrJoin(wanted, " and "), " at once");
}

}  // namespace profiler::analysis
