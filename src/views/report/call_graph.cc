#include "src/views/report/call_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace profiler::report {

using profile::Row;
using symbolize::ImageKind;

namespace {

constexpr uint32_t kNone = 0xffffffff;

bool PartsByOwnWeight(CallGraphType type) {
  return type == CallGraphType::kFlat || type == CallGraphType::kFolded;
}

}  // namespace

void CallGraph::SparseWeights::Add(NodeId node, const Weight& weight) {
  if (slots_[node] == 0) {
    weights_.emplace_back();
    nodes_.push_back(node);
    slots_[node] = static_cast<uint32_t>(weights_.size());
  }
  weights_[slots_[node] - 1] += weight;
}

void CallGraph::SparseWeights::Clear() {
  for (const NodeId node : nodes_) slots_[node] = 0;
  nodes_.clear();
  weights_.clear();
}

CallGraph::CallGraph(const Histogram& hist, const CallGraphOptions& options)
    : hist_(hist),
      stacks_(hist),
      trie_(stacks_.trie()),
      options_(options),
      whole_(trie_.size()),
      excluded_(trie_.size()),
      branch_of_key_(hist.functions().chain_keys() + 1, kNone),
      point_of_node_(hist.options().order == ChainOrder::kCallee ? trie_.size() : 0, kNone) {
  key_of_function_.reserve(hist.functions().size());
  for (FunctionId id = 0; id < hist.functions().size(); ++id) {
    key_of_function_.push_back(hist.functions()[id].chain_key);
  }
  key_of_function_.push_back(hist.functions().chain_keys());  // key of hist_.others()
  min_period_ =
      static_cast<uint64_t>(static_cast<double>(hist.total().period) * (*options.threshold / 100));
}

ChainTree CallGraph::Build(size_t row) {
  const bool callers = hist_.options().order == ChainOrder::kCaller;
  HugeVector<ChainPoint> start = callers ? StartCallers(row) : StartCallees(row);
  ChainTree tree(1);
  for (const ChainPoint& point : start) tree[0].total += point.weight;
  Grow(tree, std::move(start));
  whole_.Clear();
  excluded_.Clear();
  return tree;
}

CallGraph::ChainPoint CallGraph::PointAt(NodeId node, const Weight& weight, bool whole,
                                         uint32_t frames) const {
  const TrieNode& at = trie_[node];
  return {.node = node,
          .first_child = at.first_child,
          .key = key_of_function_[at.code],
          .whole = whole,
          .frames = frames,
          .weight = weight};
}

// Returns the starting points in caller order, in which graphs follow the trie downwards. Whole
// chains start below the group's root. Other chains start at the function's outermost points.
HugeVector<CallGraph::ChainPoint> CallGraph::StartCallers(size_t row) {
  SplitOwnChains(row);
  HugeVector<ChainPoint> points;
  for (const NodeId node : whole_.nodes()) {
    if (trie_.IsRoot(trie_[node].parent)) {
      points.push_back(PointAt(node, whole_[node], true));
    }
  }
  if (!hist_.options().children) return points;
  for (const NodeId node : stacks_.NodesOf(row)) {
    if (trie_.IsNested(node)) continue;
    const Weight weight = trie_[node].weight - excluded_[node];
    if (weight.count != 0) points.push_back(PointAt(node, weight));
  }
  return points;
}

// Returns the starting points in callee order, in which graphs follow the trie upwards. The chains
// of the row's own samples start at their leaves. Other chains start at the function's innermost
// points.
HugeVector<CallGraph::ChainPoint> CallGraph::StartCallees(size_t row) {
  HugeVector<ChainPoint> points;
  const uint32_t bucket = hist_.BucketOfRow(row);
  for (const uint32_t id : stacks_.SamplesOf(row)) {
    const Row& sample = hist_.profile().rows[id];
    const Weight weight = WeightOf(sample);
    const NodeId leaf = stacks_.LeafOf(id);
    points.push_back(PointAt(leaf, weight));
    const NodeId innermost = InnermostOf(bucket, leaf);
    if (innermost != kNoNode) excluded_.Add(innermost, weight);
  }
  if (hist_.options().children) {
    for (const NodeId node : stacks_.NodesOf(row)) {
      const NodeId above = SameAbove(node);
      if (above != kNoNode) excluded_.Add(above, trie_[node].weight);
    }
    for (const NodeId node : stacks_.NodesOf(row)) {
      const Weight weight = trie_[node].weight - excluded_[node];
      if (weight.count != 0) points.push_back(PointAt(node, weight));
    }
  }
  MergeSamePoints(points);
  return points;
}

