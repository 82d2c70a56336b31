#include "src/record/python/kernel_walker.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace profiler::record::python {
namespace {

// Says what would lift the failure.
std::string Remedy(const absl::Status& failure, const KernelWalkerOptions& options) {
  const int error = ErrnoOf(failure);
  // Lockdown withholds the functions of the kernel that read memory, so the program is invalid.
  if (options.is_locked_down && error == EINVAL) {
    return "lockdown forbids programs that read memory; boot without lockdown=confidentiality";
  }
  // Before Linux 5.11, programs and maps count as locked memory, of which users have little.
  if (options.may_load && error == EPERM) {
    return "raise the limit of locked memory (before Linux 5.11: ulimit -l 65536), or permit the "
           "system call bpf";
  }
  switch (error) {
    case EPERM:
    case EACCES:
      return absl::StrCat(
          options.is_root
              ? "give this container or service CAP_BPF and CAP_PERFMON, and a filter of system "
                "calls that permits bpf"
              : "run as root, or give this program CAP_BPF and CAP_PERFMON",
          "; for a command in Python 3.12 or later, pass --runtime-maps");
    case EEXIST:
      return "another BPF program is attached to the event; record without it";
    case ENOENT:
      return "this kernel has no BTF; run one with CONFIG_DEBUG_INFO_BTF";
    default:
      return "this kernel lacks a feature of BPF; Linux 5.10 has them all";
  }
}

}  // namespace

absl::Status KernelWalker::Load() {
  PROFILER_ASSIGN_OR_RETURN(const auto outputs, gate_.Outputs());
  return gate_.programs().LoadWalk(outputs);
}

// Loads the programs. An interpreter takes longer to start, so no sample of Python is missed.
void KernelWalker::Prepare() {
  if (is_walking_ || !failure_.ok()) return;
  failure_ = Load();
  is_walking_ = failure_.ok();
}

bool KernelWalker::Walk(uint32_t pid, const symbolize::python::WalkLayout& layout,
                        uint32_t generation) {
  was_met_ = true;
  Prepare();
  if (!is_walking_) return false;
  return gate_.programs().Add(pid, {.layout = layout, .generation = generation}).ok();
}

void KernelWalker::Leave(uint32_t pid) {
  if (is_walking_) gate_.programs().Remove(pid);
}

std::string KernelWalker::Problem() const {
  if (!was_met_ || failure_.ok()) return "";
  return absl::StrCat(
      "Python functions have no names, because the program that reads them in the kernel cannot "
      "run (",
      strerror(ErrnoOf(failure_)), "): ", Remedy(failure_, options_));
}

}  // namespace profiler::record::python
