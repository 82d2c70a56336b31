#include "src/fleet/query/sum_table.h"

#include <algorithm>
#include <string>

namespace profiler::fleet {
namespace {

// Sums of a window's functions. A function is identified by the index of its name in
// Window::strings.
template <class Amounts>
class FunctionSums {
 public:
  explicit FunctionSums(size_t names) : sums_(names), last_row_(names, 0) {}

  // Begins a row. In a row, a function counts once even if it is on the stack several times.
  void BeginRow() { ++row_; }
  void Add(uint32_t function, const Amounts& amounts) {
    if (last_row_[function] == row_) return;
    if (sums_[function].samples == 0 && sums_[function].value == 0) met_.push_back(function);
    last_row_[function] = row_;
    sums_[function] += amounts;
  }

  // Passes all sums to `take`, and clears them.
  void Take(auto take) {
    for (const uint32_t function : met_) {
      take(function, sums_[function]);
      sums_[function] = {};
    }
    met_.clear();
  }

 private:
  std::vector<Amounts> sums_;
  std::vector<uint32_t> last_row_;
  std::vector<uint32_t> met_;
  uint32_t row_ = 0;
};

}  // namespace

uint32_t SumTable::GroupOf(Key key) {
  const auto [known, is_new] =
      groups_.try_emplace(std::move(key), static_cast<uint32_t>(keys_.size()));
  if (is_new) {
    keys_.push_back(known->first);
    of_group_.emplace_back();
  }
  return known->second;
}

SumTable::GroupedRows SumTable::Grouped(const Window& window, const RowSelection& is_wanted) {
  // The event and the workload of a row determine all its fields.
  std::vector<uint32_t> known(window.events.size() * window.workloads.size(), kNone);
  GroupedRows rows;
  for (uint32_t i = 0; i < window.rows.size(); ++i) {
    const Row& row = window.rows[i];
    if (!is_wanted(row)) continue;
    uint32_t& group = known[row.event * window.workloads.size() + row.workload];
    if (group == kNone) {
      Key key;
      for (const FieldName& field : question_.by) {
        key.push_back(NumberOf(TextOf(window, row, field)));
      }
      group = GroupOf(std::move(key));
    }
    rows.emplace_back(group, i);
  }
  return rows;
}

void SumTable::AddFunctions(const Window& window, const GroupedRows& rows) {
  FunctionSums<Amounts> sums(window.strings.size());
  // [s]: number in texts_ of string s of the window
  std::vector<uint32_t> numbers(window.strings.size(), kNone);
  const auto take = [&](uint32_t group) {
    sums.Take([&](uint32_t function, const Amounts& amounts) {
      uint32_t& number = numbers[function];
      if (number == kNone) number = NumberOf(window.strings[StringId{function}]);
      lines_[{group, number}] += amounts;
    });
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = window.rows[rows[i].second];
    sums.BeginRow();
    for (uint32_t at = row.stack; at != kNoCaller; at = window.stacks[at].caller) {
      const Frame& frame = window.frames[window.stacks[at].frame];
      sums.Add(static_cast<uint32_t>(frame.function), {.samples = row.samples, .value = row.value});
      if (!question_.total) break;
    }
    if (i + 1 == rows.size() || rows[i + 1].first != rows[i].first) take(rows[i].first);
  }
}

void SumTable::Add(const Window& window, const RowSelection& is_wanted) {
  GroupedRows rows = Grouped(window, is_wanted);
  for (const auto& [group, number] : rows) {
    const Row& row = window.rows[number];
    of_group_[group] += {.samples = row.samples, .value = row.value};
  }
  if (!question_.functions) return;
  std::ranges::sort(rows);
  AddFunctions(window, rows);
}

void SumTable::Merge(const SumTable& other) {
  const auto here = [&](uint32_t text) { return NumberOf(other.texts_[StringId{text}]); };
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < other.keys_.size(); ++i) {
    Key key;
    for (const uint32_t text : other.keys_[i]) key.push_back(here(text));
    groups.push_back(GroupOf(std::move(key)));
    of_group_[groups.back()] += other.of_group_[i];
  }
  for (const auto& [line, amounts] : other.lines_) {
    lines_[{groups[line.first], here(line.second)}] += amounts;
  }
}

std::vector<std::string> SumTable::KeysOf(const LineKey& line, size_t skipped) const {
  std::vector<std::string> keys;
  const Key& group = keys_[line.first];
  for (size_t i = skipped; i < group.size(); ++i) keys.emplace_back(texts_[StringId{group[i]}]);
  if (line.second != kNone) keys.emplace_back(texts_[StringId{line.second}]);
  return keys;
}

fleet::Sums SumTable::Collect(std::optional<uint32_t> first_key, size_t most) const {
  const size_t skipped = first_key ? 1 : 0;
  const auto is_asked_for = [&](uint32_t group) {
    return !first_key || keys_[group][0] == *first_key;
  };
  fleet::Sums sums;
  std::vector<std::pair<LineKey, Amounts>> lines;
  for (uint32_t group = 0; group < keys_.size(); ++group) {
    if (!is_asked_for(group)) continue;
    sums.samples += of_group_[group].samples;
    sums.value += of_group_[group].value;
    if (!question_.functions) lines.push_back({{group, kNone}, of_group_[group]});
  }
  for (const auto& [line, amounts] : lines_) {
    if (is_asked_for(line.first)) lines.push_back({line, amounts});
  }
  const size_t shown = std::min(most, lines.size());
  std::partial_sort(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(shown), lines.end(),
                    [&](const auto& a, const auto& b) {
                      if (a.second.value != b.second.value) return a.second.value > b.second.value;
                      return KeysOf(a.first, skipped) < KeysOf(b.first, skipped);
                    });
  for (size_t i = 0; i < shown; ++i) {
    sums.lines.push_back({.keys = KeysOf(lines[i].first, skipped),
                          .samples = lines[i].second.samples,
                          .value = lines[i].second.value});
  }
  return sums;
}

fleet::Sums SumTable::Answer(size_t most) const { return Collect(std::nullopt, most); }

fleet::Sums SumTable::AnswerOf(std::string_view first_key, size_t most) const {
  for (const Key& key : keys_) {
    if (texts_[StringId{key[0]}] == first_key) return Collect(key[0], most);
  }
  return {};
}

std::vector<Sum> SumTable::ByFirstKey() const {
  absl::flat_hash_map<uint32_t, Amounts> sums;
  for (uint32_t group = 0; group < keys_.size(); ++group) sums[keys_[group][0]] += of_group_[group];
  std::vector<Sum> result;
  for (const auto& [key, amounts] : sums) {
    result.push_back({.keys = {std::string(texts_[StringId{key}])},
                      .samples = amounts.samples,
                      .value = amounts.value});
  }
  std::ranges::sort(result, {}, &Sum::keys);
  return result;
}

}  // namespace profiler::fleet
