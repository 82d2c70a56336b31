#include "src/record/chain_joiner.h"

#include <algorithm>

namespace profiler::record {

std::optional<ChainJoiner::Outer> ChainJoiner::Find(uint32_t tid,
                                                    const symbolize::UnwoundFrame& frame) const {
  const auto found = chains_.find(tid);
  if (found == chains_.end()) return std::nullopt;
  const Chain& chain = found->second;
  auto it = std::lower_bound(chain.frames.begin(), chain.frames.end(), frame.stack_pointer,
                             [](const Frame& f, uint64_t sp) { return f.stack_pointer > sp; });
  // A function that keeps nothing on the stack has its caller's stack pointer.
  for (; it != chain.frames.end() && it->stack_pointer == frame.stack_pointer; ++it) {
    if (it->instruction != frame.instruction().value) continue;
    const auto depth = static_cast<size_t>(it - chain.frames.begin());
    return Outer{std::span(chain.frames).first(depth), chain.first_guess < depth};
  }
  return std::nullopt;
}

void ChainJoiner::Remember(uint32_t tid, size_t kept,
                           std::span<const symbolize::UnwoundFrame> leaf_first) {
  if (frames_ > kMostFrames) {
    chains_.clear();
    frames_ = 0;
    return;
  }
  Chain& chain = chains_[tid];
  const size_t room = chain.frames.capacity();
  chain.frames.resize(std::min(kept, chain.frames.size()));
  if (chain.first_guess >= chain.frames.size()) chain.first_guess = SIZE_MAX;
  for (size_t i = leaf_first.size(); i-- > 0;) {
    const symbolize::UnwoundFrame& frame = leaf_first[i];
    // On another stack: of a signal handler, or of a coroutine.
    if (!chain.frames.empty() && frame.stack_pointer > chain.frames.back().stack_pointer) break;
    if (frame.origin == symbolize::FrameOrigin::kGuess) {
      chain.first_guess = std::min(chain.first_guess, chain.frames.size());
    }
    chain.frames.push_back({frame.instruction().value, frame.stack_pointer});
  }
  frames_ += chain.frames.capacity() - room;
}

void ChainJoiner::Forget(uint32_t tid) {
  const auto found = chains_.find(tid);
  if (found == chains_.end()) return;
  frames_ -= found->second.frames.capacity();
  chains_.erase(found);
}

}  // namespace profiler::record
