#include "src/views/report/sort_keys.h"

#include <array>
#include <vector>

#include "absl/functional/function_ref.h"

namespace profiler::report {
namespace {

using profile::Dimension;

constexpr SortKeyEntry kTraceFieldEntry = {.key = SortKey::kTraceField,
                                           .kind = KeyKind::kTraceField};

// [key]: the index of its entry in kSortKeys.
constexpr auto kIndices = [] {
  std::array<uint8_t, static_cast<size_t>(SortKey::kTraceField)> indices{};
  for (size_t i = 0; i < kSortKeys.size(); ++i) {
    indices[static_cast<size_t>(kSortKeys[i].key)] = static_cast<uint8_t>(i);
  }
  return indices;
}();
static_assert(kSortKeys.size() == kIndices.size());  // each key has one entry

std::string NamesOf(absl::FunctionRef<bool(const SortKeyEntry&)> is_listed,
                    std::string_view between, std::string_view last) {
  std::vector<std::string_view> names;
  for (const SortKeyEntry& entry : kSortKeys) {
    if (is_listed(entry)) names.push_back(entry.name);
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? between : last;
    text += names[i];
  }
  return text;
}

}  // namespace

const SortKeyEntry& EntryOf(SortKey key) {
  if (IsTraceField(key)) return kTraceFieldEntry;
  return kSortKeys[kIndices[static_cast<size_t>(key)]];
}

std::optional<Dimension> DimensionOf(SortKey key) {
  if (!IsTraceField(key)) return EntryOf(key).column;
  return Dimension{
      static_cast<uint8_t>(static_cast<size_t>(Dimension::kTraceField) + TraceFieldIndex(key))};
}

bool IsOfMemory(SortKey key) {
  const SortKeyEntry& entry = EntryOf(key);
  return entry.group == KeyGroup::kAccesses && entry.kind != KeyKind::kCost &&
         entry.kind != KeyKind::kCostOfAll;
}

bool IsOfBranch(SortKey key) { return EntryOf(key).kind == KeyKind::kBranch; }

bool TellsBranches(SortKey key) {
  const KeyKind kind = EntryOf(key).kind;
  return kind == KeyKind::kBranch || kind == KeyKind::kThread || kind == KeyKind::kImage ||
         kind == KeyKind::kSymbol;
}

std::string SortKeyNames(KeyGroup group, std::string_view between, std::string_view last) {
  return NamesOf([group](const SortKeyEntry& entry) { return entry.group == group; }, between,
                 last);
}

std::string BranchKeyNames() {
  return NamesOf([](const SortKeyEntry& entry) { return TellsBranches(entry.key); }, ", ", " and ");
}

}  // namespace profiler::report
