// Converts windows to rows of our own tables (schema.h), in RowBinary.
//
// Rows are in the order of the table, so that a server need not sort them. Rows with equal keys are
// merged. So equal batches have equal bytes, and a server can recognise a repeated batch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet::clickhouse {

// A time in the form of the tables.
struct RowTime {
  uint16_t day = 0;  // days since 1970
  uint32_t second = 0, nanosecond = 0;
  auto operator<=>(const RowTime&) const = default;
};
// Converts a time. Returns kOutOfRange for times before 1970 and after 2105.
absl::StatusOr<RowTime> RowTimeOf(UnixTime time);

// The body of an INSERT … FORMAT RowBinary.
struct Rows {
  std::string body;
  size_t rows = 0;
};

// The stacks that were sent to a server, each with the day for which it was sent. A full set is
// cleared; then stacks are sent once more, which does no harm.
class SentStacks {
 public:
  using Stack = std::pair<uint16_t, uint64_t>;  // day and hash

  bool Contains(const Stack& stack) const { return stacks_.contains(stack); }
  void Add(std::span<const Stack> stacks) {
    constexpr size_t kMost = 500'000;  // some 10 MB
    if (stacks_.size() + stacks.size() > kMost) stacks_.clear();
    stacks_.insert(stacks.begin(), stacks.end());
  }
  void Clear() { stacks_.clear(); }

 private:
  absl::flat_hash_set<Stack> stacks_;
};

// The columns of a sample's row except its stack, labels and numbers, in the order of the table's
// key.
struct SampleGroup {
  std::string service;
  RowTime time;
  std::string host, event, program, container, pod, build_id;
  auto operator<=>(const SampleGroup&) const = default;
};

// The rows of a batch, sorted, with the hash of each stack. Refers to the windows.
class Batch {
 public:
  // Builds a batch. Returns kOutOfRange for times that the tables cannot represent.
  static absl::StatusOr<Batch> Of(std::span<const Window> windows);

  // Returns the stacks that are not in `sent`, and adds them to `fresh`.
  Rows StackRows(const SentStacks& sent, std::vector<SentStacks::Stack>* fresh) const;
  Rows WindowRows() const;
  Rows SampleRows() const;

  // Removes a row that exists on the server. Returns true if the batch contained it.
  bool Remove(const SampleGroup& group, uint64_t stack_hash);

  size_t samples() const { return sample_rows_; }  // number of sample rows
  std::span<const Window> windows() const { return windows_; }
  // The begin of the first window, the begin of the last window, and the latest end of all windows.
  RowTime first() const { return first_; }
  RowTime last() const { return last_; }
  UnixTime end() const { return end_; }
  std::vector<std::string> Hosts() const;

 private:
  struct Amounts {
    uint64_t samples = 0, value = 0;
  };
  struct Group {
    size_t window = 0;
    std::map<uint64_t, Amounts> rows;  // keyed by the stack's hash
  };

  absl::Status Add(size_t number);

  std::span<const Window> windows_;
  std::vector<std::vector<uint64_t>> hashes_;  // [w][s]: of stack s in window w
  std::map<SampleGroup, Group> groups_;
  size_t sample_rows_ = 0;
  RowTime first_, last_;
  UnixTime end_ = 0;
};

// Return the columns of the INSERT for each kind of body.
std::string_view StackColumns();
std::string_view WindowColumns();
std::string_view SampleColumns();

}  // namespace profiler::fleet::clickhouse
