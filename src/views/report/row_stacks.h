// The stacks of a histogram's rows as a trie, from which call graphs are built. It takes as long as
// the histogram, so views make it when they draw the first graph.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/analysis/stack_trie.h"
#include "src/base/huge_vector.h"
#include "src/views/report/hist.h"

namespace profiler::report {

using analysis::kNoNode;
using analysis::NodeId;
using analysis::StackTrie;
using analysis::TrieNode;

// The trie of all rows that may have call graphs. Reading is thread-safe.
class RowStacks {
 public:
  // `hist` must have been made with HistOptions::chains.
  explicit RowStacks(const Histogram& hist);

  const StackTrie& trie() const { return trie_; }
  // Returns the trie nodes of a row's functions, in no particular order. `row` must be one for
  // which Histogram::MayHaveChains is true.
  std::span<const NodeId> NodesOf(size_t row) const { return nodes_by_row_.at(row); }
  // Returns the row's own samples, as indices into the profile's rows.
  std::span<const uint32_t> SamplesOf(size_t row) const { return samples_by_row_.at(row); }
  // Returns the trie leaf of a sample's chain. `sample` must be one that SamplesOf returns.
  NodeId LeafOf(uint32_t sample) const { return leaf_[sample]; }

 private:
  class Builder;

  // The items of each row, all in one array.
  struct Index {
    HugeVector<uint32_t> first;
    HugeVector<uint32_t> items;

    // `row_of[item]` is the row of an item; kNone: the item belongs to no row.
    Index(const HugeVector<uint32_t>& row_of, size_t rows);
    Index() = default;

    std::span<const uint32_t> at(size_t row) const {
      return std::span(items).subspan(first[row], first[row + 1] - first[row]);
    }
  };

  StackTrie trie_;
  HugeVector<NodeId> leaf_;  // [sample]: trie leaf of its chain
  Index nodes_by_row_;
  Index samples_by_row_;
};

}  // namespace profiler::report
