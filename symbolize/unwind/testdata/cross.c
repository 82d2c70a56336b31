// Functions with different frames and without any library. They are compiled for a machine for
// which there is only a compiler here.

#define KEEP __attribute__((noinline, used))

volatile int sink;

KEEP int Leaf(int a) { return a * 3 + sink; }
KEEP int TailCall(int a) { return Leaf(a + 1); }

KEEP int BigFrame(int a) {
  volatile char room[70000];
  for (int i = 0; i < 70000; ++i) room[i] = (char)a;
  return Leaf(room[a & 15]) + room[1];
}

KEEP int Alloca(int a) {
  volatile char* room = __builtin_alloca((unsigned long)a + 16);
  room[1] = (char)a;
  return Leaf(room[1]);
}

KEEP int Many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  const int x = Leaf(a + b), y = Leaf(c + d), z = Leaf(e + f), u = Leaf(g + h), v = Leaf(i);
  return x * y + z * u + v + Leaf(x) + Leaf(y) + Leaf(z) + Leaf(u);
}

KEEP double Floats(double a, double b) {
  const int x = Leaf((int)a), y = Leaf((int)b);
  return a * x + b * y + Leaf(x);
}

KEEP int Recurse(int a) { return a == 0 ? Leaf(a) : Recurse(a - 1) + 1; }

KEEP int Switch(int a) {
  if (a == 1) return Leaf(1);
  if (a < 0) __builtin_trap();
  return Many(1, 2, 3, 4, 5, 6, 7, 8, a) + Leaf(3);
}

int Everything(int a) {
  return TailCall(a) + BigFrame(a) + Alloca(a) + (int)Floats(a, 2) + Recurse(a) + Switch(a);
}
