// system_calls CHANGES_EVERY_NS SECONDS: alpha and beta make the same system calls at the same
// stack position, alpha three times as often. Most samples are in the kernel.

#include <fcntl.h>
#include <unistd.h>

#include "clocked.h"

enum { kBytes = 1024 };
static char buffer[kBytes];
static int zeros;

// Makes `times` system calls, but at least one.
ALONE void read_zeros(long times) {
  do {
    if (read(zeros, buffer, kBytes) != kBytes) exit(3);
  } while (--times > 0);
  STAY;
}

ALONE void alpha(int calls, long times) {
  for (int i = 0; i < calls; i++) read_zeros(times);
  STAY;
}

ALONE void beta(int calls, long times) {
  for (int i = 0; i < calls; i++) read_zeros(times);
  STAY;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long changes = atol(argv[1]);
  zeros = open("/dev/zero", O_RDONLY);
  wait_for_recorder();
  enum { kTrial = 20000 };
  const long start = cpu_now();
  read_zeros(kTrial);
  const double times_per_ns = (double)kTrial / (double)(cpu_now() - start);
  const long end = cpu_now() + (long)(atof(argv[2]) * 1e9);
  const long between_looks = changes < 100000 ? 64 : 1;
  do {
    for (long i = 0; i < between_looks; i++) {
      const long times = (long)((double)next_length(changes) * times_per_ns);
      alpha(3, times);
      beta(1, times);
    }
  } while (cpu_now() < end);
  return 0;
}