// Separates the chains of samples that interrupted the function itself. Their whole chains are
// shown, and they do not count a second time as chains that start at the function. If a whole chain
// starts with the function, both are the same, so it is not separated.
void CallGraph::SplitOwnChains(size_t row) {
  const uint32_t bucket = hist_.BucketOfRow(row);
  // The whole chains together weigh as much as the row's own samples.
  const bool show_whole =
      options_.type == CallGraphType::kFractal || hist_.rows()[row].self.period >= min_period_;
  for (const uint32_t id : stacks_.SamplesOf(row)) {
    const Row& sample = hist_.profile().rows[id];
    const Weight weight = WeightOf(sample);
    const NodeId leaf = stacks_.LeafOf(id);
    if (hist_.options().children) {
      NodeId outermost = InnermostOf(bucket, leaf);
      if (outermost != kNoNode) {
        while (trie_.IsNested(outermost)) outermost = SameAbove(outermost);
        const NodeId end = trie_[outermost].parent;
        if (trie_.IsRoot(end)) continue;
        for (NodeId node = leaf; node != end; node = trie_[node].parent) {
          excluded_.Add(node, weight);
        }
      }
    }
    if (show_whole) whole_.Add(leaf, weight);
  }
  SumWholeChains();
}

// Adds the weight of each whole chain, which its leaf has, to all nodes above the leaf.
void CallGraph::SumWholeChains() {
  std::vector<std::pair<NodeId, Weight>> ends;
  for (const NodeId node : whole_.nodes()) ends.emplace_back(node, whole_[node]);
  for (const auto& [end, weight] : ends) {
    for (NodeId node = trie_[end].parent; !trie_.IsRoot(node); node = trie_[node].parent) {
      whole_.Add(node, weight);
    }
  }
}

NodeId CallGraph::InnermostOf(uint32_t bucket, NodeId node) const {
  for (; !trie_.IsRoot(node); node = trie_[node].parent) {
    if (hist_.BucketOf(trie_[node].code) == bucket) return node;
  }
  return kNoNode;
}

// Returns the nearest node above `node` whose function has the same bucket; kNoNode if none has.
NodeId CallGraph::SameAbove(NodeId node) const {
  if (!trie_.IsNested(node)) return kNoNode;
  return InnermostOf(hist_.BucketOf(trie_[node].code), trie_[node].parent);
}

void CallGraph::ForEachNext(const ChainPoint& point, auto&& visit) const {
  if (hist_.options().order == ChainOrder::kCallee) {
    const TrieNode& node = trie_[point.node];
    // Functions inlined at one address belong to one frame.
    const bool frame_ends = !hist_.functions()[node.code].inlined;
    const uint32_t frames = point.frames + (frame_ends ? 1 : 0);
    if (!trie_.IsRoot(node.parent) && frames < hist_.options().max_stack) {
      visit(PointAt(node.parent, point.weight, false, frames));
    }
    return;
  }
  for (NodeId child = point.first_child; child != kNoNode; child = trie_[child].next_sibling) {
    const Weight weight = point.whole ? whole_[child] : trie_[child].weight - excluded_[child];
    if (weight.count != 0) visit(PointAt(child, weight, point.whole));
  }
}

HugeVector<CallGraph::ChainPoint> CallGraph::NextPoints(std::span<const ChainPoint> points) const {
  constexpr size_t kAhead = 8;
  HugeVector<ChainPoint> next;
  next.reserve(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    if (i + kAhead < points.size() && points[i + kAhead].first_child != kNoNode) {
      __builtin_prefetch(&trie_[points[i + kAhead].first_child]);
    }
    ForEachNext(points[i], [&](const ChainPoint& at) { next.push_back(at); });
  }
  return next;
}

uint64_t CallGraph::MinPeriod(const ChainNode& node) const {
  if (options_.type != CallGraphType::kFractal) return min_period_;
  return static_cast<uint64_t>(
      std::ceil(static_cast<double>(node.below.period) * (*options_.threshold / 100)));
}

// Builds everything below the root that can be shown, from the points `start`.
void CallGraph::Grow(ChainTree& tree, HugeVector<ChainPoint> start) {
  std::vector<Unfinished> unfinished;
  unfinished.push_back({0, std::move(start)});
  while (!unfinished.empty()) {
    const size_t parent = unfinished.back().node;
    Parts parts = LengthenPath(tree[parent], std::move(unfinished.back().points));
    unfinished.pop_back();
    for (const size_t part : OrderOf(parts.children)) {
      const size_t child = tree.size();
      tree[parent].children.push_back(child);
      tree.push_back(std::move(parts.children[part]));
      tree[child].parent = parent;
      unfinished.push_back({child, std::move(parts.points[part])});
    }
  }
}

