// Interns the stacks of new call chains, and sums up samples into rows. It needs only its own
// tables and the batches that the resolver makes, so it may run on a thread of its own
// (counting_thread.h).
//
// Private to this package.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/huge_vector.h"
#include "src/profile/chain_batch.h"
#include "src/profile/profile.h"
#include "src/profile/row_table.h"
#include "src/profile/stack_table.h"

namespace profiler::profile {

// Returns the stream of a sample in the profile's order (OrderedSample::stream).
inline uint32_t StreamOf(uint32_t cpu, ThreadId thread) {
  return cpu != kNoCpu ? cpu : static_cast<uint32_t>(thread);
}

struct CounterOptions {
  DimensionSet dimensions{};
  bool keep_rows = true;
  bool keep_order = false;  // True: each sample is appended to Profile::order. Needs keep_rows.
};

// Not thread-safe. The profile must outlive the counter. Only the counter uses the profile's stacks,
// rows, order, slices, quanta and columns of samples, until it is done.
class StackCounter {
 public:
  StackCounter(Profile& profile, const CounterOptions& options)
      : profile_(profile),
        options_(options),
        stacks_(profile),
        rows_(profile, options.dimensions) {}

  // Takes the next batch. Sets SampleRow::stack of its samples.
  void Take(ChainBatch& batch);

  // As RowTable::PutThreads. Call it after the last batch.
  void PutThreads(std::span<const ThreadId> threads) { rows_.PutThreads(threads); }

 private:
  static constexpr uint32_t kNone = ChainBatch::kNone;

  // A chain that was resolved.
  struct KnownChain {
    StackId stack = kNoStack;
    uint32_t row = UINT32_MAX;  // row in which the chain was last counted
  };
  // The last chain of a process.
  struct LastChain {
    std::vector<StackId> stacks;  // the stack after each entry, root first
    uint32_t in_batch = kNone;    // its index in the present batch; kNone: a former batch
  };
  // A chain of the present batch whose frames from `at` to `end` are not interned yet.
  struct Growing {
    StackId callers = kNoStack;
    uint32_t at = 0, end = 0;
  };

  void InternStacks(const ChainBatch& batch);
  StackId SharedStack(const ChainBatch& batch, const ChainBatch::NewChain& chain) const;
  void RememberLast(const ChainBatch& batch);
  void CountSamples(ChainBatch& batch);

  Profile& profile_;
  const CounterOptions options_;
  StackTable stacks_;
  RowTable rows_;
  HugeVector<KnownChain> known_;  // [n]: chain n
  std::vector<LastChain> last_;   // indexed by process

  // State of the present batch; kept to save the allocations.
  std::vector<StackId> stack_after_;  // [n]: the stack that ends with batch.frames[n]
  // Lists of the chains that begin at each level. [level]: the first chain; [chain]: the next one.
  std::vector<uint32_t> first_at_level_, next_at_level_;
  std::vector<Growing> growing_;
  std::vector<uint32_t*> hints_;
};

}  // namespace profiler::profile
