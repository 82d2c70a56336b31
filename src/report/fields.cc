#include "src/report/fields.h"

#include <algorithm>
#include <iterator>
#include <optional>

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
    {SortKey::kSocket, "socket", "Socket"},
    {SortKey::kTime, "time", "Time"},
    {SortKey::kCgroup, "cgroup", "Cgroup"},
    {SortKey::kTrace, "trace", "Trace output"},
    {SortKey::kCommNoDigit, "comm_nodigit", "CommandNoDigit"},
    {SortKey::kParent, "parent", "Parent symbol"},
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
  for (const SortKeyText& text : kSortKeys) {
    if (text.name == name) return text.key;
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

}  // namespace

std::string_view Heading(SortKey key) {
  return std::find_if(std::begin(kSortKeys), std::end(kSortKeys),
                      [key](const SortKeyText& text) { return text.key == key; })
      ->heading;
}

constexpr std::string_view kAllFields =
    "pid, tid, tgid, comm, comm_nodigit, dso, symbol, parent, srcline, srcfile, symoff, cpu, "
    "socket, time, cgroup, trace or parallelism, of branches symbol_from, symbol_to, dso_from, "
    "dso_to, mispredict or cycles, and of weights overhead, overhead_children, overhead_sys, "
    "overhead_us, overhead_guest_sys, overhead_guest_us, sample, period, overhead_ci, "
    "overhead_children_ci or rank";

absl::StatusOr<FieldList> ParseFields(std::string_view text) {
  FieldList list;
  if (text.starts_with('+')) {
    list.is_added = true;
    text.remove_prefix(1);
  }
  for (const absl::string_view name : absl::StrSplit(View(text), ',', absl::SkipEmpty())) {
    const auto field = FieldNamed({name.data(), name.size()});
    if (!field) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown sort key '", name, "': use ", View(kAllFields)));
    }
    AddOnce(*field, list.fields);
  }
  if (list.fields.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no sort key: use ", View(kAllFields)));
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

absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text) {
  auto list = ParseFields(text);
  if (!list.ok()) return list.status();
  std::vector<SortKey> keys = KeysOf(list->fields);
  if (keys.empty()) return absl::InvalidArgumentError("no sort key");
  return keys;
}

std::optional<profile::Dimension> DimensionOf(SortKey key) {
  switch (key) {
    case SortKey::kCpu:
      return profile::Dimension::kCpu;
    case SortKey::kParallelism:
      return profile::Dimension::kParallelism;
    case SortKey::kSocket:
      return profile::Dimension::kSocket;
    case SortKey::kTime:
      return profile::Dimension::kTime;
    case SortKey::kCgroup:
      return profile::Dimension::kCgroup;
    case SortKey::kTrace:
      return profile::Dimension::kTrace;
    case SortKey::kCommNoDigit:
      return profile::Dimension::kCommNoDigit;
    case SortKey::kParent:
      return profile::Dimension::kParent;
    default:
      return std::nullopt;
  }
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
