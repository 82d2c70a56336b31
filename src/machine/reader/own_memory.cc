#include "src/machine/reader/own_memory.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace profiler::reader {
namespace {

// A scope in which this thread's effective set lacks CAP_SYS_PTRACE.
class WithoutPtrace {
 public:
  WithoutPtrace() {
    __user_cap_header_struct header = kSelf;
    if (syscall(SYS_capget, &header, before_.data()) != 0) return;
    constexpr uint32_t kPtrace = uint32_t{1} << CAP_SYS_PTRACE;
    is_away_ = (before_[0].effective & kPtrace) == 0;
    if (is_away_) return;
    Sets sets = before_;
    sets[0].effective &= ~kPtrace;
    is_taken_ = is_away_ = Set(sets);
  }
  ~WithoutPtrace() {
    if (is_taken_) Set(before_);
  }
  WithoutPtrace(const WithoutPtrace&) = delete;
  WithoutPtrace& operator=(const WithoutPtrace&) = delete;

  bool is_away() const { return is_away_; }

 private:
  using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;
  static constexpr __user_cap_header_struct kSelf = {_LINUX_CAPABILITY_VERSION_3, 0};

  static bool Set(const Sets& sets) {
    __user_cap_header_struct header = kSelf;
    return syscall(SYS_capset, &header, sets.data()) == 0;
  }

  Sets before_ = {};
  bool is_away_ = false;
  bool is_taken_ = false;
};

bool IsInOurPidNamespace(const std::string& proc, uint32_t pid) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink(absl::StrCat(proc, "/self/ns/pid"), error);
  if (error) return false;
  const auto its = std::filesystem::read_symlink(absl::StrCat(proc, "/", pid, "/ns/pid"), error);
  return !error && own == its;
}

}  // namespace

int64_t OwnMemory::Read(std::span<const Piece> pieces) {
  if (owner_ == Owner::kUnknown) {
    owner_ = IsInOurPidNamespace(proc_, pid_) ? Owner::kOurs : Owner::kOther;
  }
  if (owner_ == Owner::kOther) return -EPERM;
  std::array<iovec, kMostPieces> local, remote;
  if (pieces.size() > local.size()) return -EINVAL;
  for (size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {pieces[i].bytes.data(), pieces[i].bytes.size()};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process.
    remote[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].bytes.size()};
  }
  const WithoutPtrace checked;
  if (!checked.is_away()) return -EPERM;
  const ssize_t count = process_vm_readv(static_cast<pid_t>(pid_), local.data(), pieces.size(),
                                         remote.data(), pieces.size(), 0);
  const int error = errno;
  if (count >= 0) return count;
  if (error == EPERM) owner_ = Owner::kOther;
  return -error;
}

}  // namespace profiler::reader
