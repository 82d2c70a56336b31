// old_kernel COMMAND…: runs COMMAND as if the kernel were Linux 5.0 (2019), on x86-64. Later system calls do not exist,
// among them openat2(2), clone3(2), pidfd_open(2), close_range(2) and Landlock.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

// Number of pidfd_send_signal(2), new in Linux 5.1. System calls with this and higher numbers have
// the same number on all architectures.
enum { kFirstNewCall = 424 };

int main(int count, char **arguments) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstNewCall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
  if (count < 2) {
    fputs("usage: old_kernel COMMAND...\n", stderr);
    return 2;
  }
  // Does not set no_new_privs, which would keep programs from gaining capabilities. Root may set a
  // filter without it.
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("old_kernel: seccomp");
    return 1;
  }
  execvp(arguments[1], arguments + 1);
  perror(arguments[1]);
  return 127;
}
