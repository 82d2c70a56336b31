// Adds the rows of windows up by what a question tells apart: service, host, function, …
//
//   group      a combination of what `by` names, in all windows one number
//   line       (group, function) → samples, value

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/string_table.h"
#include "src/fleet/query/source.h"

namespace profiler::fleet {

// Not thread-safe. Memory by the distinct lines.
class SumTable {
 public:
  // Of the question `selection` and `most` do not matter.
  explicit SumTable(SumsQuestion question) : question_(std::move(question)) {}

  // Adds the rows that are wanted. Linear in the window's tables, and with `total` in its rows'
  // stacks.
  void Add(const Window& window, const RowSelection& is_wanted);
  void Merge(const SumTable& other);
  bool empty() const { return keys_.empty(); }

  // Of everything.
  fleet::Sums Answer(size_t most) const;
  // Of what has this text as the first of `by`, and without that key.
  fleet::Sums AnswerOf(std::string_view first_key, size_t most) const;
  // By the first of `by` alone.
  std::vector<Sum> ByFirstKey() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Key = std::vector<uint32_t>;              // of `by`, as numbers of texts
  using LineKey = std::pair<uint32_t, uint32_t>;  // group, and the function or kNone
  struct Amounts {
    uint64_t samples = 0, value = 0;
    void operator+=(const Amounts& more) {
      samples += more.samples;
      value += more.value;
    }
  };
  // The rows of a window by group.
  using GroupedRows = std::vector<std::pair<uint32_t, uint32_t>>;

  uint32_t NumberOf(std::string_view text) { return static_cast<uint32_t>(texts_.Intern(text)); }
  uint32_t GroupOf(Key key);
  GroupedRows Grouped(const Window& window, const RowSelection& is_wanted);
  void AddFunctions(const Window& window, const GroupedRows& rows);
  std::vector<std::string> KeysOf(const LineKey& line, size_t skipped) const;
  fleet::Sums Collect(std::optional<uint32_t> first_key, size_t most) const;

  SumsQuestion question_;
  StringTable texts_;
  absl::flat_hash_map<Key, uint32_t> groups_;
  std::vector<Key> keys_;                        // by group
  std::vector<Amounts> of_group_;                // each row once
  absl::flat_hash_map<LineKey, Amounts> lines_;  // with functions alone
};

}  // namespace profiler::fleet
