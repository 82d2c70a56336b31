#include "src/base/kept_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

namespace profiler {

void KeepOneDescriptor(int kept, int last_standard) {
  const int safe = fcntl(kept, F_DUPFD_CLOEXEC, kKeptDescriptor + 1);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = STDIN_FILENO; standard <= last_standard; ++standard) {
    if (null < 0) {
      close(standard);
    } else {
      dup2(null, standard);
    }
  }
  dup2(safe, kKeptDescriptor);
  close_range(kKeptDescriptor + 1, ~0U, 0);
}

}  // namespace profiler
