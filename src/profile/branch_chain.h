// Makes the user part of call chains from the processor's call stack, which `perf record
// --call-graph lbr` records. The branch stack of such a sample has the calls that have not returned
// yet (PERF_SAMPLE_BRANCH_CALL_STACK).
//
//   recorded   ctx KERNEL  k0 k1  ctx USER  u0 u1 …     calls  from0 ─▶ to0, from1 ─▶ to1, …
//   chain      ctx KERNEL  k0 k1  ctx USER  u0 from0 from1 …
//
// The latest call is first, and each `from` is the call instruction in the caller. So every user
// entry is looked up at its own address. The new part replaces callers that the kernel found by
// frame pointers, as in perf. The processor keeps 8 to 32 calls: a longer chain lacks its outermost
// callers, and nothing in the record shows that.
//
// u0 is the interrupted user instruction: the sample's ip, or the instruction that entered the
// kernel. perf 7.2 uses the sample's ip in both cases, which puts a kernel address among the user
// frames. perf 6.1 uses to0, the start of a function.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/branch_filter.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/records.h"

namespace profiler::profile {

// True if samples of this layout have a branch stack of calls that becomes the user part of their
// call chains.
inline bool HasCallStack(const perf_event::RecordLayout& layout) {
  constexpr uint64_t kBoth = perf_event::kSampleCallchain | perf_event::kSampleBranchStack;
  return (layout.sample_type & kBoth) == kBoth &&
         (layout.branch_sample_type & perf_event::kBranchCallStack) != 0;
}

// A maker of these call chains. Not thread-safe.
class BranchChain {
 public:
  // Returns the call chain of a sample of this layout; valid until the next call. Returns nothing
  // if the layout has no call stack, or if the sample's call chain has no user part.
  std::optional<perf_event::U64Array> ChainOf(const perf_event::Sample& sample,
                                              const perf_event::RecordLayout& layout);

 private:
  std::vector<uint64_t> chain_;
};

}  // namespace profiler::profile
