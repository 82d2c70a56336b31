#include "src/record/managed_processes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/record/live_memory.h"
#include "symbolize/files/jit_file.h"
#include "symbolize/hotspot/exports.h"
#include "symbolize/hotspot/frames.h"
#include "symbolize/image_file.h"
#include "symbolize/process_memory.h"
#include "symbolize/v8/frames.h"
#include "symbolize/v8/metadata.h"

namespace profiler::record {

bool HasJitMap(const symbolize::ImageSpec& spec, const symbolize::SymbolizerOptions& files) {
  const symbolize::JitMapPlaces places = symbolize::PlacesOfJitMap(spec, files);
  return std::ranges::any_of(places.paths, [&](const std::string& path) {
    return symbolize::OpenJitFile(path, places.root, spec, files).ok();
  });
}

namespace {

// In Debian's build of Node.js the program is small and V8 lies in a library.
bool IsNodeLibrary(std::string_view path) { return BaseName(path).starts_with("libnode.so"); }

// Decides by the names that Node.js has as a program and as a library. The file itself is examined
// when it is needed.
bool MayHaveV8(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name == "node" || name == "nodejs" || name.starts_with("node-") ||
         name == "node (deleted)" || IsNodeLibrary(path);
}

}  // namespace

// A process that has mapped an image of a virtual machine.
class ManagedProcesses::Process {
 public:
  Process(const symbolize::SymbolizerOptions& files, reader::Readers& readers,
          const perf_event::Mmap2& mmap)
      : files_(files),
        spec_{.kind = symbolize::ImageKind::kUser,
              .path = std::string(mmap.filename),
              .build_id = {mmap.build_id.begin(), mmap.build_id.end()},
              .pid = mmap.pid,
              .life = {}},
        memory_(files.proc_path, mmap.pid, readers) {}
  virtual ~Process() = default;

  // True if the process had already written a map of its code at the first call.
  bool HasMap() {
    if (!has_map_) has_map_ = HasJitMap(spec_, files_);
    return *has_map_;
  }

  // The image that should contain the virtual machine.
  const std::string& path() const { return spec_.path; }

  // Returns the virtual machine; null if the image contains none after all.
  symbolize::ManagedCode* code(uint64_t look, uint64_t time) {
    symbolize::ManagedCode* const machine = Machine();
    if (std::exchange(look_, look) != look && machine != nullptr) machine->Refresh();
    if (machine != nullptr) machine->SetTime(time);
    return machine;
  }
  // Reads state of the running process now, because later samples need this state as proof.
  void Prepare() {
    if (symbolize::ManagedCode* const machine = Machine()) machine->Prepare();
  }

 protected:
  // Opens the image of the virtual machine.
  symbolize::OpenedImage OpenImage() const { return symbolize::OpenImage(spec_, files_); }
  const symbolize::ImageSpec& spec() const { return spec_; }
  LiveMemory& memory() { return memory_; }

 private:
  virtual symbolize::ManagedCode* Machine() = 0;

  const symbolize::SymbolizerOptions& files_;
  const symbolize::ImageSpec spec_;
  LiveMemory memory_;
  uint64_t look_ = 0;
  std::optional<bool> has_map_;
};

class ManagedProcesses::HotSpotProcess final : public Process {
 public:
  HotSpotProcess(const symbolize::SymbolizerOptions& files, reader::Readers& readers,
                 const perf_event::Mmap2& mmap, symbolize::CodeSink& sink)
      : Process(files, readers, mmap),
        start_{mmap.addr},
        offset_{mmap.pgoff},
        frames_(
            memory(), [this](std::string_view name) { return Find(name); }, sink) {}

 private:
  symbolize::ManagedCode* Machine() override { return &frames_; }

  std::optional<uint64_t> Find(std::string_view name) {
    if (!is_opened_) ReadExports();
    const auto found = exports_.find(View(name));
    if (found == exports_.end()) return std::nullopt;
    return found->second.value + bias_;
  }

