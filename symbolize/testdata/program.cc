// A program with one symbol of each kind that naming must distinguish. Never run by the tests.

#include <cstdlib>
#include <cstring>

extern "C" {

// The marker text is part of the code, so that a test finds the symbol's file offset without
// reading any header.
asm(R"(
  .text
  .balign 16
  .globl marked_code
  .type marked_code, @function
marked_code:
  .ascii "<the bytes of marked_code>"
  .size marked_code, . - marked_code

  .balign 16
  .type without_size, @function
without_size:
  .ascii "<the bytes of without_size>"
  .balign 16
after_without_size:
  .ascii "<the bytes of after_without_size>"
  .balign 16
)");

__attribute__((noinline)) int strong_name(int value) { return value * 3 + 1; }
int _underscored_alias(int value) __attribute__((alias("strong_name")));
int weak_alias(int value) __attribute__((weak, alias("strong_name")));
}

namespace fixture {

class Shape {
 public:
  explicit Shape(int sides);
  int sides() const;

 private:
  int sides_;
};

__attribute__((noinline)) Shape::Shape(int sides) : sides_(sides) {}
__attribute__((noinline)) int Shape::sides() const { return sides_; }

template <class T>
__attribute__((noinline)) T Twice(T value) {
  return value + value;
}
template double Twice(double value);

}  // namespace fixture

static __attribute__((noinline)) void* CallsThroughThePlt(const char* text) {
  void* copy = std::malloc(std::strlen(text) + 1);
  if (copy != nullptr) std::memcpy(copy, text, std::strlen(text) + 1);
  return copy;
}

int main(int argc, char** argv) {
  std::free(CallsThroughThePlt(argv[0]));
  return strong_name(argc) + fixture::Shape(argc).sides() + static_cast<int>(fixture::Twice(0.5));
}
