// Functions with different frames: leaf, large frame, alloca, realigned stack, tail call,
// exceptions, recursion, variable arguments, no return.

#include <alloca.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline, used))

volatile int sink;

KEEP int Leaf(int a) { return a * 3 + sink; }

KEEP int TailCall(int a) { return Leaf(a + 1); }

KEEP int BigFrame(int a) {
  volatile char room[70000];
  std::memset(const_cast<char*>(room), a, sizeof(room));
  return Leaf(room[a & 15]) + room[1];
}

KEEP int Alloca(int a) {
  char* room = static_cast<char*>(alloca(static_cast<size_t>(a) + 16));
  std::memset(room, a, static_cast<size_t>(a) + 16);
  return Leaf(room[1]);
}

KEEP int Realigned(int a) {
  alignas(64) volatile int values[16] = {};
  values[a & 15] = a;
  return Leaf(values[3]) + values[a & 7];
}

KEEP int RealignedAlloca(int a) {
  alignas(64) volatile int values[16] = {};
  values[a & 15] = a;
  char* room = static_cast<char*>(alloca(static_cast<size_t>(a) + 16));
  std::memset(room, a, 16);
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

#ifndef NO_EXCEPTIONS
KEEP void Throw(int a) {
  if (a > 2) throw std::runtime_error("thrown");
  sink = a;
}

KEEP int Catch(int a) {
  try {
    std::string text(static_cast<size_t>(a), 'x');
    Throw(a);
    return static_cast<int>(text.size());
  } catch (const std::exception& e) {
    return e.what()[0];
  }
}

#else
KEEP int Catch(int a) { return Leaf(a) + 1; }
#endif

KEEP int Recurse(int a) { return a == 0 ? Leaf(a) : Recurse(a - 1) + 1; }

KEEP int Switch(int a) {
  if (a == 1) return Leaf(1);
  if (a == 2) {
    std::vector<int> values(7, a);
    return Leaf(values[2]);
  }
  if (a < 0) std::abort();
  return Many(1, 2, 3, 4, 5, 6, 7, 8, a);
}

int Everything(int a) {
  return TailCall(a) + BigFrame(a) + Alloca(a) + Realigned(a) + RealignedAlloca(a) +
         Variable(3, a, a, a) + Catch(a) + Catch(1) + Recurse(a) + Switch(a) + Switch(2);
}

#ifndef NO_MAIN
int main(int argc, char** argv) {
  const int result = Everything(argc + 3);
  if (argc > 100) std::printf("%s %d\n", argv[0], result);
  return 0;
}
#endif
