// Computes for some seconds of CPU time: three quarters of it in heavy, a quarter in light. A
// recursive function calls heavy and light through qsort(3).
//
//   main ──▶ descend ──▶ … ──▶ descend ──▶ qsort ──▶ … ──▶ compare ──▶ heavy, light

#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sink = 1;

APART static unsigned long heavy(unsigned long rounds) {
  unsigned long sum = rounds;
  for (unsigned long i = 0; i < rounds; ++i) sum = sum * 6364136223846793005ul + i;
  return sum;
}

APART static unsigned long light(unsigned long rounds) {
  unsigned long sum = ~rounds;
  for (unsigned long i = 0; i < rounds; ++i) sum = sum * 6364136223846793005ul + i;
  return sum;
}

APART static int compare(const void *one, const void *other) {
  sink += heavy(30000 + (sink & 1));
  sink += light(10000 + (sink & 1));
  return *(const int *)one - *(const int *)other;
}

APART static int descend(int levels) {
  int numbers[] = {2, 3, 1};
  if (levels > 0) return descend(levels - 1) + (int)(sink & 1);
  qsort(numbers, 3, sizeof(numbers[0]), compare);
  return numbers[0] + (int)(sink & 1);
}

int main(int count, char **arguments) {
  const double seconds = count > 1 ? strtod(arguments[1], NULL) : 1;
  while ((double)clock() < seconds * CLOCKS_PER_SEC) sink += (unsigned long)descend(10);
  return 0;
}
