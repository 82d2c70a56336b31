// Follows the mappings of recorded processes, and opens each mapped image at once: the file, or its
// process, may be gone a moment later.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/fair_budget.h"
#include "src/format/perf_event/codec.h"
#include "src/machine/reader/readers.h"
#include "src/machine/sideband/sideband.h"
#include "src/record/code_dumps.h"
#include "src/record/managed_processes.h"
#include "src/record/python/processes.h"
#include "symbolize/address_space.h"
#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/unwind_images.h"

namespace profiler::record {

// The memory of a running process, for addresses that the copied stack lacks. Use it from one
// thread.
class LiveSpace final : public symbolize::MappedSpace {
 public:
  LiveSpace(symbolize::UnwindImages& images, reader::Readers& readers)
      : MappedSpace(images), readers_(readers) {}

  // Sets when the present stack was read, if that was after its sample. Code that a virtual machine
  // made up to then may belong to the stack. 0: the stack was copied at its sample.
  void SetStackTime(uint64_t time) { stack_time_ = time; }

  // Sets the virtual machines that are asked about frames in memory without an image; null: none.
  // `machines` must outlive this object.
  void SetMachines(ManagedProcesses* machines) { machines_ = machines; }
  symbolize::ManagedCode* Managed() override {
    return machines_ == nullptr ? nullptr : machines_->Of(pid(), stack_time_);
  }

  // Reads code without a file from the process as it is now, and caches some pages of it for a
  // while.
  bool ReadCode(RuntimeAddress address, std::span<std::byte> bytes) override;

 private:
  // A copy of a piece of the process's memory.
  struct Window {
    explicit Window(size_t pages) : pages(pages) {}
    bool Holds(uint64_t address, size_t bytes) const {
      return address >= start && address - start < size && bytes <= size - (address - start);
    }
    // Reads the window anew, from the page of `address` on. If nothing can be read, as when the
    // process has ended, keeps the former contents.
    void Read(reader::Readers& readers, uint32_t pid, uint64_t address);
    // Copies part of the window into `bytes`, after a Read if needed.
    bool Copy(reader::Readers& readers, uint32_t pid, uint64_t address, std::span<std::byte> bytes);

    const size_t pages;
    std::vector<std::byte> memory;
    uint32_t pid = 0;
    uint64_t start = 0;
    size_t size = 0;    // bytes that could be read
    uint32_t uses = 0;  // uses since the last Read
  };

  reader::Readers& readers_;
  ManagedProcesses* machines_ = nullptr;
  uint64_t stack_time_ = 0;
  // Number of windows. Each holds one piece of code that chains go through.
  static constexpr size_t kCodeWindows = 16;
  std::vector<Window> code_ = std::vector<Window>(kCodeWindows, Window(2));
};

// The spaces of all recorded processes. Use it from one thread, with records in time order.
// Allocates only for mappings and images.
//
// A program may map ever new files, each under a name of 4 KB. So images that no process maps any
// more are closed now and then. The images of each process have to fit into its share of a budget;
// code of further images is not unwound.
class LiveSpaces final : private sideband::SidebandUser {
 public:
  // `layout` is the layout of the taken records, `written` the layout of the records in the file.
  // `proc_path` is the path of /proc. `readers` must outlive this object.
  LiveSpaces(const perf_event::RecordLayout& layout, const perf_event::RecordLayout& written,
             const std::string& proc_path, reader::Readers& readers);

  // Also opens images from `kept` if their file is gone. Calls `keep` for each new image, so that
  // its file is kept if possible.
  void OpenKept(std::shared_ptr<const symbolize::KeptFiles> kept,
                std::function<void(const perf_event::Mmap2&)> keep) {
    files_.kept = std::move(kept);
    keep_ = std::move(keep);
  }

  // Takes a record of any type, as Sideband does. Opens a new executable image at once, and reads
  // only its headers.
  void Take(perf_event::RawRecord record) { sideband_.Take(record, layout_); }

  // Returns the memory of the process to which the next samples belong.
  LiveSpace& Enter(uint32_t pid) {
    space_.Enter(pid, spaces_.Process(pid));
    return space_;
  }

