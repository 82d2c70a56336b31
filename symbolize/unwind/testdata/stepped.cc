// A program to be run instruction by instruction between two breakpoints, with many kinds of
// frames.

#include <alloca.h>
#include <signal.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define KEEP __attribute__((noinline, used))

volatile int sink;
alignas(16) char signal_stack[1 << 16];

KEEP int Leaf(int a) { return a * 3 + sink; }
KEEP int TailCall(int a) { return Leaf(a + 1); }

KEEP int Alloca(int a) {
  char* room = static_cast<char*>(alloca(static_cast<size_t>(a) + 16));
  std::memset(room, a, static_cast<size_t>(a) + 16);
  return Leaf(room[1]);
}

KEEP int Realigned(int a) {
  alignas(64) volatile int values[16] = {};
  char* room = static_cast<char*>(alloca(static_cast<size_t>(a) + 16));
  room[2] = 1;
  values[a & 15] = a;
  return Leaf(values[3]) + room[2];
}

KEEP int Many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  const int x = Leaf(a + b), y = Leaf(c + d), z = Leaf(e + f), u = Leaf(g + h), v = Leaf(i);
  return x * y + z * u + v + Leaf(x) + Leaf(y) + Leaf(z) + Leaf(u);
}

KEEP int Variable(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, int);
  va_end(list);
  return Leaf(sum);
}

KEEP int Recurse(int a) { return a == 0 ? Leaf(a) : Recurse(a - 1) + 1; }

// The call is the function's last instruction.
KEEP void Throw(int a) {
  sink = a;
  throw std::runtime_error("thrown");
}

KEEP int Catch(int a) {
  try {
    Throw(a);
  } catch (const std::exception& e) {
    return e.what()[0];
  }
  return 0;
}

KEEP int Compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

KEEP int Sort() {
  int values[] = {4, 2, 7, 1, 9, 3};
  std::qsort(values, 6, sizeof(int), Compare);
  return values[0];
}

KEEP void Handle(int) { sink = Recurse(2); }

KEEP int Signal() {
  raise(SIGUSR1);
  return sink;
}

int main() {
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof(signal_stack);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  asm volatile("int3");
  sink = TailCall(1) + Alloca(40) + Realigned(3) + Many(1, 2, 3, 4, 5, 6, 7, 8, 9) +
         Variable(3, 1, 2, 3) + Recurse(5) + Sort() + Signal();
#ifndef NO_EXCEPTIONS
  sink = Catch(4) + Catch(5);
#endif
  asm volatile("int3");
  return 0;
}
