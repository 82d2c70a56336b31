// signals DEPTH CHANGES_EVERY_NS SECONDS OWN|MAIN: alpha and beta raise a signal, alpha three times
// as often. The signal's handler recurses on an alternate stack. The stack lies in memory of its
// own (OWN) or in the frame of main (MAIN).

#include <signal.h>
#include <string.h>

#include "clocked.h"

static int depth;
static long length;

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

ALONE void on_signal(int number) {
  (void)number;
  deep(depth - 1, length);
  STAY;
}

ALONE void alpha(int calls) {
  for (int i = 0; i < calls; i++) raise(SIGUSR1);
  STAY;
}

ALONE void beta(int calls) {
  for (int i = 0; i < calls; i++) raise(SIGUSR1);
  STAY;
}

ALONE void run(char* memory, size_t size, long changes, double seconds) {
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = memory;
  stack.ss_size = size;
  if (sigaltstack(&stack, NULL) != 0) exit(3);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  const long end = cpu_now() + (long)(seconds * 1e9);
  do {
    length = next_length(changes);
    alpha(3);
    beta(1);
  } while (cpu_now() < end);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  depth = atoi(argv[1]);
  const size_t size = (size_t)depth * (FRAME + 100) + 16384;
  char in_main[(size_t)depth * (FRAME + 100) + 16384];
  in_main[0] = 0;
  calibrate();
  wait_for_recorder();
  run(strcmp(argv[4], "OWN") == 0 ? malloc(size) : in_main, size, atol(argv[2]), atof(argv[3]));
  return in_main[0];
}
