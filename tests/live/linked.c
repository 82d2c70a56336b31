// The program that linkers_test links without any call frame information: a second of work in
// functions that are called in different ways. The compiler must not inline them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))

static volatile unsigned sink;

KEPT static void hot_loop(unsigned count) {
  for (unsigned i = 0; i < count; ++i) sink += i * i;
}

// Recurses. Each call has its own frame.
KEPT static unsigned descend(unsigned depth) {
  volatile char room[40];
  room[depth % sizeof(room)] = (char)depth;
  if (depth == 0) {
    hot_loop(20000);
    return 1;
  }
  return descend(depth - 1) + (unsigned)room[depth % sizeof(room)];
}

KEPT static int compare_numbers(const void* a, const void* b) {
  hot_loop(10);
  const unsigned x = *(const unsigned*)a, y = *(const unsigned*)b;
  return (x > y) - (x < y);
}

KEPT static void sort_by_callback(void) {
  unsigned numbers[300];
  for (unsigned i = 0; i < 300; ++i) numbers[i] = i * 7919 % 307;
  qsort(numbers, 300, sizeof(numbers[0]), compare_numbers);
  sink += numbers[7];
}

// Has a frame whose size is known only at run time.
KEPT static void on_the_stack(unsigned size) {
  char* const room = __builtin_alloca(size);
  memset(room, (int)size, size);
  hot_loop(20000);
  sink += (unsigned)room[size / 2];
}

// Has a jump table. The code after the jump has the same frame as the code before it.
KEPT static void by_table(unsigned kind) {
  switch (kind % 8) {
    case 0:
      hot_loop(11000);
      break;
    case 1:
      hot_loop(12000);
      sink ^= 3;
      break;
    case 2:
      hot_loop(13000);
      sink += kind;
      break;
    case 3:
      descend(3);
      break;
    case 4:
      hot_loop(14000);
      sink -= kind;
      break;
    case 5:
      hot_loop(15000);
      sink *= 3;
      break;
    case 6:
      sink /= 3;
      hot_loop(16000);
      break;
    default:
      sink |= kind;
      hot_loop(17000);
      break;
  }
  sink += kind;
}

KEPT static void run_once(unsigned round) {
  descend(20 + round % 4);
  sort_by_callback();
  on_the_stack(100 + round % 900);
  for (unsigned kind = 0; kind < 8; ++kind) by_table(kind + round % 3);
  sink ^= round;  // keeps all calls, and prevents a tail call
}

static void* run_in_thread(void* rounds) {
  for (unsigned i = 0; i < *(unsigned*)rounds; ++i) run_once(i);
  return NULL;
}

int main(void) {
  unsigned rounds = 2400;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_in_thread, &rounds) != 0) return 1;
  for (unsigned i = 0; i < rounds; ++i) run_once(i);
  pthread_join(thread, NULL);
  printf("%u\n", sink);
  return 0;
}
