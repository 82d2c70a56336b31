// Samples whose stacks are not interned yet, and the new call chains among them. The resolver fills
// a batch (chain_resolver.h), and StackCounter takes it, maybe on another thread.
//
// A new chain has a source: the last earlier chain of its process whose outer entries it shares.
// The batch has only the frames that are not shared.
//
//   chain 0                 a b c d      shared 0
//   chain 1   source 0      a b e f      shared 2
//   chain 2   source 0      a g          shared 1: chain 1 has got that entry from chain 0
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

struct ChainBatch {
  static constexpr uint32_t kNone = UINT32_MAX;

  struct NewChain {
    uint32_t process = 0;  // number of its process
    // Index in `chains` of the source; kNone: the last chain of the process in earlier batches.
    uint32_t source = kNone;
    uint32_t shared = 0;  // number of outer entries shared with the source
    uint32_t first = 0;   // index in `frames` of the first frame that is not shared
    uint32_t size = 0;    // number of frames that are not shared; at least 1
  };

  bool forgets = false;            // True if all chains of earlier batches are forgotten.
  std::vector<NewChain> chains;    // in the order of their numbers
  std::vector<FrameId> frames;     // each chain's frames, root first
  std::vector<SampleRow> samples;  // complete, except for the stack
  std::vector<uint32_t> chain_of;  // [n]: number of the chain of samples[n]

  bool empty() const { return samples.empty() && chains.empty() && !forgets; }
  // True if the batch should be taken. With fewer samples, threads would wait for each other too
  // often, and the memory that stacks need could not be prefetched; with more, the batch would not
  // fit into a processor's cache.
  bool full() const {
    constexpr size_t kMost = 512, kMostFrames = size_t{1} << 16;
    return samples.size() >= kMost || chains.size() >= kMost || frames.size() >= kMostFrames;
  }
  void Clear() {
    forgets = false;
    chains.clear();
    frames.clear();
    samples.clear();
    chain_of.clear();
  }
};

}  // namespace profiler::profile
