// Adds up the rows of windows by the keys of a question: service, host, function, …
//
//   group      a combination of values of `by`, with the same number in all windows
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

// The sums of rows. Not thread-safe. Memory grows with the distinct lines.
class SumTable {
 public:
  // Ignores the question's `selection` and `most`.
  explicit SumTable(SumsQuestion question) : question_(std::move(question)) {}

  // Adds the selected rows. Takes time linear in the window's tables, and with `total` also in its
  // rows' stacks.
  void Add(const Window& window, const RowSelection& is_wanted);
  void Merge(const SumTable& other);
  bool empty() const { return keys_.empty(); }

  // Returns the sums of all rows.
  fleet::Sums Answer(size_t most) const;
  // Returns the sums of the groups whose first key is `first_key`, without that key.
  fleet::Sums AnswerOf(std::string_view first_key, size_t most) const;
  // Returns the sums grouped by nothing but the first key of `by`.
  std::vector<Sum> ByFirstKey() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Key = std::vector<uint32_t>;              // values of `by`, as numbers in texts_
  using LineKey = std::pair<uint32_t, uint32_t>;  // {group, function or kNone}
  struct Amounts {
    uint64_t samples = 0, value = 0;
    void operator+=(const Amounts& more) {
      samples += more.samples;
      value += more.value;
    }
  };
  // Pairs {group, index of a row in Window::rows}.
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
  std::vector<Key> keys_;                        // [g]: values of group g
  std::vector<Amounts> of_group_;                // [g]: sums of the rows of group g
  absl::flat_hash_map<LineKey, Amounts> lines_;  // used only with functions
};

}  // namespace profiler::fleet
