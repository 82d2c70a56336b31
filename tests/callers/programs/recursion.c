// recursion DEPTH CHANGES_EVERY_NS SECONDS: alpha and beta call the same recursive function at the
// same stack position, alpha three times as often.

#include "clocked.h"

ALONE void deep(int left, long ns) {
  volatile char frame[kPad];
  frame[0] = frame[kPad - 1] = (char)left;
  if (left == 0) {
    leaf(ns);
  } else {
    deep(left - 1, ns);
  }
  frame[0] = 1;
}

ALONE void alpha(int calls, int depth, long ns) {
  for (int i = 0; i < calls; i++) deep(depth - 1, ns);
  STAY;
}

ALONE void beta(int calls, int depth, long ns) {
  for (int i = 0; i < calls; i++) deep(depth - 1, ns);
  STAY;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int depth = atoi(argv[1]);
  const long changes = atol(argv[2]);
  calibrate();
  wait_for_recorder();
  const long end = cpu_now() + (long)(atof(argv[3]) * 1e9);
  const long between_looks = changes < 100000 ? 64 : 1;
  do {
    for (long i = 0; i < between_looks; i++) {
      const long ns = next_length(changes);
      alpha(3, depth, ns);
      beta(1, depth, ns);
    }
  } while (cpu_now() < end);
  return 0;
}