  void ReadExports() {
    is_opened_ = true;
    const symbolize::OpenedImage image = OpenImage();
    if (!image.file) return;
    const std::optional<ElfAddress> start = image.file->elf.AddressOf(offset_);
    if (!start) return;
    bias_ = start_.value - start->value;
    exports_ = symbolize::hotspot::ReadExports(image.file->elf);
  }

  const RuntimeAddress start_;
  const FileOffset offset_;
  symbolize::hotspot::HotSpotFrames frames_;
  bool is_opened_ = false;
  uint64_t bias_ = 0;
  absl::flat_hash_map<std::string, ElfAddress> exports_;
};

class ManagedProcesses::V8Process final : public Process {
 public:
  V8Process(const symbolize::SymbolizerOptions& files, reader::Readers& readers, V8Images& images,
            const perf_event::Mmap2& mmap, symbolize::CodeSink& sink)
      : Process(files, readers, mmap), images_(images), sink_(sink) {}

 private:
  symbolize::ManagedCode* Machine() override {
    if (!std::exchange(is_opened_, true)) {
      if (const auto& data = MetadataOfImage()) frames_.emplace(memory(), *data, sink_);
    }
    return frames_ ? &*frames_ : nullptr;
  }

  // Returns the image's metadata, from a cache: reading it takes ten milliseconds for Node.js, and
  // many processes may run Node.js.
  const std::optional<symbolize::v8::Metadata>& MetadataOfImage() {
    constexpr size_t kMostImages = 256;
    if (images_.size() >= kMostImages) images_.clear();
    const auto [known, is_new] =
        images_.try_emplace({spec().path, std::string(TextOf(spec().build_id))});
    if (is_new || spec().build_id.empty()) {
      const symbolize::OpenedImage image = OpenImage();
      known->second = image.file ? symbolize::v8::Metadata::Read(image.file->elf) : std::nullopt;
    }
    return known->second;
  }

  V8Images& images_;
  symbolize::CodeSink& sink_;
  bool is_opened_ = false;
  std::optional<symbolize::v8::Frames> frames_;
};

ManagedProcesses::ManagedProcesses(const symbolize::SymbolizerOptions& files, CodeDumps& dumps,
                                   reader::Readers& readers)
    : files_(files), dumps_(dumps), readers_(readers) {}
ManagedProcesses::~ManagedProcesses() = default;

void ManagedProcesses::Mapped(const perf_event::Mmap2& mmap, symbolize::ImageKind kind) {
  if (kind == symbolize::ImageKind::kJit) return dumps_.Mapped(mmap.pid);
  if (kind != symbolize::ImageKind::kUser) return;
  const bool has_hotspot = mmap.filename.ends_with("/libjvm.so");
  if (!has_hotspot && !MayHaveV8(mmap.filename)) return;
  std::unique_ptr<Process>& process = processes_[mmap.pid];
  // If a small program was mapped before its library, only the library can have the machine.
  const bool is_found =
      process != nullptr && (IsNodeLibrary(process->path()) || !IsNodeLibrary(mmap.filename));
  if (is_found) return;
  symbolize::CodeSink& sink = dumps_.Of(mmap.pid, mmap.sample_id.time);
  if (has_hotspot) {
    process = std::make_unique<HotSpotProcess>(files_, readers_, mmap, sink);
    // The process began before the recording: read its code before the first sample.
    if (mmap.sample_id.time == 0) process->Prepare();
  } else {
    process = std::make_unique<V8Process>(files_, readers_, v8_images_, mmap, sink);
  }
}

void ManagedProcesses::Forget(uint32_t pid) {
  processes_.erase(pid);
  dumps_.Forget(pid);
}

symbolize::ManagedCode* ManagedProcesses::Of(uint32_t pid, uint64_t time) {
  if (processes_.empty()) return nullptr;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return nullptr;
  if (found->second->HasMap()) dumps_.LeaveCompiled(pid);
  return found->second->code(look_, time != 0 ? time : dumps_.time());
}

}  // namespace profiler::record
