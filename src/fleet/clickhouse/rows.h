// Windows as rows of our own tables (schema.h), in RowBinary.
//
// Rows are sorted as the table is, so that a server need not sort them, and those that agree in
// the table's key are one. So the same batch is the same bytes, by which a server knows it again.

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
#include "src/fleet/window.h"

namespace profiler::fleet::clickhouse {

// A time as the tables have it.
struct RowTime {
  uint16_t day = 0;  // days since 1970
  uint32_t second = 0, nanosecond = 0;
  auto operator<=>(const RowTime&) const = default;
};
// kOutOfRange for times before 1970 and behind 2105.
absl::StatusOr<RowTime> RowTimeOf(UnixTime time);

// What is written: a body of INSERT … FORMAT RowBinary.
struct Rows {
  std::string body;
  size_t rows = 0;
};

// Which stacks a server was sent for which day. Bounded: when it is full it forgets all, and they
// are sent once more, which changes nothing.
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

// What a sample's row says besides its stack, in the order of the table's key, and the labels that
// its host had.
struct SampleGroup {
  std::string service;
  RowTime time;
  std::string host, event, program, container, pod, build_id;
  auto operator<=>(const SampleGroup&) const = default;
};

// A batch, sorted, with each stack's hash. Refers to the windows.
class Batch {
 public:
  // kOutOfRange for times that the tables cannot have.
  static absl::StatusOr<Batch> Of(std::span<const Window> windows);

  // Those of the stacks that were not sent yet, which are added to `fresh`.
  Rows StackRows(const SentStacks& sent, std::vector<SentStacks::Stack>* fresh) const;
  Rows WindowRows() const;
  Rows SampleRows() const;

  // Leaves a row out that the server has. Whether there was one.
  bool Remove(const SampleGroup& group, uint64_t stack_hash);

  size_t samples() const { return sample_rows_; }  // rows
  std::span<const Window> windows() const { return windows_; }
  // From the first window's begin to the last one's, and when the last one ends.
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
    std::map<uint64_t, Amounts> rows;  // by the stack's hash
  };

  absl::Status Add(size_t number);

  std::span<const Window> windows_;
  std::vector<std::vector<uint64_t>> hashes_;  // by window and stack
  std::map<SampleGroup, Group> groups_;
  size_t sample_rows_ = 0;
  RowTime first_, last_;
  UnixTime end_ = 0;
};

// The columns of the INSERT that a body is for.
std::string_view StackColumns();
std::string_view WindowColumns();
std::string_view SampleColumns();

}  // namespace profiler::fleet::clickhouse
