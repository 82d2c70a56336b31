// From a raw call chain to a stack of frames.
//
//   entries, leaf first    ctx KERNEL  k0  k1  k2   ctx USER  u0  u1  u2
//                                      └── piece ─┘           └─ piece ─┘
//   stack, root to leaf    u2  u1  u0  k2  k1  k0
//
// u0 and k0 are interrupted instructions: of the user's code when it entered the kernel, of the
// kernel's when the sample was taken. All others are return addresses, so they are looked up one
// byte before, which may even be another mapping.
//
// A chain seen before is one look-up (chain_cache.h). A new one is resolved piece by piece, each
// from its root on, from where it parts with the last new one of its process: successive stacks
// share their callers.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <memory>
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
  perf_event::U64Array callchain;  // with at least one entry that is no marker
};

struct ResolvedStack {
  FrameId self{};
  StackId stack = kNoStack;
  // Where the caller may note the row in which it counts this call chain; kept as long as the chain
  // is remembered. Valid until the next MakeRoom.
  uint32_t* row = nullptr;
};

// True where a call chain has anything but markers and cookies.
bool HasEntries(perf_event::U64Array callchain);

// Not thread-safe. What it refers to must outlive it.
class ChainResolver {
 public:
  // Chains are cut to the `max_stack` entries nearest to the leaf.
  ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                uint32_t max_stack, bool by_address);

  // Three steps a sample. Memory is slow and a step asks for what the next one needs, so several
  // samples, at most kSearches, take each step before any takes the next, and MakeRoom comes before
  // them all. No address space may change from Start to Resolve, and the point's call chain must
  // stay.
  static constexpr size_t kSearches = ChainCache::kSearches;
  struct Search {
    SamplePoint point;
    RawChain chain;
    uint64_t hash = 0;
  };
  Search Start(const SamplePoint& point);
  void MakeRoom() { cache_.MakeRoom(); }
  void Approach(const Search& search) { cache_.PrefetchWords(search.hash); }
  ResolvedStack Resolve(const Search& search);

 private:
  // Code addresses of one process, or of the kernel.
  struct Space {
    symbolize::AddressSpace* addresses = nullptr;  // null: nothing is known of this mode
    // The mapping that was found last; good while the generation stands.
    const symbolize::Mapping* mapping = nullptr;
    uint64_t mapping_generation = 0;
    // The last piece that was resolved, its entries root first, and the stack after each of them.
    uint64_t last_generation = 0;
    StackId last_callers = kNoStack;
    std::vector<uint64_t> last_entries;
    std::vector<StackId> last_stacks;
  };
  struct Piece {
    Mode mode;
    size_t first, count;  // entries of the chain; never none
  };

  // Fills pieces_, leaf first.
  void CutIntoPieces(const SamplePoint& point);
  KnownStack ResolveNew(const SamplePoint& point);
  KnownStack ResolvePiece(Mode mode, Space& space, StackId callers, perf_event::U64Array entries);
  Frame PlaceFrame(Space& space, Mode mode, uint64_t ip, bool return_address);
  const symbolize::Mapping* FindMapping(Space& space, uint64_t address);
  Space& SpaceOf(uint32_t pid, Mode mode);
  Space& ProcessSpace(uint32_t pid);

  Profile& profile_;
  ImageTable& images_;
  symbolize::AddressSpaces& spaces_;
  const uint32_t max_stack_;

  StackTable stacks_;
  ChainCache cache_;
  // Of the chain at hand; kept to save the allocation.
  std::vector<Piece> pieces_;
  std::vector<Frame> frames_;

  absl::flat_hash_map<uint32_t, std::unique_ptr<Space>> processes_;
  Space kernel_;
  Space nowhere_;
  Space* last_process_ = nullptr;
  uint32_t last_pid_ = 0;
};

}  // namespace profiler::profile
