// Call trees of the selection. Each box stands for a set of the data's nodes. A box's children are
// computed when they are first drawn, so even a tree of a million nodes costs only its visible
// part.
//
//   down   a box has nodes of one label; its children are the callees of these nodes, one box for
//          each label
//   up     a box has callers of one label. For each caller it also has the starting node (`starts`)
//          from which the caller was reached; a box weighs as much as these starting nodes. The
//          children of a box are the callers of its nodes.
//
// Weights are arrays with an element for each side: [all], or [before, after].

// Label of a root that stands for all nodes of one function, whatever their kinds.
export const kOneFunction = -2;
export const kEverything = -1;

export class Box {
  constructor(tree, parent, label, depth) {
    this.tree = tree;
    this.parent = parent;
    this.label = label;  // label of the box's nodes; kEverything and kOneFunction for roots
    this.depth = depth;
    this.nodes = [];
    this.weights = tree.sides.map(() => 0);
    this.found = null;
  }
  get children() {
    this.found ??= this.tree.childrenOf(this);
    return this.found;
  }
  // Returns the boxes from the root down to this one.
  get path() {
    const path = [];
    for (let box = this; box !== null; box = box.parent) path.unshift(box);
    return path;
  }
}

const byLabel = (a, b) => a.label - b.label;

class DownTree {
  constructor(data, sides, starts, label) {
    this.data = data;
    this.sides = sides;
    this.root = new Box(this, null, label, 0);
    for (const node of starts) this.add(this.root, node);
  }
  add(box, node) {
    box.nodes.push(node);
    this.sides.forEach((side, i) => (box.weights[i] += side.total[node]));
  }
  childrenOf(box) {
    const {end, label} = this.data.nodes;
    const [first, second = first] = this.sides;
    const children = new Map();
    for (const node of box.nodes) {
      for (let callee = node + 1; callee < end[node]; callee = end[callee]) {
        if (first.total[callee] === 0 && second.total[callee] === 0) continue;
        let child = children.get(label[callee]);
        if (child === undefined) {
          child = new Box(this, box, label[callee], box.depth + 1);
          children.set(label[callee], child);
        }
        this.add(child, callee);
      }
    }
    return [...children.values()].sort(byLabel);
  }
  samplesOf(box, side) {
    let sum = 0;
    for (const node of box.nodes) sum += this.sides[side].totalSamples[node];
    return sum;
  }
  selfOf(box, side) {
    let sum = 0;
    for (const node of box.nodes) sum += this.sides[side].self[node];
    return sum;
  }
}

class UpTree {
  // `counted` and `samples` name the members of a side that count for each start: 'self' or
  // 'total', and 'samples' or 'totalSamples'.
  constructor(data, sides, starts, counted, samples, label) {
    this.data = data;
    this.sides = sides;
    this.starts = starts;
    this.values = sides.map((side) => side[counted]);
    this.samples = samples;
    this.root = new Box(this, null, label, 0);
    // The root of everything has no nodes of its own: its children are the starts themselves.
    this.root.nodes = label === kEverything ? [] : starts;
    this.root.starts = starts;
    for (const start of starts) this.weigh(this.root, start);
  }
  weigh(box, start) {
    for (let side = 0; side < this.values.length; ++side) box.weights[side] += this.values[side][start];
  }
  // Returns the children. box.nodes[i] is a caller of box.starts[i].
  childrenOf(box) {
    const {parent, label} = this.data.nodes;
    const isFirst = box.label === kEverything;
    const children = new Map();
    for (let i = 0; i < box.starts.length; ++i) {
      const start = box.starts[i];
      const node = isFirst ? start : parent[box.nodes[i]];
      if (node === 0) continue;
      let child = children.get(label[node]);
      if (child === undefined) {
        child = new Box(this, box, label[node], box.depth + 1);
        child.starts = [];
        children.set(label[node], child);
      }
      child.nodes.push(node);
      child.starts.push(start);
      this.weigh(child, start);
    }
    return [...children.values()].sort(byLabel);
  }
  samplesOf(box, side) {
    const samples = this.sides[side][this.samples];
    let sum = 0;
    for (const start of box.starts) sum += samples[start];
    return sum;
  }
  // Returns the self part of a box: its whole weight for an interrupted function, and 0 for a
  // caller.
  selfOf(box, side) {
    return box.depth <= 1 ? box.weights[side] : 0;
  }
}

export function callTree(data, sides) {
  return new DownTree(data, sides, [0], kEverything).root;
}

// Returns the tree merged from the leaf: first the interrupted functions, then their callers.
export function leafTree(data, sides) {
  const starts = [];
  for (let node = 1; node < data.nodes.size; ++node) {
    if (sides.some((side) => side.self[node] > 0)) starts.push(node);
  }
  return new UpTree(data, sides, starts, 'self', 'samples', kEverything).root;
}

// Returns the function's nodes that are not below another one of its nodes.
function outermostOf(data, sides, func) {
  const {nodes, functions} = data;
  const isWanted = new Uint8Array(data.labels.size);
  for (const label of functions[func].labels) isWanted[label] = 1;
  const found = [];
  for (let node = 1; node < nodes.size; ++node) {
    if (isWanted[nodes.label[node]] === 1 && nodes.nested[node] === 0 &&
        sides.some((side) => side.total[node] > 0)) {
      found.push(node);
    }
  }
  return found;
}

export function calleeTree(data, sides, func) {
  return new DownTree(data, sides, outermostOf(data, sides, func), kOneFunction).root;
}

export function callerTree(data, sides, func) {
  return new UpTree(data, sides, outermostOf(data, sides, func), 'total', 'totalSamples', kOneFunction).root;
}
