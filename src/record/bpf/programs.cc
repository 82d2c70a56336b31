#include "src/record/bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "src/base/raised_capabilities.h"
#include "src/machine/procfs/machine.h"
#include "src/record/bpf/bytecode.h"
#include "src/record/bpf/kernel_btf.h"

namespace profiler::record {
namespace {

// Indices in the map of programs, as in maps.bpf.h.
constexpr const char* kWalkPrograms[] = {"walk", "find", "frames", "codes", "copy"};
constexpr unsigned kStackProgram = 5;

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

// The constants of stack_words.bpf.c, after those of maps.bpf.h.
struct StackConstants {
  RecorderNamespace recorder;
  uint64_t has_task_registers = 0;
};

// Opens a program and sets its constants.
template <class Constants>
absl::StatusOr<Object> Open(std::span<const unsigned char> bytes, const char* name,
                            const Constants& values) {
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);
  Object object(bpf_object__open_mem(bytes.data(), bytes.size(), &options));
  if (object == nullptr) return Failed(errno, "opening a BPF program");
  bpf_map* const constants = bpf_object__find_map_by_name(object.get(), ".rodata");
  if (const int error = bpf_map__set_initial_value(constants, &values, sizeof(values))) {
    return Failed(error, "preparing a BPF program");
  }
  return object;
}

void Reuse(const Object& object, const char* map, int fd) {
  bpf_map__reuse_fd(bpf_object__find_map_by_name(object.get(), map), fd);
}

// Gives a map one entry for each CPU.
void SizeByCpus(const Object& object, const char* map) {
  const int cpus = libbpf_num_possible_cpus();
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object.get(), map),
                           cpus > 0 ? static_cast<unsigned>(cpus) : 1);
}

// Connects the map of rings of a loaded program.
absl::Status ConnectRings(const Object& object, std::span<const Programs::Output> outputs) {
  const int rings = bpf_object__find_map_fd_by_name(object.get(), "rings");
  for (const Programs::Output& output : outputs) {
    if (bpf_map_update_elem(rings, &output.cpu, &output.fd, BPF_ANY) != 0) {
      return Failed(errno, "connecting a program to a ring");
    }
  }
  return absl::OkStatus();
}

int ProgramOf(const Object& object, const char* name) {
  return bpf_program__fd(bpf_object__find_program_by_name(object.get(), name));
}

class LoadedPrograms final : public Programs {
 public:
  LoadedPrograms() { libbpf_set_print(nullptr); }

  absl::StatusOr<Gates> LoadGates() override {
    const RaisedCapabilities raised(ToLoad());
    PROFILER_ASSIGN_OR_RETURN(gate_, Open(kGateBytecode, "profiler_gate", RecorderNamespace()));
    if (const int error = bpf_object__load(gate_.get())) return Failed(error, "loading a program");
    processes_ = bpf_object__find_map_fd_by_name(gate_.get(), "processes");
    threads_ = bpf_object__find_map_fd_by_name(gate_.get(), "followed_threads");
    followed_ = bpf_object__find_map_fd_by_name(gate_.get(), ".bss");
    programs_ = bpf_object__find_map_fd_by_name(gate_.get(), "programs");
    return Gates{ProgramOf(gate_, "gate"), ProgramOf(gate_, "gate_of_switches")};
  }

  absl::Status LoadWalk(std::span<const Output> outputs) override {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<std::byte> btf, ReadKernelBtf());
    PROFILER_ASSIGN_OR_RETURN(thread_pointer_, OffsetInKernel(btf, kThreadPointer));
    const RaisedCapabilities raised(ToLoad());
    PROFILER_ASSIGN_OR_RETURN(walk_, Open(kWalkBytecode, "profiler_python", RecorderNamespace()));
    Reuse(walk_, "processes", processes_);
    Reuse(walk_, "programs", programs_);
    SizeByCpus(walk_, "walks");
    SizeByCpus(walk_, "copies");
    if (const int error = bpf_object__load(walk_.get())) return Failed(error, "loading a program");
    PROFILER_RETURN_IF_ERROR(ConnectRings(walk_, outputs));
    for (unsigned i = 0; i < std::size(kWalkPrograms); ++i) {
      PROFILER_RETURN_IF_ERROR(Connect(i, ProgramOf(walk_, kWalkPrograms[i])));
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

  absl::Status LoadStack(std::span<const Output> outputs) override {
    const RaisedCapabilities raised(ToLoad());
    const StackConstants constants{
        .has_task_registers =
            libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, nullptr) == 1};
    PROFILER_ASSIGN_OR_RETURN(stack_, Open(kStackBytecode, "profiler_stack", constants));
    Reuse(stack_, "processes", processes_);
    Reuse(stack_, "followed_threads", threads_);
    Reuse(stack_, "programs", programs_);
    SizeByCpus(stack_, "scratches");
    if (const int error = bpf_object__load(stack_.get())) return Failed(error, "loading a program");
    PROFILER_RETURN_IF_ERROR(ConnectRings(stack_, outputs));
    return Connect(kStackProgram, ProgramOf(stack_, "stack"));
  }

  absl::Status Follow(uint32_t tid, const FollowedThread& thread) override {
    const RaisedCapabilities raised(ToLoad());
    if (bpf_map_update_elem(threads_, &tid, &thread, BPF_ANY) != 0) {
      return Failed(errno, "following a thread");
    }
    if (followed_tids_.insert(tid).second) CountFollowed();
    return absl::OkStatus();
  }
  void Leave(uint32_t tid) override {
    if (followed_tids_.erase(tid) == 0) return;
    const RaisedCapabilities raised(ToLoad());
    bpf_map_delete_elem(threads_, &tid);
    CountFollowed();
  }

 private:
  absl::Status Connect(unsigned index, int program) {
    if (bpf_map_update_elem(programs_, &index, &program, BPF_ANY) == 0) return absl::OkStatus();
    return Failed(errno, "connecting programs");
  }
  // Sets `followed` of gate.bpf.c.
  void CountFollowed() {
    const uint32_t key = 0, count = static_cast<uint32_t>(followed_tids_.size());
    bpf_map_update_elem(followed_, &key, &count, BPF_ANY);
  }

  Object gate_, walk_, stack_;
  int processes_ = -1, threads_ = -1, followed_ = -1, programs_ = -1;  // maps of gate_
  absl::flat_hash_set<uint32_t> followed_tids_;
  uint32_t thread_pointer_ = 0;  // PythonProcessEntry::thread_pointer
};

}  // namespace

std::unique_ptr<Programs> KernelPrograms() { return std::make_unique<LoadedPrograms>(); }

}  // namespace profiler::record
