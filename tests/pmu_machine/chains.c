// Call chains of C, to be recorded in the machine. Functions are named after their role.
//
//   chains recursion N    N times Work in the ninth frame of Descend
//   chains sort N         N times qsort, whose callback is Compare
//   chains signals N      N signals; Handler calls Work
//   chains leaves N       N times Leaf, which has no frame, called by Caller
//   chains vectors N      N times Work, called by a function that keeps SVE vectors on its stack;
//                         exits with 77 if there is no SVE

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FUNCTION __attribute__((noinline, noclone, noipa))

volatile uint64_t sink;

FUNCTION uint64_t Leaf(uint64_t rounds) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

// Has a frame, and calls a leaf.
FUNCTION void Caller(uint64_t rounds) {
  sink = Leaf(rounds);
  sink = Leaf(rounds / 2);
}

FUNCTION void Work(uint64_t rounds) {
  volatile uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) x = x * 3 + 1;
  Caller(rounds);
  sink = x;
}

FUNCTION uint64_t Descend(int depth) {
  if (depth == 0) {
    Work(20000);
    return 1;
  }
  // The compiler would turn a mere sum into a loop.
  uint64_t inner = Descend(depth - 1);
  __asm__ volatile("" : "+r"(inner));
  return inner + (uint64_t)depth;
}

FUNCTION int Compare(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left, b = *(const uint32_t*)right;
  sink = Leaf(20);
  return a < b ? -1 : a > b;
}

FUNCTION void Sort(void) {
  static uint32_t numbers[1000];
  uint32_t x = 1;
  for (int i = 0; i < 1000; ++i) numbers[i] = x = x * 1664525 + 1013904223;
  qsort(numbers, 1000, sizeof(numbers[0]), Compare);
  sink = numbers[0];
}

FUNCTION void Handler(int signal) {
  (void)signal;
  Work(20000);
  sink = sink + 1;
}

FUNCTION void Interrupted(void) {
  raise(SIGUSR1);
  sink = sink + 1;
}

#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
// A callee with vector arguments must preserve z8 … z23, so it reserves vectors on its stack.
FUNCTION svuint64_t KeepsVectors(svuint64_t values) {
  Work(20000);
  return svadd_u64_x(svptrue_b64(), values, svdup_u64(1));
}
static int Vectors(int rounds) {
  if ((getauxval(AT_HWCAP) & (1 << 22)) == 0) return 77;
  svuint64_t values = svdup_u64(1);
  for (int i = 0; i < rounds; ++i) values = KeepsVectors(values);
  sink = svaddv_u64(svptrue_b64(), values);
  return 0;
}
#else
static int Vectors(int rounds) {
  (void)rounds;
  return 77;
}
#endif

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int rounds = atoi(argv[2]);
  const char* what = argv[1];
  if (strcmp(what, "vectors") == 0) return Vectors(rounds);
  signal(SIGUSR1, Handler);
  for (int i = 0; i < rounds; ++i) {
    if (strcmp(what, "recursion") == 0) {
      sink = Descend(8);
    } else if (strcmp(what, "sort") == 0) {
      Sort();
    } else if (strcmp(what, "signals") == 0) {
      Interrupted();
    } else if (strcmp(what, "leaves") == 0) {
      Caller(20000);
    } else {
      return 2;
    }
  }
  return 0;
}
