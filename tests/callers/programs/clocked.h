// Spends a given CPU time, for the C and C++ programs of this folder. FRAME (bytes) is the size of
// the frames that the callers' common function has.

#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define ALONE __attribute__((noinline, unused))
#else
#define ALONE __attribute__((noipa, unused))
#endif
// Behind a call: keeps it from becoming a jump.
#define STAY __asm__ volatile("" ::: "memory")

#ifndef FRAME
#define FRAME 100
#endif
// Registers and the return address take the rest.
enum { kPad = FRAME > 48 ? FRAME - 32 : 16 };

static double turns_per_ns;

// Each turn waits for the one before, in registers: the time of a turn depends on nothing that ran
// before. Loops through memory are faster or slower by what the CPU has predicted of them.
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

// Short times are counted in turns of a loop, because a clock costs as much.
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

// A cycle is four calls of one length in ns: three of alpha, one of beta. So the caller changes
// every two lengths on average. Lengths are random from cycle to cycle, so that no sampling rate
// fits them; the first one makes a cycle of 1.5 changes.
ALONE static long next_length(long changes_every_ns) {
  static __thread unsigned state = 1u << 30;
  const double part = 0.5 + (double)state / 4294967296.0;
  state = state * 1664525u + 1013904223u;
  return (long)((double)changes_every_ns / 2 * part);
}
