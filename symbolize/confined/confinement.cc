#include "symbolize/confined/confinement.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "src/base/raised_capabilities.h"
#include "src/base/unique_fd.h"
#include "symbolize/confined/sanitized.h"

namespace profiler::symbolize {
namespace {

// System calls needed to read files in memory and to use a socket. They are listed by name, because
// not every architecture has all of them.
constexpr auto kPermitted = std::to_array<const char*>({
    // Calls that manage memory.
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "futex",
    // Calls on open descriptors.
    "read",
    "readv",
    "pread64",
    "write",
    "writev",
    "recvmsg",
    "sendmsg",
    "close",
    "fstat",
    "fstatfs",
    "lseek",
    "fadvise64",
    "poll",
    "ppoll",
    // Calls to handle the process's own signals: SIGBUS, if a file shrinks
    // (src/base/mapped_file.h).
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    // Calls that tell the process's identity and the time.
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "clock_gettime",
    "gettimeofday",
    "getrandom",
    "sysinfo",
    "sched_getaffinity",
    "sched_yield",
    "getrusage",
    "uname",
    // Calls that end the process.
    "exit",
    "exit_group",
});

// Additional calls of the sanitizers.
constexpr auto kPermittedToSanitizers = std::to_array<const char*>({"pipe", "pipe2"});

constexpr auto kOpening = std::to_array<const char*>({
    "open",
    "openat",
    "openat2",
    "creat",
    "open_by_handle_at",
    "memfd_create",
});

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// Adds a rule. A call that this architecture lacks needs none.
template <class... Arguments>
int AddRule(const Filter& filter, uint32_t action, const char* name, Arguments... arguments) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return 0;
  return seccomp_rule_add(filter.get(), action, number, sizeof...(arguments), arguments...);
}

// Adds all rules. Returns 0, or a negative error.
int AddRules(const Filter& filter) {
  for (const char* const name : kPermitted) {
    if (const int error = AddRule(filter, SCMP_ACT_ALLOW, name)) return error;
  }
  for (const char* const name : kPermittedToSanitizers) {
    if (!kSanitized) break;
    if (const int error = AddRule(filter, SCMP_ACT_ALLOW, name)) return error;
  }
  for (const char* const name : kOpening) {
    if (const int error = AddRule(filter, SCMP_ACT_ERRNO(EACCES), name)) return error;
  }
  for (const char* const name : {"mmap", "mprotect"}) {
    if (const int error =
            AddRule(filter, SCMP_ACT_ALLOW, name, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0))) {
      return error;
    }
    if (const int error = AddRule(filter, SCMP_ACT_ERRNO(EACCES), name,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC))) {
      return error;
    }
  }
  // fstat(2) of glibc 2.33 to 2.38 calls newfstatat.
  if (const int error = AddRule(filter, SCMP_ACT_ALLOW, "newfstatat",
                                SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH))) {
    return error;
  }
  // abort(3) calls tgkill.
  return AddRule(filter, SCMP_ACT_ALLOW, "tgkill",
                 SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid())));
}

absl::Status InstallFilter() {
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  if (filter == nullptr) return absl::ResourceExhaustedError("seccomp_init");
  // Builds a binary tree, because the default filter compares two dozen numbers per system call.
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (const int error = AddRules(filter)) return ErrnoStatus(-error, "seccomp_rule_add");
  const int error = seccomp_load(filter.get());
  if (error == 0) return absl::OkStatus();
  return absl::UnimplementedError(ErrnoStatus(-error, "seccomp").message());
}

absl::Status DropCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
  if (syscall(SYS_capset, &header, none.data()) != 0) return ErrnoStatus(errno, "capset");
  ForgetCapabilities();
  return absl::OkStatus();
}

// Forbids to open files, with a Landlock ruleset that handles all accesses and permits none. On
// kernels without Landlock, only the seccomp filter forbids to open files.
void ForbidFiles() {
  landlock_ruleset_attr attr = {};
  // All accesses of Landlock's first version (Linux 5.13): read, write, execute, create, remove.
  attr.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  const UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0)));
  if (ruleset.valid()) syscall(SYS_landlock_restrict_self, ruleset.get(), 0);
}

}  // namespace

absl::Status ConfineThisProcess() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ErrnoStatus(errno, "no_new_privs");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return ErrnoStatus(errno, "PR_SET_DUMPABLE");
  ForbidFiles();
  PROFILER_RETURN_IF_ERROR(DropCapabilities());
  return InstallFilter();
}

absl::Status TryConfinement() {
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) _exit(ConfineThisProcess().ok() ? 0 : 1);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      "the kernel, or a filter that is there already, takes no seccomp filter");
}

bool HasLandlock() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

}  // namespace profiler::symbolize
