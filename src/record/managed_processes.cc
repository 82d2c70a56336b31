#include "src/record/managed_processes.h"

#include <sys/uio.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/text.h"
#include "symbolize/hotspot/exports.h"
#include "symbolize/hotspot/frames.h"
#include "symbolize/image_file.h"
#include "symbolize/process_memory.h"

namespace profiler::record {
namespace {

// All of a process's memory that may be read, not only what is executable.
class LiveMemory final : public symbolize::ProcessMemory {
 public:
  explicit LiveMemory(uint32_t pid) : pid_(static_cast<pid_t>(pid)) {}

  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    if (bytes.empty()) return true;
    const iovec local{bytes.data(), bytes.size()};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process.
    const iovec remote{reinterpret_cast<void*>(address), bytes.size()};
    const ssize_t count = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    return count >= 0 && static_cast<size_t>(count) == bytes.size();
  }

 private:
  const pid_t pid_;
};

}  // namespace

// One that has mapped a virtual machine's library.
class ManagedProcesses::Process {
 public:
  Process(const symbolize::SymbolizerOptions& files, const perf_event::Mmap2& mmap,
          symbolize::CodeSink& sink)
      : start_{mmap.addr},
        offset_{mmap.pgoff},
        spec_{.kind = symbolize::ImageKind::kUser,
              .path = std::string(mmap.filename),
              .build_id = {mmap.build_id.begin(), mmap.build_id.end()},
              .pid = mmap.pid},
        memory_(mmap.pid),
        frames_(
            memory_, [this](std::string_view name) { return Find(name); }, sink),
        files_(files) {}

  symbolize::ManagedCode* code(uint64_t look) {
    if (std::exchange(look_, look) != look) frames_.Refresh();
    return &frames_;
  }

 private:
  std::optional<uint64_t> Find(std::string_view name) {
    if (!is_opened_) ReadExports();
    const auto found = exports_.find(View(name));
    if (found == exports_.end()) return std::nullopt;
    return found->second.value + bias_;
  }

  void ReadExports() {
    is_opened_ = true;
    const symbolize::OpenedImage image = symbolize::OpenImage(spec_, files_);
    if (!image.file) return;
    const std::optional<ElfAddress> start = image.file->elf.AddressOf(offset_);
    if (!start) return;
    bias_ = start_.value - start->value;
    exports_ = symbolize::hotspot::ReadExports(image.file->elf);
  }

  const RuntimeAddress start_;
  const FileOffset offset_;
  const symbolize::ImageSpec spec_;
  LiveMemory memory_;
  symbolize::hotspot::HotSpotFrames frames_;
  const symbolize::SymbolizerOptions& files_;
  bool is_opened_ = false;
  uint64_t bias_ = 0;
  absl::flat_hash_map<std::string, ElfAddress> exports_;
  uint64_t look_ = 0;
};

ManagedProcesses::ManagedProcesses(const symbolize::SymbolizerOptions& files, CodeDumps& dumps)
    : files_(files), dumps_(dumps) {}
ManagedProcesses::~ManagedProcesses() = default;

void ManagedProcesses::Mapped(const perf_event::Mmap2& mmap, symbolize::ImageKind kind) {
  if (kind == symbolize::ImageKind::kJit) return dumps_.Mapped(mmap.pid);
  if (kind != symbolize::ImageKind::kUser || !mmap.filename.ends_with("/libjvm.so")) return;
  std::unique_ptr<Process>& process = processes_[mmap.pid];
  if (process == nullptr) {
    process = std::make_unique<Process>(files_, mmap, dumps_.Of(mmap.pid));
  }
}

void ManagedProcesses::Forget(uint32_t pid) {
  processes_.erase(pid);
  dumps_.Forget(pid);
}

symbolize::ManagedCode* ManagedProcesses::Of(uint32_t pid) {
  if (processes_.empty()) return nullptr;
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second->code(look_);
}

}  // namespace profiler::record
