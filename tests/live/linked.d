// Like linked.cc, in D: delegates, exceptions, and a thread.
import core.stdc.time;
import core.thread;
import std.algorithm;
import std.array;
import std.format;

__gshared uint sink;

pragma(inline, false) extern (C) uint hot_loop(uint value) {
  foreach (i; 0 .. 5000) {
    value = value * 1664525 + 1013904223;
    sink = value;
  }
  return value;
}

pragma(inline, false) extern (C) uint descend(uint depth) {
  uint[10] room;
  room[depth % 10] = depth;
  if (depth == 0) return hot_loop(1);
  return descend(depth - 1) + room[depth % 10];
}

pragma(inline, false) extern (C) bool is_before(uint a, uint b) {
  foreach (i; 0 .. 20) {
    a ^= a << 5;
    b ^= b << 5;
    sink = a;
  }
  return a < b;
}

pragma(inline, false) extern (C) void sort_by_callback(uint seed) {
  auto keys = new uint[500];
  foreach (i, ref key; keys) key = cast(uint) i * seed;
  sort!((a, b) => is_before(a, b))(keys);
  sink += keys[0];
}

pragma(inline, false) extern (C) uint throw_from(uint depth) {
  if (depth == 0) throw new Exception("deep");
  return hot_loop(throw_from(depth - 1));
}

pragma(inline, false) extern (C) void throw_and_catch() {
  try {
    sink += throw_from(5);
  } catch (Exception e) {
    sink += hot_loop(3);
  }
}

pragma(inline, false) extern (C) void run_once(uint value) {
  foreach (i; 0 .. 10) sink += descend(20);
  sort_by_callback(value | 1);
  throw_and_catch();
  sink += format("%s %s", value, value * 1.5).length;
}

// The threads work until the process has used a second of CPU time.
void work() {
  for (uint i = 0; clock() < CLOCKS_PER_SEC; ++i) run_once(i);
}

void main() {
  auto other = new Thread(&work);
  other.start();
  work();
  other.join();
}
