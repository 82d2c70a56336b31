#include "src/profile/stack_counter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace profiler::profile {

void StackCounter::Take(ChainBatch& batch) {
  if (batch.forgets) known_.clear();
  InternStacks(batch);
  RememberLast(batch);
  CountSamples(batch);
}

// Returns the stack of the entries that a chain shares with its source, after that stack was made.
StackId StackCounter::SharedStack(const ChainBatch& batch,
                                  const ChainBatch::NewChain& chain) const {
  if (chain.shared == 0) return kNoStack;
  if (chain.source == kNone) return last_[chain.process].stacks[chain.shared - 1];
  const ChainBatch::NewChain& source = batch.chains[chain.source];
  return stack_after_[source.first + (chain.shared - 1 - source.shared)];
}

// Interns the frames of all chains level by level from the root. In each level, every chain
// prefetches the memory for its next one. A chain begins at the first level that it does not share.
// By then, the stacks of its callers are made.
void StackCounter::InternStacks(const ChainBatch& batch) {
  const std::vector<ChainBatch::NewChain>& chains = batch.chains;
  stack_after_.resize(batch.frames.size());
  first_at_level_.clear();
  next_at_level_.assign(chains.size(), kNone);
  for (uint32_t i = static_cast<uint32_t>(chains.size()); i-- > 0;) {
    const ChainBatch::NewChain& chain = chains[i];
    if (chain.process >= last_.size()) last_.resize(chain.process + 1);
    if (chain.shared >= first_at_level_.size()) first_at_level_.resize(chain.shared + 1, kNone);
    next_at_level_[i] = std::exchange(first_at_level_[chain.shared], i);
  }
  growing_.clear();
  for (uint32_t level = 0; level < first_at_level_.size() || !growing_.empty(); ++level) {
    uint32_t begins = level < first_at_level_.size() ? first_at_level_[level] : kNone;
    for (; begins != kNone; begins = next_at_level_[begins]) {
      const ChainBatch::NewChain& chain = chains[begins];
      const StackId callers = SharedStack(batch, chain);
      stacks_.Prefetch(callers, batch.frames[chain.first]);
      growing_.push_back({callers, chain.first, chain.first + chain.size});
    }
    size_t left = 0;  // chains that have more levels
    for (Growing chain : growing_) {
      chain.callers = stacks_.Intern(chain.callers, batch.frames[chain.at], level + 1);
      stack_after_[chain.at] = chain.callers;
      if (++chain.at == chain.end) continue;
      stacks_.Prefetch(chain.callers, batch.frames[chain.at]);
      growing_[left++] = chain;
    }
    growing_.resize(left);
  }
  for (const ChainBatch::NewChain& chain : chains) {
    known_.push_back({.stack = stack_after_[chain.first + chain.size - 1]});
  }
}

// Keeps the stacks of each process's last chain for the next batches.
void StackCounter::RememberLast(const ChainBatch& batch) {
  const std::vector<ChainBatch::NewChain>& chains = batch.chains;
  for (uint32_t i = 0; i < chains.size(); ++i) last_[chains[i].process].in_batch = i;
  for (uint32_t i = 0; i < chains.size(); ++i) {
    LastChain& last = last_[chains[i].process];
    if (last.in_batch != i) continue;
    last.in_batch = kNone;
    last.stacks.resize(chains[i].shared + chains[i].size);
    size_t end = last.stacks.size();  // entries before it are still to be set
    for (uint32_t at = i; at != kNone; at = chains[at].source) {
      const ChainBatch::NewChain& chain = chains[at];
      std::copy_n(stack_after_.begin() + chain.first, end - chain.shared,
                  last.stacks.begin() + chain.shared);
      end = chain.shared;
    }
  }
}

void StackCounter::CountSamples(ChainBatch& batch) {
  constexpr size_t kAtOnce = 32;
  for (size_t from = 0; from < batch.samples.size(); from += kAtOnce) {
    const size_t end = std::min(from + kAtOnce, batch.samples.size());
    for (size_t i = end; i < std::min(end + kAtOnce, batch.samples.size()); ++i) {
      __builtin_prefetch(&known_[batch.chain_of[i]], 1);
    }
    hints_.clear();
    for (size_t i = from; i < end; ++i) {
      KnownChain& known = known_[batch.chain_of[i]];
      batch.samples[i].stack = known.stack;
      hints_.push_back(&known.row);
    }
    if (!options_.keep_rows) continue;
    const auto samples = std::span(batch.samples).subspan(from, end - from);
    const std::span<const uint32_t> rows = rows_.Add(samples, hints_);
    if (!options_.keep_order) continue;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples[i].count == 0)
        continue;  // the second row of a sample, which has two (kOthersRan)
      profile_.order.push_back(
          {.row = rows[i], .stream = StreamOf(samples[i].cpu, samples[i].thread)});
    }
  }
}

}  // namespace profiler::profile
