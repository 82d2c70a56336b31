// Work with known counts, to be counted and sampled in the machine:
//
//   workload loop N       2·N instructions in Loop, in addition to the program's start
//   workload shares N     3·N rounds in Heavy, N in Light
//   workload calls N      N calls of Probed, each of which writes `watched` once
//   workload pages N      N pages written for the first time
//   workload naps N       N sleeps of a millisecond

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {

// Variable that a hardware breakpoint watches.
volatile int watched;

// Executes exactly two instructions per round, and one return at the end. The loop is assembly
// code, so the compiler adds no instruction to it.
__attribute__((noinline, noclone)) void Loop(uint64_t rounds) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__x86_64__)
  asm volatile("1: dec %0\n\tjne 1b" : "+r"(rounds) : : "cc");
#else
#error "a loop of two instructions"
#endif
}

// Differs from Light, because the compiler would merge equal functions.
__attribute__((noinline, noclone)) uint64_t Heavy(uint64_t rounds) {
  volatile uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) x = x * 3;
  return x;
}

__attribute__((noinline, noclone)) uint64_t Light(uint64_t rounds) {
  volatile uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) x = x * 5;
  return x;
}

__attribute__((noinline, noclone)) int Probed(int value) {
  watched = value;
  asm volatile("");
  return value + 1;
}

}  // extern "C"

namespace {

void Shares(uint64_t rounds) {
  // Calls Heavy and Light in turn, so that every part of the run has samples of both.
  for (int i = 0; i < 10; ++i) {
    Heavy(3 * rounds / 10);
    Light(rounds / 10);
  }
}

void WritePages(uint64_t count) {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  madvise(memory, count * size, MADV_NOHUGEPAGE);
  for (uint64_t i = 0; i < count; ++i) static_cast<volatile char*>(memory)[i * size] = 1;
}

void Nap(uint64_t count) {
  const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (uint64_t i = 0; i < count; ++i) nanosleep(&millisecond, nullptr);
}

void Call(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) Probed(static_cast<int>(i));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const uint64_t count = strtoull(argv[2], nullptr, 10);
  if (strcmp(argv[1], "loop") == 0) {
    Loop(count);
  } else if (strcmp(argv[1], "shares") == 0) {
    Shares(count);
  } else if (strcmp(argv[1], "calls") == 0) {
    Call(count);
  } else if (strcmp(argv[1], "pages") == 0) {
    WritePages(count);
  } else if (strcmp(argv[1], "naps") == 0) {
    Nap(count);
  } else {
    return 2;
  }
  return 0;
}
