#!/usr/bin/env python3
"""Compares a recording's hot JavaScript functions with those of node's own profiler for the same run.

    compare_node_prof.py PROFILER [NODE-OPTION]     (--perf-prof or --perf-basic-prof; the first is the default)

node's profiler counts ticks of a CPU-time clock; ours samples by another clock. So both are compared in CPU seconds.
Prints one line per function, and fails if ours has less than 95 % of node's seconds.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sum(a) { let s = 0; for (let i = 0; i < a.length; i++) s += a[i] * 3; return s; }
class Tree {
  insert(key) {
    if (key < this.key) this.left ? this.left.insert(key) : (this.left = new Tree(key));
    else this.right ? this.right.insert(key) : (this.right = new Tree(key));
  }
  constructor(key) { this.key = key; this.left = this.right = null; }
}
function sieve(n) {
  const composite = new Uint8Array(n);
  let primes = 0;
  for (let i = 2; i < n; i++) {
    if (composite[i]) continue;
    primes++;
    for (let j = i * 2; j < n; j += i) composite[j] = 1;
  }
  return primes;
}
function plant() {
  const tree = new Tree(500);
  for (let i = 0, key = 1; i < 2000; i++, key = key * 7919 % 100003) tree.insert(key);
}
const numbers = new Float64Array(50000).fill(1.5);
let x = 0;
const began = process.cpuUsage().user;
while (process.cpuUsage().user - began < 6e6) {
  for (let i = 0; i < 20; i++) { x += fib(16); x += sum(numbers); x += sieve(20000); }
  plant();
}
"""
FREQUENCY = 2000
FEWEST_TICKS = 200  # fewest ticks of a compared function; keeps noise below 8 %


def function_of(symbol):
    """Returns the name without its kind: "fib" for "JS:*fib /x.js:1:2" and "JS: *fib /x.js:1:2". Code outside of
    functions has no name, or is <anonymous>."""
    found = re.match(r"(?:JS|Function|LazyCompile|Script|Builtin):\s*[~*^+]*(\S*) .*:\d+:\d+", symbol)
    return (found.group(1) or "<anonymous>") if found else None


def seconds_of_node(log):
    text = subprocess.run(["node", "--prof-process", log], capture_output=True, text=True, check=True).stdout
    javascript = text.split("[JavaScript]:", 1)[1].split("[C++]:", 1)[0]
    seconds = collections.Counter()
    for ticks, symbol in re.findall(r"^\s+(\d+)\s+\S+%\s+\S+%\s+(.*)$", javascript, re.M):
        name = function_of(symbol)
        if name and int(ticks) >= FEWEST_TICKS:
            seconds[name] += int(ticks) / 1000
    return seconds


def seconds_of_ours(profiler, recording):
    text = subprocess.run([profiler, "report", "-i", recording, "-g", "none", "--no-children", "-n", "-s", "symbol"],
                          capture_output=True, text=True, check=True).stdout
    seconds = collections.Counter()
    for samples, symbol in re.findall(r"^\s+\S+%\s+(\d+)\s+\[\.\] (.*?)\s*$", text, re.M):
        name = function_of(symbol)
        if name:
            seconds[name] += int(samples) / FREQUENCY
    return seconds


def main():
    profiler = os.path.abspath(sys.argv[1])
    option = sys.argv[2] if len(sys.argv) > 2 else "--perf-prof"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("program.js", "w") as file:
            file.write(PROGRAM)
        subprocess.run([profiler, "record", "-q", "-F", str(FREQUENCY), "-o", "recording", "--",
                        "node", option, "--prof", "program.js"], check=True)
        node = seconds_of_node(glob.glob("isolate*.log")[0])
        ours = seconds_of_ours(profiler, "recording")
    failed = not node
    print(f"{'function':20} {'node':>8} {'ours':>8}")
    for name, seconds in node.most_common():
        share = ours[name] / seconds
        failed |= share < 0.95
        print(f"{name:20} {seconds:7.3f}s {ours[name]:7.3f}s  {share:.1%}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
