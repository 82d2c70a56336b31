#include "src/views/report/fields.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/nearest_word.h"
#include "src/base/text.h"

namespace profiler::report {
namespace {

struct WeightFieldText {
  WeightField field;
  std::string_view name;
};
constexpr WeightFieldText kWeightFields[] = {
    {WeightField::kChildren, "overhead_children"},
    {WeightField::kOverhead, "overhead"},
    {WeightField::kSys, "overhead_sys"},
    {WeightField::kUser, "overhead_us"},
    {WeightField::kGuestSys, "overhead_guest_sys"},
    {WeightField::kGuestUser, "overhead_guest_us"},
    {WeightField::kSamples, "sample"},
    {WeightField::kPeriod, "period"},
    {WeightField::kChildrenInterval, "overhead_children_ci"},
    {WeightField::kOverheadInterval, "overhead_ci"},
    {WeightField::kRank, "rank"},
};

std::optional<Field> FieldNamed(std::string_view name) {
  for (const SortKeyEntry& entry : kSortKeys) {
    if (entry.name == name || (!name.empty() && entry.other_name == name)) return entry.key;
  }
  for (const WeightFieldText& text : kWeightFields) {
    if (text.name == name) return text.field;
  }
  return std::nullopt;
}

bool Has(const std::vector<Field>& fields, const Field& field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

void AddOnce(const Field& field, std::vector<Field>& fields) {
  if (!Has(fields, field)) fields.push_back(field);
}

void AddOnce(const std::vector<Field>& added, std::vector<Field>& fields) {
  for (const Field& field : added) AddOnce(field, fields);
}

// Returns the default shares (children and overhead).
std::vector<Field> DefaultShares(const std::vector<Field>& sort, bool children) {
  constexpr WeightField kShares[] = {WeightField::kChildren, WeightField::kOverhead,
                                     WeightField::kSys,      WeightField::kUser,
                                     WeightField::kGuestSys, WeightField::kGuestUser};
  const bool any_named = std::any_of(std::begin(kShares), std::end(kShares),
                                     [&](WeightField share) { return Has(sort, share); });
  std::vector<Field> shares;
  if (children) shares.emplace_back(WeightField::kChildren);
  shares.emplace_back(WeightField::kOverhead);
  if (any_named) std::erase_if(shares, [&](const Field& share) { return !Has(sort, share); });
  return shares;
}

// Adds the interval after each share.
std::vector<Field> WithIntervals(const std::vector<Field>& fields) {
  std::vector<Field> all;
  for (const Field& field : fields) {
    AddOnce(field, all);
    if (field == Field(WeightField::kChildren)) AddOnce(WeightField::kChildrenInterval, all);
    if (field != Field(WeightField::kOverhead)) continue;
    AddOnce(WeightField::kOverheadInterval, all);
    AddOnce(WeightField::kRank, all);
  }
  return all;
}

// Returns the words that ParseFields knows.
std::string AllFields() {
  const auto keys = [](KeyGroup group) { return SortKeyNames(group, ", ", " or "); };
  return absl::StrCat(
      keys(KeyGroup::kSamples), ", of accesses to memory ", keys(KeyGroup::kAccesses),
      ", of branches ", keys(KeyGroup::kBranches),
      ", of tracepoints a FIELD, EVENT.FIELD or trace_fields, and of weights overhead, "
      "overhead_children, overhead_sys, overhead_us, overhead_guest_sys, overhead_guest_us, "
      "sample, "
      "period, overhead_ci, overhead_children_ci or rank");
}

// Returns the remedy for an unknown key: the nearest word, or all words.
std::string RemedyFor(std::string_view word) {
  std::vector<std::string> known;
  for (const SortKeyEntry& entry : kSortKeys) known.emplace_back(entry.name);
  for (const WeightFieldText& text : kWeightFields) known.emplace_back(text.name);
  const std::string nearest = DidYouMean(word, known);
  return nearest.empty() ? absl::StrCat(": use ", AllFields()) : nearest;
}

// Returns the index of a field in the list. Appends the field if it is new.
size_t NumberOf(const std::string& field, std::vector<std::string>& fields) {
  const auto known = std::find(fields.begin(), fields.end(), field);
  const auto number = static_cast<size_t>(known - fields.begin());
  if (known == fields.end()) fields.push_back(field);
  return number;
}

}  // namespace

absl::StatusOr<FieldList> ParseFields(std::string_view text, const TraceFieldsOf& trace_fields_of,
                                      std::vector<std::string>* trace_fields) {
  FieldList list;
  if (text.starts_with('+')) {
    list.is_added = true;
    text.remove_prefix(1);
  }
  for (const absl::string_view word : absl::StrSplit(View(text), ',', absl::SkipEmpty())) {
    const std::string_view name(word.data(), word.size());
    if (const auto field = FieldNamed(name)) {
      AddOnce(*field, list.fields);
      continue;
    }
    const auto of_tracepoints =
        trace_fields_of ? trace_fields_of(name) : std::vector<std::string>();
    if (of_tracepoints.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown sort key '", word, "'", RemedyFor(name)));
    }
    for (const std::string& field : of_tracepoints) {
      const size_t number = NumberOf(field, *trace_fields);
      if (number == profile::kMostTraceFields) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", word, "' makes more than ", profile::kMostTraceFields,
                         " columns of tracepoints: name fewer fields"));
      }
      AddOnce(TraceFieldKey(number), list.fields);
    }
  }
  if (list.fields.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no sort key: use ", AllFields()));
  }
  return list;
}

std::vector<SortKey> KeysOf(const std::vector<Field>& fields) {
  std::vector<SortKey> keys;
  for (const Field& field : fields) {
    if (const SortKey* key = std::get_if<SortKey>(&field)) keys.push_back(*key);
  }
  return keys;
}

FieldLayout LayOutFields(const FieldChoice& choice, bool children) {
  FieldLayout layout;
  const bool replaced = !choice.shown.fields.empty() && !choice.shown.is_added;
  if (!replaced) {
    layout.shown = DefaultShares(choice.sort, children);
    layout.order = layout.shown;
    // --sort decides the position of fields that it names.
    std::erase_if(layout.order, [&](const Field& field) { return Has(choice.sort, field); });
    layout.overhead_is_self = children;
    if (choice.cpu_utilization) {
      AddOnce(std::vector<Field>{WeightField::kSys, WeightField::kUser}, layout.shown);
    }
    if (choice.samples) AddOnce(WeightField::kSamples, layout.shown);
    if (choice.period) AddOnce(WeightField::kPeriod, layout.shown);
  }
  AddOnce(choice.shown.fields, layout.shown);
  for (const Field& field : choice.sort) {
    // kChildren is not shown if rows have no weight of callees.
    if (field != Field(WeightField::kChildren) || children) AddOnce(field, layout.shown);
  }
  AddOnce(choice.sort, layout.order);
  AddOnce(layout.shown, layout.order);
  if (choice.intervals) layout.shown = WithIntervals(layout.shown);
  return layout;
}

}  // namespace profiler::report
