// Functions that spend a given CPU time, for the C and C++ programs of this folder. The programs
// define FRAME, the frame size in bytes of the function that alpha and beta both call.

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
// Size of the array in a frame, in bytes. Saved registers and the return address take the other
// bytes of the frame.
enum { kPad = FRAME > 48 ? FRAME - 32 : 16 };

static double turns_per_ns;

// Each turn uses the result of the previous turn, and all values stay in registers. So the time of
// a turn does not depend on earlier code. The speed of loops through memory depends on CPU
// predictions.
ALONE static void spin(long turns) {
  unsigned long value = 1;
  for (long i = 0; i < turns; i++) {
    value = value * 3 + 1;
    __asm__ volatile("" : "+r"(value));
  }
}

// Returns the thread's CPU time in ns.
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

// Spins for `ns` of CPU time. Short times are counted in turns of the loop, because reading the
// clock could take longer than the shortest times.
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

// Waits until the recorder is ready. It is ready when the last writer of the FIFO named by
// CALLERS_WAIT closes it.
static void wait_for_recorder(void) {
  const char* const path = getenv("CALLERS_WAIT");
  if (path == NULL) return;
  FILE* const fifo = fopen(path, "r");
  if (fifo == NULL) exit(2);
  while (fgetc(fifo) != EOF) {
  }
  fclose(fifo);
}

// Returns the length in ns of each call of the next cycle. A cycle has four calls: three by alpha
// and one by beta. So the caller changes every two calls on average. The length is random for each
// cycle, so no sampling rate is in step with the calls. The first cycle lasts 1.5 *
// `changes_every_ns`.
ALONE static long next_length(long changes_every_ns) {
  static __thread unsigned state = 1u << 30;
  const double part = 0.5 + (double)state / 4294967296.0;
  state = state * 1664525u + 1013904223u;
  return (long)((double)changes_every_ns / 2 * part);
}
