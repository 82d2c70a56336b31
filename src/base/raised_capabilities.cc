#include "src/base/raised_capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace profiler {
namespace {

using CapabilityData = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

uint64_t g_permitted = 0;    // capabilities that can be raised
uint64_t g_inheritable = 0;  // never changed
thread_local uint64_t t_effective = 0;

uint64_t Joined(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// True if the parent process passed on all of `capabilities`, so that none came from the executed
// file.
bool AreAmbient(uint64_t capabilities) {
  for (unsigned long i = 0; i < 64; ++i) {
    if ((capabilities >> i & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) != 1) return false;
  }
  return true;
}

// Sets this thread's effective capabilities. Aborts if the kernel refuses to lower them, because
// the program would then open other users' files with them.
void SetEffective(uint64_t effective) {
  if (effective == t_effective) return;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilityData data = {};
  for (size_t i = 0; i < data.size(); ++i) {
    data[i].effective = static_cast<uint32_t>(effective >> 32 * i);
    data[i].permitted = static_cast<uint32_t>(g_permitted >> 32 * i);
    data[i].inheritable = static_cast<uint32_t>(g_inheritable >> 32 * i);
  }
  const int error = errno;
  const bool is_set = syscall(SYS_capset, &header, data.data()) == 0;
  errno = error;
  if (is_set) {
    t_effective = effective;
  } else if ((effective & t_effective) != t_effective) {
    abort();
  }
}

}  // namespace

void LowerCapabilities() {
  if (geteuid() == 0) return;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilityData data = {};
  if (syscall(SYS_capget, &header, data.data()) != 0) return;
  const uint64_t permitted = Joined(data[0].permitted, data[1].permitted);
  if (AreAmbient(permitted)) return;
  g_permitted = permitted;
  g_inheritable = Joined(data[0].inheritable, data[1].inheritable);
  t_effective = Joined(data[0].effective, data[1].effective);
  SetEffective(0);
}

void ForgetCapabilities() {
  g_permitted = 0;
  t_effective = 0;
}

uint64_t RaisableCapabilities() { return g_permitted; }

RaisedCapabilities::RaisedCapabilities(uint64_t capabilities) : before_(t_effective) {
  SetEffective(before_ | (capabilities & g_permitted));
}

// Does nothing if ForgetCapabilities was called meanwhile.
RaisedCapabilities::~RaisedCapabilities() {
  if (g_permitted != 0) SetEffective(before_);
}

uint64_t RaisedCapabilities::InForce() { return t_effective; }

}  // namespace profiler
