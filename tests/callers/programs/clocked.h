// Spends a given CPU time, for the C and C++ programs of this folder. The programs define FRAME,
// the frame size in bytes of the function that all callers share.

#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define ALONE __attribute__((noinline, unused))
#else
#define ALONE __attribute__((noipa, unused))
#endif
// Follows a call, so that the compiler does not turn it into a jump.
#define STAY __asm__ volatile("" ::: "memory")

#ifndef FRAME
#define FRAME 100
#endif
// Registers and the return address take the rest of the frame.
enum { kPad = FRAME > 48 ? FRAME - 32 : 16 };

static double turns_per_ns;

// Each turn depends on the turn before, and all values stay in registers. So the time of a turn
// does not depend on earlier code. The speed of loops through memory depends on CPU predictions.
ALONE static void spin(long turns) {
  unsigned long value = 1;
  for (long i = 0; i < turns; i++) {
    value = value * 3 + 1;
    __asm__ volatile("" : "+r"(value));
  }
}

// CPU time of the thread in ns.
ALONE static long cpu_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

ALONE static void calibrate(void) {
  const long kTurns = 2000000;
  const long start = cpu_now();
  spin(kTurns);
  turns_per_ns = (double)kTurns / (double)(cpu_now() - start);
  STAY;
}

// Counts turns of a loop for short times, because reading a clock takes about as long.
ALONE static void leaf(long ns) {
  const long kShort = 1000000, kBetweenLooks = 20000;
  if (ns < kShort) {
    spin((long)((double)ns * turns_per_ns));
    STAY;
    return;
  }
  for (const long end = cpu_now() + ns; cpu_now() < end;) {
    spin((long)((double)kBetweenLooks * turns_per_ns));
  }
  STAY;
}

// Waits until the recorder is ready: until nobody writes to the FIFO that CALLERS_WAIT names.
static void wait_for_recorder(void) {
  const char* const path = getenv("CALLERS_WAIT");
  if (path == NULL) return;
  FILE* const fifo = fopen(path, "r");
  if (fifo == NULL) exit(2);
  while (fgetc(fifo) != EOF) {
  }
  fclose(fifo);
}

// Returns the length of the next cycle's calls in ns. A cycle is four calls of that length: three
// of alpha, one of beta. So the caller changes every two lengths on average. Lengths are random
// from cycle to cycle, so that no sampling rate fits them; the first one makes a cycle of 1.5
// changes.
ALONE static long next_length(long changes_every_ns) {
  static __thread unsigned state = 1u << 30;
  const double part = 0.5 + (double)state / 4294967296.0;
  state = state * 1664525u + 1013904223u;
  return (long)((double)changes_every_ns / 2 * part);
}
