// endings CHANGES_EVERY_NS SECONDS: alpha and beta end processes in one function at one stack
// position, alpha three times as often. Processes end by exit and by exec in turn. exec starts this
// program again, which then works in after_exec.

#include <sys/wait.h>
#include <unistd.h>

#include "clocked.h"

static const char* self;

ALONE void finish(int by_exec, long ns) {
  leaf(ns);
  if (!by_exec) _exit(0);
  char text[32];
  snprintf(text, sizeof text, "%ld", (long)((double)ns / 4 * turns_per_ns));
  execl(self, self, text, (char*)NULL);
  _exit(4);
}

ALONE void alpha(int by_exec, long ns) {
  finish(by_exec, ns);
  STAY;
}

ALONE void beta(int by_exec, long ns) {
  finish(by_exec, ns);
  STAY;
}

ALONE void after_exec(long turns) {
  spin(turns);
  STAY;
}

ALONE long child(int number, long ns) {
  const pid_t pid = fork();
  if (pid < 0) exit(5);
  if (pid == 0) {
    const int by_exec = number / 4 % 2;
    if (number % 4 < 3) {
      alpha(by_exec, ns);
    } else {
      beta(by_exec, ns);
    }
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || status != 0) exit(6);
  return ns;
}

int main(int argc, char** argv) {
  self = argv[0];
  if (argc == 2) {
    after_exec(atol(argv[1]));
    return 0;
  }
  calibrate();
  if (argc != 3) return 2;
  const long changes = atol(argv[1]);
  wait_for_recorder();
  const long limit = (long)(atof(argv[2]) * 1e9);
  long done = 0;
  for (int cycle = 0; done < limit; cycle++) {
    const long ns = next_length(changes);
    for (int i = 0; i < 4; i++) done += child(4 * cycle + i, ns);
  }
  return 0;
}
