# Like linked.cc, in Nim, which is compiled to C.
import std/[algorithm, strformat, times]

var sink {.volatile.}: uint32

proc hot_loop(value: uint32): uint32 {.exportc, noinline.} =
  result = value
  for i in 0'u32 ..< 5000:
    result = result * 1664525 + i
    sink = result

proc descend(depth: uint32): uint32 {.exportc, noinline.} =
  if depth == 0: return hot_loop(1)
  result = descend(depth - 1) + depth
  sink = result

proc compare_keys(a, b: uint32): int {.exportc, noinline.} =
  var (x, y) = (a, b)
  for i in 0 ..< 20:
    x = x xor (x shl 5)
    y = y xor (y shl 5)
    sink = x
  cmp(x, y)

proc sort_by_callback(seed: uint32) {.exportc, noinline.} =
  var keys = newSeq[uint32](500)
  for i in 0'u32 ..< 500: keys[i] = i * seed
  keys.sort(proc(a, b: uint32): int = compare_keys(a, b))
  sink += keys[0]

proc throw_from(depth: int): uint32 {.exportc, noinline.} =
  if depth == 0: raise newException(ValueError, "deep")
  result = hot_loop(throw_from(depth - 1))

proc throw_and_catch() {.exportc, noinline.} =
  try: sink += throw_from(5)
  except ValueError: sink += hot_loop(3)

proc run_once(value: uint32) {.exportc, noinline.} =
  sink += descend(20)
  sort_by_callback(value or 1)
  throw_and_catch()
  sink += uint32(len(fmt"{value} {float(value)}"))

var value = 1'u32
while cpuTime() < 0.5:
  run_once(value)
  inc value
