#include "src/record/bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/raised_capabilities.h"
#include "src/machine/procfs/machine.h"
#include "src/record/bpf/bytecode.h"
#include "src/record/bpf/kernel_btf.h"

namespace profiler::record {
namespace {

// Indices in the map of programs, as in maps.bpf.h.
constexpr const char* kWalkPrograms[] = {"walk", "find", "frames", "codes", "copy"};

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using Object = std::unique_ptr<bpf_object, CloseObject>;

// The thread pointer of a thread that the kernel has switched away from, or that is in the kernel.
#if defined(__x86_64__)
constexpr std::string_view kThreadPointer[] = {"task_struct", "thread", "fsbase"};
#else
constexpr std::string_view kThreadPointer[] = {"task_struct", "thread", "uw", "tp_value"};
#endif

// Capabilities to load programs and maps. Kernels before 5.8 want CAP_SYS_ADMIN.
uint64_t ToLoad() {
  const uint64_t needed = kCapBpf | kCapPerfmon;
  return (RaisableCapabilities() & needed) == needed ? needed : kCapSysAdmin;
}

// The PID namespace of this process, as the constants of maps.bpf.h; zeros for the first namespace,
// whose pids are the kernel's.
struct RecorderNamespace {
  RecorderNamespace() {
    constexpr int kMinorBits = 20;  // MINORBITS of the kernel
    struct stat facts;
    if (!procfs::IsInPidNamespace({}) || stat("/proc/self/ns/pid", &facts) != 0) return;
    device = uint64_t{major(facts.st_dev)} << kMinorBits | minor(facts.st_dev);
    inode = facts.st_ino;
  }
  uint64_t device = 0, inode = 0;
};

absl::Status Failed(int error, const char* what) {
  return ErrnoStatus(error < 0 ? -error : error, what);
}

absl::StatusOr<Object> Open(std::span<const unsigned char> bytes, const char* name) {
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);
  Object object(bpf_object__open_mem(bytes.data(), bytes.size(), &options));
  if (object == nullptr) return Failed(errno, "opening a BPF program");
  const RecorderNamespace recorder;
  bpf_map* const constants = bpf_object__find_map_by_name(object.get(), ".rodata");
  if (const int error = bpf_map__set_initial_value(constants, &recorder, sizeof(recorder))) {
    return Failed(error, "preparing a BPF program");
  }
  return object;
}

class LoadedPrograms final : public Programs {
 public:
  LoadedPrograms() { libbpf_set_print(nullptr); }

  absl::StatusOr<int> LoadGate() override {
    const RaisedCapabilities raised(ToLoad());
    PROFILER_ASSIGN_OR_RETURN(gate_, Open(kGateBytecode, "profiler_gate"));
    if (const int error = bpf_object__load(gate_.get())) return Failed(error, "loading a program");
    processes_ = bpf_object__find_map_fd_by_name(gate_.get(), "processes");
    programs_ = bpf_object__find_map_fd_by_name(gate_.get(), "programs");
    return bpf_program__fd(bpf_object__find_program_by_name(gate_.get(), "gate"));
  }

  absl::Status LoadWalk(std::span<const Output> outputs) override {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<std::byte> btf, ReadKernelBtf());
    PROFILER_ASSIGN_OR_RETURN(thread_pointer_, OffsetInKernel(btf, kThreadPointer));
    const RaisedCapabilities raised(ToLoad());
    PROFILER_ASSIGN_OR_RETURN(walk_, Open(kWalkBytecode, "profiler_python"));
    bpf_map__reuse_fd(bpf_object__find_map_by_name(walk_.get(), "processes"), processes_);
    bpf_map__reuse_fd(bpf_object__find_map_by_name(walk_.get(), "programs"), programs_);
    const int cpus = libbpf_num_possible_cpus();
    for (const char* const of_cpus : {"walks", "copies"}) {
      bpf_map__set_max_entries(bpf_object__find_map_by_name(walk_.get(), of_cpus),
                               cpus > 0 ? static_cast<unsigned>(cpus) : 1);
    }
    if (const int error = bpf_object__load(walk_.get())) return Failed(error, "loading a program");
    const int rings = bpf_object__find_map_fd_by_name(walk_.get(), "rings");
    for (const Output& output : outputs) {
      if (bpf_map_update_elem(rings, &output.cpu, &output.fd, BPF_ANY) != 0) {
        return Failed(errno, "connecting a program to a ring");
      }
    }
    for (unsigned i = 0; i < std::size(kWalkPrograms); ++i) {
      const int fd =
          bpf_program__fd(bpf_object__find_program_by_name(walk_.get(), kWalkPrograms[i]));
      if (bpf_map_update_elem(programs_, &i, &fd, BPF_ANY) != 0) {
        return Failed(errno, "connecting programs");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(uint32_t pid, const PythonProcessEntry& entry) override {
    PythonProcessEntry added = entry;
    added.thread_pointer = thread_pointer_;
    const RaisedCapabilities raised(ToLoad());
    if (bpf_map_update_elem(processes_, &pid, &added, BPF_ANY) == 0) return absl::OkStatus();
    return Failed(errno, "adding a process");
  }
  void Remove(uint32_t pid) override {
    const RaisedCapabilities raised(ToLoad());
    bpf_map_delete_elem(processes_, &pid);
  }

 private:
  Object gate_, walk_;
  int processes_ = -1, programs_ = -1;  // maps of gate_
  uint32_t thread_pointer_ = 0;         // PythonProcessEntry::thread_pointer
};

}  // namespace

std::unique_ptr<Programs> KernelPrograms() { return std::make_unique<LoadedPrograms>(); }

}  // namespace profiler::record
