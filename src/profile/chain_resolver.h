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
// A piece seen before is one look-up (chain_cache.h). A new one is resolved from its root on, from
// where it parts with the last new one of its process: successive stacks share their callers.
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
  perf_event::U64Array callchain;  // may be empty
};

struct ResolvedStack {
  FrameId self{};
  StackId stack = kNoStack;
  // Where the caller may note the row in which it counts this call chain; kept as long as the chain
  // is remembered. Null for samples without one; valid until the next call.
  uint32_t* row = nullptr;
};

// Not thread-safe. What it refers to must outlive it.
class ChainResolver {
 public:
  // Chains are cut to the `max_stack` entries nearest to the leaf.
  ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                uint32_t max_stack);

  // The process's address space and everything in it must be as it was when the sample was taken.
  ResolvedStack Resolve(const SamplePoint& point);

 private:
  // Code addresses of one process, or of the kernel.
  struct Space {
    symbolize::AddressSpace* addresses = nullptr;  // null: nothing is known of this mode
    // The mapping that was found last; good while the generation stands.
    const symbolize::Mapping* mapping = nullptr;
    uint64_t mapping_generation = 0;
    // The last piece that was resolved frame by frame, its entries root first, and the stack after
    // each of them.
    ChainPiece last;  // without entries
    std::vector<uint64_t> last_entries;
    std::vector<StackId> last_stacks;
  };
  struct Cut {
    Mode mode;
    size_t first, count;  // entries of the chain
  };

  void CutIntoPieces(const SamplePoint& point);
  KnownStack& Extend(StackId callers, Mode mode, Space& space, perf_event::U64Array entries);
  KnownStack Walk(const ChainPiece& piece, Space& space);
  FrameId ResolveFrame(Space& space, Mode mode, uint64_t ip, bool return_address);
  const symbolize::Mapping* FindMapping(Space& space, uint64_t address);
  Space& SpaceOf(uint32_t pid, Mode mode);
  Space& ProcessSpace(uint32_t pid);

  Profile& profile_;
  ImageTable& images_;
  symbolize::AddressSpaces& spaces_;
  const uint32_t max_stack_;

  StackTable stacks_;
  ChainCache cache_;
  std::vector<Cut> cuts_;  // of the chain at hand; kept to save the allocation

  absl::flat_hash_map<uint32_t, std::unique_ptr<Space>> processes_;
  Space kernel_;
  Space nowhere_;
  Space* last_process_ = nullptr;
  uint32_t last_pid_ = 0;
};

}  // namespace profiler::profile
