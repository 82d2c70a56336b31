// A chain of functions that computes for a while. It uses no library, so it can be part of a
// program, a library, or a file that no dynamic linker has loaded.

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sink = 1;  // not 0, so that it is in the file and not in .bss

APART static unsigned long hot_loop(unsigned long rounds) {
  unsigned long sum = rounds;
  for (unsigned long i = 0; i < rounds; ++i) sum = sum * 6364136223846793005ul + i;
  return sum;
}

APART static unsigned long inner_level(unsigned long rounds) { return hot_loop(rounds) + 1; }

APART static unsigned long outer_level(unsigned long rounds) { return inner_level(rounds) + 1; }

// Computes for some milliseconds per round, for `hundreds` rounds.
unsigned long spin(unsigned long hundreds) {
  for (unsigned long i = 0; i < hundreds; ++i) sink += outer_level(5000000 + (sink & 1));
  return sink;
}