  // Returns the dumps with the names of code that virtual machines make. The dumps' records precede
  // the samples.
  CodeDumps& dumps() { return dumps_; }
  // Returns the Python interpreters of the processes.
  python::Processes& python() { return python_; }
  const python::Processes& python() const { return python_; }
  // Begins a pass. State that was read from virtual machines earlier may have changed.
  void Refresh() {
    machines_.Refresh();
    python_.Refresh();
    unwind_images_.StartPass();
  }

  // True while the process executes another program (AddressSpaces::IsExecuting).
  bool IsExecuting(uint32_t pid) const { return spaces_.IsExecuting(pid); }
  // For a process for which IsExecuting is true: enters its former or its next program, to which
  // the sample belongs. Returns false if that program's memory is gone; then only its files can be
  // read.
  bool EnterDuringExec(uint32_t pid, bool in_user_code, uint64_t user_ip) {
    const symbolize::AddressSpace& space =
        spaces_.DuringExec(pid, in_user_code, RuntimeAddress{user_ip});
    space_.Enter(pid, space);
    return &space == &spaces_.Process(pid);
  }

  // Returns the path of an image, by its number in MappedCode. Call it only after a frame in the
  // image was met.
  const std::string& ImagePath(uint32_t image) const { return images_[image]->spec.path; }

 private:
  struct Image {
    // Returns the number of bytes by which the image charges the budget.
    uint64_t cost() const;

    symbolize::ImageSpec spec;
    std::optional<symbolize::ImageFile> file;  // present until the image's first frame is met
    bool was_met = false;
    bool is_closed = false;  // True if its share of the budget was given back.
    // The owner of the file, and the file's number of sections and segments; set if the file
    // belongs to neither root nor this process's user.
    uid_t owner = 0;
    size_t headers_of_others = 0;
  };

  symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap, symbolize::ImageKind kind) override;
  void FoundJitDump(const perf_event::Mmap2& mmap) override { machines_.HasDump(mmap.pid); }
  void Named(const perf_event::Comm& comm, bool by_exec) override;
  void Forked(const perf_event::Task& task) override;
  void Ended(const perf_event::Task& task) override;
  symbolize::ImageId ImageOf(const perf_event::Mmap2& mapping, symbolize::ImageKind kind);
  symbolize::ImageId Add(Image image);
  // Opens the file of a new image, if the budget has room for its headers.
  void OpenUserImage(Image& image);
  bool HasChanged(symbolize::ImageId image) const;
  std::optional<symbolize::UnwindImageFiles> TakeFile(symbolize::ImageId image);
  void CloseUnmappedImages();

  const perf_event::RecordLayout layout_;
  symbolize::SymbolizerOptions files_;                  // how image files are found
  std::function<void(const perf_event::Mmap2&)> keep_;  // called for each new image; may be empty
  sideband::Sideband sideband_{*this};
  symbolize::AddressSpaces& spaces_ = sideband_.spaces();
  // Indexed by ImageId. An entry is null if its image was closed before a frame in it was met; then
  // nobody holds its id.
  std::vector<std::unique_ptr<Image>> images_;
  std::vector<symbolize::ImageId> free_;  // indices of null images
  // Identifies an image: path, build-id, device (major, minor) and inode.
  using Key = std::tuple<std::string, std::string, uint32_t, uint32_t, uint64_t>;
  absl::flat_hash_map<Key, symbolize::ImageId> ids_;
  // Budget for sections and segments of files that belong to neither root nor this process's user.
  // Each owner of files has a share. All such files together may take some tens of megabytes; one
  // owner has room for a thousand programs.
  static constexpr size_t kMostHeadersOfOthers = 800'000, kMostHeadersOfOne = 4'000;
  FairBudget header_budget_{kMostHeadersOfOthers};
  symbolize::UnwindImages unwind_images_;
  CodeDumps dumps_;
  reader::Readers& readers_;
  ManagedProcesses machines_{files_, dumps_, readers_};
  python::Processes python_{files_, dumps_, readers_};
  LiveSpace space_;
  std::deque<uint32_t> exited_;
  size_t forgotten_ = 0;  // processes forgotten since the last CloseUnmappedImages
  size_t opened_ = 0;     // images opened since the last CloseUnmappedImages
  size_t mapped_ = 0;     // images that were mapped at the last CloseUnmappedImages
  FairBudget budget_;     // budget for images; each process has a share
  std::optional<symbolize::ImageId> too_many_;
};

}  // namespace profiler::record
