// Calls C code, which runs on the thread's stack. The C code calls Go functions.
package main

/*
#include <stdlib.h>

extern int goCompare(unsigned a, unsigned b);

static int c_compare(const void* a, const void* b) {
  unsigned x = *(const unsigned*)a, y = *(const unsigned*)b;
  for (int i = 0; i < 40; ++i) {
    x ^= x << 5;
    y ^= y << 5;
    __asm__ volatile("" : "+r"(x));
  }
  return x < y ? -1 : x > y;
}

static int c_calls_go(const void* a, const void* b) {
  return goCompare(*(const unsigned*)a, *(const unsigned*)b);
}

static __attribute__((noinline)) void c_sort(unsigned count, int calls_go) {
  unsigned values[1000];
  for (unsigned i = 0; i < count; ++i) values[i] = i * 22695477u;
  qsort(values, count, sizeof(unsigned), calls_go ? c_calls_go : c_compare);
  __asm__ volatile("" : : "r"(values) : "memory");
}
*/
import "C"

func callC() {
	C.c_sort(1000, 0)
	C.c_sort(200, 1)
}

//export goCompare
func goCompare(a, b C.uint) C.int {
	if compareKeys(uint32(a), uint32(b)) {
		return -1
	}
	return 1
}
