// recursion DEPTH CHANGES_EVERY_NS SECONDS HOW: alpha and beta call the same recursive function at
// the same stack position, alpha three times as often. HOW: `plain` calls, `closure` calls a
// function that is created at each level, `async` recurses after an await.

'use strict';

let sink = 1;
let turnsPerNs = 0;

// Returns the CPU time of the process in ns. All work is done in one thread.
function cpuNow() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) * 1000;
}

function spin(turns) {
  let sum = sink;
  for (let i = 0; i < turns; i++) sum = (sum * 31 + i) % 1000003;
  sink = sum;
}

function leaf(ns) {
  if (ns < 1000000) {
    spin(ns * turnsPerNs);
    sink++;
    return;
  }
  for (const end = cpuNow() + ns; cpuNow() < end;) spin(20000 * turnsPerNs);
}

function deep(left, ns) {
  if (left === 0) {
    leaf(ns);
  } else {
    deep(left - 1, ns);
  }
  sink++;
}

function deepByClosure(left, ns) {
  const next = function () {
    if (left === 0) {
      leaf(ns);
    } else {
      deepByClosure(left - 1, ns);
    }
    sink++;
  };
  next();
  sink++;
}

let descend = deep;

function alpha(calls, depth, ns) {
  for (let i = 0; i < calls; i++) descend(depth - 1, ns);
  sink++;
}

function beta(calls, depth, ns) {
  for (let i = 0; i < calls; i++) descend(depth - 1, ns);
  sink++;
}

let state = 1 << 30;

function nextLength(changes) {
  const part = 0.5 + state / 4294967296;
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return changes / 2 * part;
}

function calibrate(depth) {
  for (let i = 0; i < 20000 / depth + 100; i++) {
    alpha(3, depth, 0);
    beta(1, depth, 0);
    spin(1000);
  }
  const turns = 5000000;
  const start = cpuNow();
  spin(turns);
  turnsPerNs = turns / (cpuNow() - start);
}

function run(depth, changes, seconds) {
  const end = cpuNow() + seconds * 1e9;
  const betweenLooks = changes < 100000 ? 64 : 1;
  do {
    for (let i = 0; i < betweenLooks; i++) {
      const ns = nextLength(changes);
      alpha(3, depth, ns);
      beta(1, depth, ns);
    }
  } while (cpuNow() < end);
}

async function alphaLater(depth, ns) {
  await null;
  alpha(3, depth, ns);
}

async function betaLater(depth, ns) {
  await null;
  beta(1, depth, ns);
}

async function runLater(depth, changes, seconds) {
  const end = cpuNow() + seconds * 1e9;
  do {
    const ns = nextLength(changes);
    await alphaLater(depth, ns);
    await betaLater(depth, ns);
  } while (cpuNow() < end);
}

const [depth, changes, seconds] = process.argv.slice(2, 5).map(Number);
const how = process.argv[5];
if (how === 'closure') descend = deepByClosure;
calibrate(depth);
if (process.env.CALLERS_WAIT) require('fs').readFileSync(process.env.CALLERS_WAIT);
if (how === 'async') {
  runLater(depth, changes, seconds);
} else {
  run(depth, changes, seconds);
}
