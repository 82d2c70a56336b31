#include "src/views/page/bounds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/views/page/merged_rows.h"

namespace profiler::page {
namespace {

// Returns for each node the share of its subtree, summed over all events.
std::vector<double> SharesOf(const CallPaths& paths) {
  std::vector<double> shares(paths.nodes.size());
  for (const PathRow& row : paths.rows) {
    const uint64_t whole = std::max<uint64_t>(paths.events[row.event].period, 1);
    shares[row.path] += static_cast<double>(row.period) / static_cast<double>(whole);
  }
  // `open[depth]`: node at that depth on the path from the root to the previous node.
  std::vector<uint32_t> parents(paths.nodes.size()), open;
  for (uint32_t i = 0; i < paths.nodes.size(); ++i) {
    open.resize(paths.nodes[i].depth);
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  for (size_t i = paths.nodes.size(); i-- > 1;) shares[parents[i]] += shares[i];
  return shares;
}

// Removes labels that no node uses any more.
void DropUnusedLabels(CallPaths& paths) {
  std::vector<exports::LabelId> numbers(paths.labels.size(), exports::kNoLabel);
  for (const PathNode& node : paths.nodes) {
    if (node.label != exports::kNoLabel) numbers[node.label] = 0;
  }
  exports::LabelTable used;
  for (exports::LabelId label = 0; label < numbers.size(); ++label) {
    if (numbers[label] != exports::kNoLabel) numbers[label] = used.Intern(paths.labels[label]);
  }
  for (PathNode& node : paths.nodes) {
    if (node.label != exports::kNoLabel) node.label = numbers[node.label];
  }
  paths.labels = std::move(used);
}

uint64_t FoldLighter(double least_share, CallPaths& paths) {
  const std::vector<double> shares = SharesOf(paths);
  const exports::LabelId lighter =
      paths.labels.Intern({.name = kLighter, .image = {}, .kind = exports::CodeKind::kUnnamed});
  std::vector<PathNode> nodes;
  std::vector<uint32_t> numbers(paths.nodes.size());
  // kLighter comes after the heavier callees, which are sorted by their labels.
  for (uint32_t i = 0; i < paths.nodes.size(); ++i) {
    const bool is_light = i != 0 && shares[i] < least_share;
    if (!is_light) {
      numbers[i] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(paths.nodes[i]);
      continue;
    }
    const uint32_t depth = paths.nodes[i].depth;
    uint32_t end = i + 1;
    while (end < paths.nodes.size() && paths.nodes[end].depth > depth) ++end;
    // An earlier light sibling of this node may have added the node kLighter already.
    if (nodes.back().depth != depth || nodes.back().label != lighter) {
      nodes.push_back({depth, lighter});
    }
    for (; i < end; ++i) numbers[i] = static_cast<uint32_t>(nodes.size() - 1);
    --i;
  }
  paths.nodes = std::move(nodes);
  uint64_t folded = 0;
  for (PathRow& row : paths.rows) {
    row.path = numbers[row.path];
    if (paths.nodes[row.path].label == lighter) folded += row.count;
  }
  DropUnusedLabels(paths);
  return folded;
}

// Keeps the `most` heaviest threads and merges the others by side and name. Returns the number of
// merged threads.
size_t MergeThreads(size_t most, CallPaths& paths) {
  if (paths.threads.size() <= most) return 0;
  std::vector<uint64_t> samples(paths.threads.size());
  for (const PathRow& row : paths.rows) samples[row.thread] += row.count;
  std::vector<uint32_t> order(paths.threads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return samples[a] > samples[b]; });
  std::vector<bool> is_kept(paths.threads.size());
  for (size_t i = 0; i < most; ++i) is_kept[order[i]] = true;

  std::vector<PathThread> threads;
  std::vector<uint32_t> numbers(paths.threads.size());
  std::map<std::pair<uint32_t, std::string>, uint32_t> merged;  // keyed by side and name
  size_t count = 0;
  for (uint32_t i = 0; i < paths.threads.size(); ++i) {
    PathThread& thread = paths.threads[i];
    const auto next = static_cast<uint32_t>(threads.size());
    if (is_kept[i]) {
      numbers[i] = next;
      threads.push_back(std::move(thread));
      continue;
    }
    ++count;
    const auto [found, is_new] = merged.try_emplace({thread.side, thread.comm}, next);
    numbers[i] = found->second;
    if (is_new) {
      threads.push_back({.comm = thread.comm, .side = thread.side});
    } else {
      ++threads[found->second].threads;
    }
  }
  paths.threads = std::move(threads);
  for (PathRow& row : paths.rows) row.thread = numbers[row.thread];
  return count;
}

}  // namespace

Bounded Bound(const Bounds& bounds, CallPaths& paths) {
  Bounded bounded;
  if (bounds.least_share > 0) bounded.folded_samples = FoldLighter(bounds.least_share, paths);
  bounded.merged_threads = MergeThreads(bounds.most_threads, paths);
  for (PathRow& row : paths.rows) row.slice /= bounds.slice_divisor;
  const bool are_changed =
      bounds.least_share > 0 || bounded.merged_threads != 0 || bounds.slice_divisor != 1;
  if (are_changed) SortAndMergeRows(paths.rows);
  return bounded;
}

}  // namespace profiler::page
