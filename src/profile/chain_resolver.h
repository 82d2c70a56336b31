// From raw call chains to stacks of frames.
//
//   chain, leaf first      ctx KERNEL  k0  k1  k2   ctx USER  u0  u1  u2
//   stack, root to leaf    u2  u1  u0  k2  k1  k0
//
// A chain of ours that is cut ends with a mark (symbolize::CutMarkOf), which becomes the outermost
// frame, of Mode::kCut.
//
// u0 and k0 are interrupted instructions: of the user's code when it entered the kernel, of the
// kernel's when the sample was taken. All others are return addresses, so they are looked up one
// byte before, which may even be another mapping.
//
// A chain seen before is one look-up (chain_cache.h). Of a new one, what it has in common with the
// last new one of its process, from the root on, is taken from there; the rest is interned frame by
// frame. Tables are large and memory is slow, so samples are resolved some dozens at a time, all of
// them one step before any takes the next: each step asks for the memory that the next one needs.
//
//   Add            fingerprint                   ask for the chain's slot
//   ResolveBatch   chain known?      if new:     find its frames, ask for their slots
//                                                intern frames, ask for the root's stack slot
//                                                intern stacks, level by level from the root
//
// Measured: user and system time of `profiler report -i FILE` and `profiler script -i FILE`, FILE
// as in src/base/huge_vector.h; minimum (median) of 6 and 4 runs in turns.
//
//   seconds                         report         script
//   as it is                      1.77 (1.96)    2.24 (2.57)
//   each sample by itself         2.14 (2.31)    2.87 (3.01)
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/records.h"
#include "src/profile/chain_cache.h"
#include "src/profile/image_table.h"
#include "src/profile/profile.h"
#include "src/profile/stack_table.h"
#include "symbolize/address_space.h"

namespace profiler::profile {

// Where a sample was taken.
struct SamplePoint {
  uint32_t pid = 0;
  Mode mode = Mode::kUnknown;
  uint64_t ip = 0;
  // One without any entry that is no marker, or with a marker that is none (which is counted), is
  // taken for a chain of the ip alone.
  perf_event::U64Array callchain;
  // The user's callers are no return addresses but lie in the calls themselves.
  bool exact_user = false;
  // Where the user part is looked up, if not in what the process has mapped. Such a sample is the
  // only one of its batch.
  const symbolize::AddressSpace* user_space = nullptr;
};

struct ResolvedStack {
  FrameId self{};
  StackId stack = kNoStack;
  bool has_chain = false;  // else the stack is of the ip alone
  // Where the caller may note the row in which it counts this call chain; kept as long as the chain
  // is remembered. Valid until the next ResolveBatch.
  uint32_t* row = nullptr;
};

// Not thread-safe. What it refers to must outlive it.
class ChainResolver {
 public:
  ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                bool by_address);

  // Whether a call chain is not believed.
  static bool IsCorrupt(perf_event::U64Array callchain);

  // Takes a sample on, with its call chain copied: the record may be gone before it is resolved.
  // Not when full(). No address space may change until ResolveBatch.
  void Add(const SamplePoint& point);
  bool full() const { return searches_in_batch_ == kBatch; }
  // Resolves the samples taken on, in their order, and begins the next batch. Valid until the next
  // ResolveBatch.
  std::span<const ResolvedStack> ResolveBatch();

 private:
  static constexpr size_t kBatch = ChainCache::kSearches;
  static constexpr uint32_t kNone = UINT32_MAX;

  // An address of a chain, and what its place among the others says.
  struct Entry {
    uint64_t ip;
    Mode mode;
    bool return_address;
    bool operator==(const Entry&) const = default;
  };
  // Code addresses of one process, or of the kernel.
  struct Space {
    const symbolize::AddressSpace* addresses = nullptr;  // null: nothing is known of this mode
    // The mapping that was found last; good while the generation stands.
    const symbolize::Mapping* mapping = nullptr;
    uint64_t mapping_generation = 0;
  };
  struct Process : Space {
    // The last new chain, its entries root first, and the stack after each of them.
    uint64_t last_generation = 0, last_kernel_generation = 0;
    std::vector<Entry> last_entries;
    std::vector<StackId> last_stacks;
    uint32_t last_in_batch = kNone;  // in new_, where it is still there
  };
  struct Search {
    SamplePoint point;
    // Room for the chain; kept for the next batch to save the allocation.
    std::vector<uint64_t> words;
    Process* process = nullptr;
    Fingerprint print;
    KnownStack* known = nullptr;
  };
  // A chain not seen before: entries_[first, first + size).
  struct NewChain {
    Search* search;
    size_t first, size;
    size_t shared = 0;        // entries in common with `source`, from the root on; never all
    uint32_t source = kNone;  // in new_; kNone: what the process remembers
  };

  void AddNew(Search& search);
  void AppendEntries(const SamplePoint& point);
  void Share(NewChain& chain);
  void InternFrames();
  void InternStacks();
  void RememberLast();
  FrameId SelfOf(const NewChain& chain);
  StackId SharedStack(const NewChain& chain, size_t level) const;

  Frame FrameOf(Space& space, const Entry& entry);
  const symbolize::Mapping* FindMapping(Space& space, uint64_t address);
  Space& SpaceOf(Process& process, Mode mode);
  Process& ProcessOf(uint32_t pid);

  Losses& losses_;
  ImageTable& images_;
  symbolize::AddressSpaces& spaces_;

  StackTable stacks_;
  ChainCache cache_;
  std::array<Search, kBatch> searches_;
  size_t searches_in_batch_ = 0;
  std::array<ResolvedStack, kBatch> resolved_;

  // Of the batch at hand.
  std::vector<NewChain> new_;
  std::vector<Entry> entries_;
  std::vector<Frame> found_;          // by entry: the frame before it is interned
  std::vector<FrameId> frames_;       // by entry
  std::vector<StackId> stack_after_;  // by entry

  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  Process of_the_point_;  // with a user_space
  Space kernel_;
  Space nowhere_;
};

}  // namespace profiler::profile
