// Turns raw call chains into stacks of frames.
//
//   chain, leaf first      ctx KERNEL  k0  k1  k2   ctx USER  u0  u1  u2
//   stack, root to leaf    u2  u1  u0  k2  k1  k0
//
// If our unwinder cut a chain, the chain ends with a mark (symbolize::CutMarkOf). The mark becomes
// the outermost frame, of Mode::kCut.
//
// u0 and k0 are interrupted instructions: u0 entered the kernel, k0 was interrupted by the sample.
// All other entries are return addresses, so they are looked up at the byte before, which may even
// lie in another mapping.
//
// A known chain costs one look-up (chain_cache.h). A new chain shares its outer frames with the
// last new chain of its process; its other frames are interned one by one. Tables are large and
// memory is slow, so some dozen samples are resolved at a time. In each step, every sample
// prefetches the memory for its next step.
//
//   Add            fingerprint                   prefetch the chain's slot
//   ResolveBatch   chain known?      if new:     find its frames, prefetch their slots
//                                                intern frames
//   StackCounter                                 intern stacks, level by level from the root
//
// The resolver needs the mappings at the time of the sample, so it works in step with the reading
// of records. Stacks are interned later, and maybe by another thread: the resolver numbers the
// chains and puts the frames of new ones into a ChainBatch.
//
// Measured: user and system time of `profiler report -i FILE` and `profiler script -i FILE`, FILE
// as in src/base/huge_vector.h; minimum (median) of 6 and 4 runs in turns.
//
//   seconds                         report         script
//   in batches                    1.77 (1.96)    2.24 (2.57)
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
#include "src/format/perf_event/records.h"
#include "src/profile/chain_batch.h"
#include "src/profile/chain_cache.h"
#include "src/profile/image_table.h"
#include "src/profile/profile.h"
#include "src/profile/stack_table.h"
#include "symbolize/address_space.h"

namespace profiler::profile {

// The address and the call chain of a sample.
struct SamplePoint {
  uint32_t pid = 0;
  Mode mode = Mode::kUnknown;
  uint64_t ip = 0;
  // The recorded chain. If it has only markers, or an unknown marker (which is counted), it is
  // replaced by a chain of only the ip.
  perf_event::U64Array callchain;
  // True if user entries for callers are addresses inside the call instructions instead of return
  // addresses.
  bool exact_user = false;
  // The address space for the user part; null: that of the process. If it is not null, the sample
  // must be the only sample of its batch.
  const symbolize::AddressSpace* user_space = nullptr;
};

struct ResolvedChain {
  FrameId self{};
  bool has_chain = false;  // False if the stack consists only of the ip.
  // The number of the chain: 0 for the first new one, 1 for the next one, and so on, until the
  // resolver forgets all chains (ChainBatch::forgets) and begins at 0 again.
  uint32_t number = 0;
};

// The resolver. Not thread-safe. All objects that it refers to must outlive it.
class ChainResolver {
 public:
  // New chains are added to `out`.
  ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                bool by_address, ChainBatch& out);

  // True if a call chain is corrupt.
  static bool IsCorrupt(perf_event::U64Array callchain);

  // Returns the part of a chain up to its innermost entry, with the markers before it.
  static perf_event::U64Array LeafOf(perf_event::U64Array callchain);

  // Adds a sample to the batch and copies its call chain, because the record may be gone before the
  // sample is resolved. Not allowed if full(). No address space may change until ResolveBatch.
  void Add(const SamplePoint& point);
  bool full() const { return searches_in_batch_ == kBatch; }
  // True if ResolveBatch will forget all chains. Then take all chains out of `out` first.
  bool WillForget() const { return cache_.IsFull(); }
  // Resolves the samples of the batch and begins the next batch. Returns the chains in the order of
  // the samples; they are valid until the next ResolveBatch.
  std::span<const ResolvedChain> ResolveBatch();
  // Tells that the chains in `out` were taken out of it.
  void TakenOut() { ++out_number_; }

 private:
  static constexpr size_t kBatch = ChainCache::kSearches;
  static constexpr uint32_t kNone = UINT32_MAX;

  // An address of a chain.
  struct Entry {
    uint64_t ip;
    Mode mode;
    bool return_address;
    bool operator==(const Entry&) const = default;
  };
  // The code addresses of one process, or of the kernel.
  struct Space {
    const symbolize::AddressSpace* addresses = nullptr;  // null: nothing is mapped
    // The last mapping that was found; valid while the generation is the same.
    const symbolize::Mapping* mapping = nullptr;
    uint64_t mapping_generation = 0;
  };
  struct Process : Space {
    uint32_t number = 0;
    // The last new chain: its entries, root first.
    uint64_t last_generation = 0, last_kernel_generation = 0;
    std::vector<Entry> last_entries;
    // Index of that chain in new_; kNone if it belongs to a former batch.
    uint32_t last_in_batch = kNone;
    // Index of that chain in `out`, if `last_out_number` is the number of the present `out`.
    uint64_t last_out_number = 0;
    uint32_t last_in_out = kNone;
  };
  struct Search {
    SamplePoint point;
    // Room for the chain; kept for the next batch to save the allocation.
    std::vector<uint64_t> words;
    Process* process = nullptr;
    Fingerprint print;
    KnownChain* known = nullptr;
  };
  // A new chain: entries_[first, first + size).
  struct NewChain {
    Search* search;
    size_t first, size;
    size_t shared = 0;  // number of outer entries shared with the last new chain; less than `size`
  };

  void AddNew(Search& search);
  void AppendEntries(const SamplePoint& point);
  void Share(NewChain& chain);
  void InternFrames();
  void PutOut(const NewChain& chain);
  void RememberLast();
  FrameId SelfOf(const NewChain& chain);

  Frame FrameOf(Space& space, const Entry& entry);
  const symbolize::Mapping* FindMapping(Space& space, uint64_t address);
  Space& SpaceOf(Process& process, Mode mode);
  Process& ProcessOf(uint32_t pid);

  Losses& losses_;
  ImageTable& images_;
  symbolize::AddressSpaces& spaces_;

  ChainBatch& out_;
  uint64_t out_number_ = 1;
  uint32_t next_number_ = 0;  // number of the next new chain
  FrameTable frame_table_;
  ChainCache cache_;
  std::array<Search, kBatch> searches_;
  size_t searches_in_batch_ = 0;
  std::array<ResolvedChain, kBatch> resolved_;

  // State of the present batch.
  std::vector<NewChain> new_;
  std::vector<Entry> entries_;
  std::vector<Frame> found_;     // [n]: frame of entries_[n], before interning
  std::vector<FrameId> frames_;  // [n]: frame of entries_[n]

  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  Process of_the_point_;  // the process of samples with a user_space
  Space kernel_;
  Space nowhere_;
};

}  // namespace profiler::profile
