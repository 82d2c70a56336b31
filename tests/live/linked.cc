// The program that linkers_test.cc links in many ways and records. It spends half a second of CPU
// time in two threads, in code without frame pointers. Functions of the program, the C library and
// the C++ library call one another, also by signals and exceptions. No function is inlined
// or renamed.

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <vector>

// Keeps a function and its name. Without noipa, GCC makes copies of functions under other names.
#if defined(__clang__)
#define KEPT extern "C" [[gnu::noinline]]
#else
#define KEPT extern "C" [[gnu::noipa]]
#endif
// Stands after a call, so that the compiler does not make a tail call of it. A tail call would
// remove the caller's frame.
#define STAYS asm volatile("" ::: "memory")
// Stands in a loop, so that the compiler cannot compute the loop's result.
#define CHANGES(value) asm volatile("" : "+r"(value))

KEPT unsigned hot_loop(unsigned value) {
  for (int i = 0; i < 10000; ++i) {
    value = value * 1664525 + 1013904223;
    CHANGES(value);
  }
  return value;
}
KEPT unsigned inner_level(unsigned value) {
  volatile unsigned words[100] = {value};
  words[7] = hot_loop(words[0]);
  return words[7];
}
KEPT unsigned middle_level(unsigned value) {
  value = inner_level(value);
  STAYS;
  return value;
}
KEPT unsigned outer_level(unsigned value) {
  value = middle_level(value) + middle_level(value + 1);
  STAYS;
  return value;
}

KEPT int compare_digits(const void* a, const void* b) {
  unsigned left = *static_cast<const unsigned*>(a), right = *static_cast<const unsigned*>(b);
  for (int i = 0; i < 20; ++i) {
    left ^= left << 5, right ^= right << 5;
    CHANGES(left);
  }
  return left < right ? -1 : left > right;
}
KEPT void sort_by_callback(std::vector<unsigned>& values) {
  qsort(values.data(), values.size(), sizeof(unsigned), compare_digits);
  STAYS;
}

KEPT bool is_before(unsigned left, unsigned right) {
  for (int i = 0; i < 20; ++i) {
    left ^= left << 3, right ^= right << 3;
    CHANGES(left);
  }
  return left < right;
}
KEPT void sort_by_template(std::vector<unsigned>& values) {
  std::sort(values.begin(), values.end(), is_before);
  STAYS;
}

KEPT size_t write_numbers(unsigned value) {
  std::ostringstream text;
  for (int i = 0; i < 300; ++i) text << value * 1.1 + i << ' ';
  return text.str().size();
}

// Recurses `depth` times and then throws. If exceptions are disabled, it only recurses.
KEPT unsigned throw_from(unsigned depth) {
  if (depth != 0) return hot_loop(throw_from(depth - 1));
#if defined(__cpp_exceptions)
  throw 1;
#else
  return 1;
#endif
}
KEPT unsigned throw_and_catch(unsigned value) {
#if defined(__cpp_exceptions)
  try {
    value += throw_from(3);
  } catch (int thrown) {
    value += hot_loop(value);
  }
#else
  value += throw_from(3);
#endif
  STAYS;
  return value;
}

KEPT void on_signal(int number) {
  hot_loop(static_cast<unsigned>(number));
  STAYS;
}
KEPT void raise_signal() {
  raise(SIGUSR1);
  STAYS;
}

KEPT unsigned run_once(unsigned value) {
  std::vector<unsigned> values(1000);
  for (unsigned& v : values) v = value = value * 1664525 + 1013904223;
  sort_by_callback(values);
  for (unsigned& v : values) v = value = value * 22695477 + 1;
  sort_by_template(values);
  for (int i = 0; i < 6; ++i) value += outer_level(value);
  for (int i = 0; i < 16; ++i) value += throw_and_catch(value);
  for (int i = 0; i < 4; ++i) raise_signal();
  return value + static_cast<unsigned>(write_numbers(value));
}

KEPT void* run_in_thread(void* value) {
  while (clock() < CLOCKS_PER_SEC / 2) {
    *static_cast<unsigned*>(value) = run_once(*static_cast<unsigned*>(value));
  }
  return nullptr;
}

int main() {
  unsigned value = 1, other = 2;
  signal(SIGUSR1, on_signal);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run_in_thread, &other) != 0) return 1;
  while (clock() < CLOCKS_PER_SEC / 2) value = run_once(value);
  pthread_join(thread, nullptr);
  volatile unsigned kept = value ^ other;
  return static_cast<int>(kept & 0);
}
