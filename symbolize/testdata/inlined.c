// Two nested inlined calls; the marker text locates their instruction. Never run.

static inline __attribute__((always_inline)) void innermost(void) {
  __asm__ volatile(".ascii \"<innermost>\"");
}

static inline __attribute__((always_inline)) void middle(void) { innermost(); }

__attribute__((noinline)) int outermost(int value) {
  middle();
  return value + 1;
}

int main(int argc, char** argv) {
  (void)argv;
  return outermost(argc);
}
