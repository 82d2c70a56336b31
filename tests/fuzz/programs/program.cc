// A program that is compiled in many ways into small files with debug information. Fuzz targets
// mutate the files; the program is never run.

struct Number {
  int value;
  int Get() const { return value; }
};

template <class T>
__attribute__((always_inline)) inline int Twice(T number) {
  return number.Get() * 2;
}

__attribute__((always_inline)) inline int Both(Number a, Number b) { return Twice(a) + Twice(b); }

extern "C" __attribute__((noinline, cold)) int Rare(int n) { return n * 3; }

extern "C" int Outer(int n) {
  const Number a{n}, b{n + 1};
  if (__builtin_expect(n > 7, 0)) return Rare(Both(a, b));
  return Both(b, a) + 1;
}

// More names for the address of Outer, and labels whose symbols have no size.
extern "C" int OuterAlias(int) __attribute__((alias("Outer")));
extern "C" int __outer_alias(int) __attribute__((alias("Outer"), weak));
__asm__(
    ".text\n.globl bare_label\nbare_label:\n  .8byte 0\n.type label, %function\nlabel:\n  .8byte "
    "0\n");
