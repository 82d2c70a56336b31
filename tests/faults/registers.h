// Reads and changes registers of a thread that is stopped at a system call (x86-64, AArch64).

#pragma once

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <cstdint>

namespace profiler::tests {

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kKnowsRegisters = true;
#else
inline constexpr bool kKnowsRegisters = false;
#endif

// A copy of a thread's registers. Changes take effect in the thread only by Store().
class Registers {
 public:
  explicit Registers(pid_t thread) : thread_(thread) {
    iovec place = {&values_, sizeof(values_)};
    ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &place);
  }

  // The second and third argument of the system call. There is no first(), because on AArch64 the
  // first argument's register also holds the result.
#if defined(__x86_64__)
  unsigned long long& second() { return values_.rsi; }
  unsigned long long& third() { return values_.rdx; }
  void SetResult(int64_t result) { values_.rax = static_cast<unsigned long long>(result); }
#elif defined(__aarch64__)
  unsigned long long& second() { return values_.regs[1]; }
  unsigned long long& third() { return values_.regs[2]; }
  void SetResult(int64_t result) { values_.regs[0] = static_cast<unsigned long long>(result); }
#else
  unsigned long long& second() { return none_; }
  unsigned long long& third() { return none_; }
  void SetResult(int64_t) {}
#endif

  // Replaces the system call by call `number`. If `number` is -1, the kernel makes no call, and the
  // thread gets the result that SetResult() set.
  void SetCall(int number) {
#if defined(__x86_64__)
    values_.orig_rax = static_cast<unsigned long long>(number);
#elif defined(__aarch64__)
    constexpr int kSystemCall = 0x404;  // NT_ARM_SYSTEM_CALL
    iovec place = {&number, sizeof(number)};
    ptrace(PTRACE_SETREGSET, thread_, kSystemCall, &place);
#else
    (void)number;
#endif
  }

  void Store() {
    iovec place = {&values_, sizeof(values_)};
    ptrace(PTRACE_SETREGSET, thread_, NT_PRSTATUS, &place);
  }

 private:
  pid_t thread_;
  user_regs_struct values_ = {};
#if !defined(__x86_64__) && !defined(__aarch64__)
  unsigned long long none_ = 0;
#endif
};

}  // namespace profiler::tests