// Extends the node's path, which ends at `points`, as long as there is only one branch. Returns the
// branches at the end of the path.
CallGraph::Parts CallGraph::LengthenPath(ChainNode& node, HugeVector<ChainPoint> points) {
  HugeVector<ChainPoint> next = node.path.empty() ? std::move(points) : NextPoints(points);
  points = {};
  while (true) {
    node.below = {};
    Parts parts = Part(next, node);
    const bool one_branch =
        parts.children.size() == 1 && parts.children[0].total == node.total && !node.path.empty();
    if (!one_branch) return parts;
    node.path.push_back(parts.children[0].path[0]);
    next = NextPoints(parts.points[0]);
  }
}

// Makes a child for each function at `points` that is heavy enough. `points` directly follow the
// path of `node`.
CallGraph::Parts CallGraph::Part(std::span<const ChainPoint> points, ChainNode& node) {
  std::vector<Branch> branches;
  branch_of_point_.clear();
  for (const ChainPoint& point : points) {
    uint32_t& branch = branch_of_key_[point.key];
    if (branch == kNone) {
      branch = static_cast<uint32_t>(branches.size());
      branches.push_back({.function = trie_[point.node].code});
    }
    branch_of_point_.push_back(branch);
    branches[branch].weight += point.weight;
    node.below += point.weight;
  }

  const uint64_t min_period = MinPeriod(node);
  Parts parts;
  for (Branch& branch : branches) {
    branch.next = kNone;
    if (branch.weight.period < min_period || branch.function == hist_.others()) continue;
    branch.next = parts.children.size();
    parts.children.push_back({.path = {branch.function}, .total = branch.weight});
  }
  parts.points.resize(parts.children.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const Branch& branch = branches[branch_of_point_[i]];
    if (branch.next != kNone) parts.points[branch.next].push_back(points[i]);
  }
  for (const Branch& branch : branches) {
    branch_of_key_[key_of_function_[branch.function]] = kNone;
  }
  if (hist_.options().order == ChainOrder::kCallee) {
    for (HugeVector<ChainPoint>& part : parts.points) MergeSamePoints(part);
  }
  return parts;
}

void CallGraph::MergeSamePoints(HugeVector<ChainPoint>& points) {
  size_t kept = 0;
  for (const ChainPoint& point : points) {
    uint32_t& index = point_of_node_[point.node];
    if (index == kNone) {
      index = static_cast<uint32_t>(kept);
      points[kept++] = point;
    } else {
      points[index].weight += point.weight;
    }
  }
  points.resize(kept);
  for (const ChainPoint& point : points) point_of_node_[point.node] = kNone;
}

std::vector<size_t> CallGraph::OrderOf(std::span<const ChainNode> children) const {
  const bool by_weight = !PartsByOwnWeight(options_.type);
  std::vector<size_t> order(children.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    const ChainNode &a = children[left], &b = children[right];
    if (by_weight && a.total.period != b.total.period) return a.total.period > b.total.period;
    return StoredBefore(a.path[0], b.path[0]);
  });
  return order;
}

// True if perf stores branch `a` before `b`, before it sorts by weight: higher addresses first.
// perf orders branches of different DSOs by addresses in its own memory, which are unknown here;
// the order of first use is close to that. perf compares inlined functions with others by name,
// which is no consistent order together with addresses; so inlined functions come last here.
bool CallGraph::StoredBefore(FunctionId a, FunctionId b) const {
  const Function& left = hist_.functions()[a];
  const Function& right = hist_.functions()[b];
  if (left.inlined != right.inlined) return right.inlined;
  if (left.inlined) {
    const auto order = hist_.profile().text(left.name).compare(hist_.profile().text(right.name));
    if (order != 0) return order > 0;
  }
  const bool left_unknown = hist_.profile()[left.image].kind == ImageKind::kUnknown;
  const bool right_unknown = hist_.profile()[right.image].kind == ImageKind::kUnknown;
  if (left_unknown != right_unknown) return right_unknown;
  if (left.image != right.image) return left.image > right.image;
  if (left.address != right.address) return left.address > right.address;
  return a < b;
}

}  // namespace profiler::report
