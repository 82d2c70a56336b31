// What the processes of a recording have mapped while it goes on, and the images there, opened
// while they can be: a file may be gone a moment later, its process too.

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
#include "src/perf_event/codec.h"
#include "src/reader/readers.h"
#include "src/record/code_dumps.h"
#include "src/record/managed_processes.h"
#include "src/sideband/sideband.h"
#include "symbolize/address_space.h"
#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/unwind_images.h"

namespace profiler::record {

// The memory of a process that runs, for what the copied stack does not have. One thread.
class LiveSpace final : public symbolize::MappedSpace {
 public:
  LiveSpace(symbolize::UnwindImages& images, reader::Readers& readers)
      : MappedSpace(images), readers_(readers) {}

  // Sets the time before which code of virtual machines must have been there to be the code of a
  // stack that was read after its sample. 0: the time of the sample.
  void SetStackTime(uint64_t time) { stack_time_ = time; }

  // Where frames in memory without an image are asked for; null: nowhere. Must outlive it.
  void SetMachines(ManagedProcesses* machines) { machines_ = machines; }
  symbolize::ManagedCode* Managed() override {
    return machines_ == nullptr ? nullptr : machines_->Of(pid(), stack_time_);
  }

  // Code without a file is asked for in the process as it is now, and kept for a while, some pages
  // of it.
  bool ReadCode(RuntimeAddress address, std::span<std::byte> bytes) override;

 private:
  // A piece of a process's memory, copied from it.
  struct Window {
    explicit Window(size_t pages) : pages(pages) {}
    bool Holds(uint64_t address, size_t bytes) const {
      return address >= start && address - start < size && bytes <= size - (address - start);
    }
    // From the page of `address` on. What it has of there stays where nothing can be read: the
    // process may have ended.
    void Read(reader::Readers& readers, uint32_t pid, uint64_t address);
    // Of it into `bytes`, after a Read where that is needed.
    bool Copy(reader::Readers& readers, uint32_t pid, uint64_t address, std::span<std::byte> bytes);

    const size_t pages;
    std::vector<std::byte> memory;
    uint32_t pid = 0;
    uint64_t start = 0;
    size_t size = 0;    // that could be read
    uint32_t uses = 0;  // since it was read
  };

  reader::Readers& readers_;
  ManagedProcesses* machines_ = nullptr;
  uint64_t stack_time_ = 0;
  // By page: a chain goes through several pieces of code.
  static constexpr size_t kCodeWindows = 16;
  std::vector<Window> code_ = std::vector<Window>(kCodeWindows, Window(2));
};

// One thread. Fed with records in time order. Allocates for mappings and images alone.
//
// A program may map ever new files, each under a name of 4 KB. What no process has mapped any more
// is closed now and then, and what one process has mapped has to fit into its share of a budget:
// code of more images than that is not unwound.
class LiveSpaces final : private sideband::SidebandUser {
 public:
  // `layout` is that of the records, `written` of those that go into the file; `proc_path` is where
  // /proc is. `readers` must outlive it.
  LiveSpaces(const perf_event::RecordLayout& layout, const perf_event::RecordLayout& written,
             const std::string& proc_path, reader::Readers& readers);

  // Opens images from `kept`, too, when they are not where they were mapped from; `keep` is told of
  // each that was not met before, so that it is there if it can be.
  void OpenKept(std::shared_ptr<const symbolize::KeptFiles> kept,
                std::function<void(const perf_event::Mmap2&)> keep) {
    files_.kept = std::move(kept);
    keep_ = std::move(keep);
  }

  // A record of any type, as Sideband takes it. An executable image that was not met before is
  // opened now: its headers are read, nothing else.
  void Take(perf_event::RawRecord record) { sideband_.Take(record, layout_); }

  // The process whose samples come next.
  LiveSpace& Enter(uint32_t pid) {
    space_.Enter(pid, spaces_.Process(pid));
    return space_;
  }

  // The names of code that virtual machines make: the samples' records go with them.
  CodeDumps& dumps() { return dumps_; }
  // What was read of virtual machines may be otherwise by now.
  void Refresh() {
    machines_.Refresh();
    unwind_images_.StartPass();
  }

  // As AddressSpaces has it.
  bool IsExecuting(uint32_t pid) const { return spaces_.IsExecuting(pid); }
  // Enters what a sample of a process that IsExecuting is of. False where that is gone: nothing of
  // it can be read, only found by the files.
  bool EnterDuringExec(uint32_t pid, bool in_user_code, uint64_t user_ip) {
    const symbolize::AddressSpace& space =
        spaces_.DuringExec(pid, in_user_code, RuntimeAddress{user_ip});
    space_.Enter(pid, space);
    return &space == &spaces_.Process(pid);
  }

  // Of an image's number, as MappedCode has it, of which a frame was met.
  const std::string& ImagePath(uint32_t image) const { return images_[image]->spec.path; }
  // Heap memory of the unwinding tables.
  size_t table_memory() const { return unwind_images_.memory_used(); }

 private:
  struct Image {
    // Of the budget.
    uint64_t cost() const;

    symbolize::ImageSpec spec;
    std::optional<symbolize::ImageFile> file;  // until its first frame is met
    bool was_met = false;
    bool is_closed = false;  // what it took of the budget was given back
    // Where its file is somebody else's: whose, and its sections and segments.
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
  // The file of a new image, where there is room for its headers.
  void OpenUserImage(Image& image);
  bool HasChanged(symbolize::ImageId image) const;
  std::optional<symbolize::UnwindImageFiles> TakeFile(symbolize::ImageId image);
  void CloseUnmappedImages();

  const perf_event::RecordLayout layout_;
  symbolize::SymbolizerOptions files_;                  // where image files are looked for
  std::function<void(const perf_event::Mmap2&)> keep_;  // may be empty
  sideband::Sideband sideband_{*this};
  symbolize::AddressSpaces& spaces_ = sideband_.spaces();
  // By ImageId; null: closed before a frame of it was met, so nobody knows its number any more.
  std::vector<std::unique_ptr<Image>> images_;
  std::vector<symbolize::ImageId> free_;  // those that are null
  // Path, build-id, device and inode.
  using Key = std::tuple<std::string, std::string, uint32_t, uint32_t, uint64_t>;
  absl::flat_hash_map<Key, symbolize::ImageId> ids_;
  // Sections and segments of files that are neither root's nor the user's, by who owns them: all
  // those that are open may have some tens of megabytes. One owner may have as many as a thousand
  // programs have.
  static constexpr size_t kMostHeadersOfOthers = 800'000, kMostHeadersOfOne = 4'000;
  FairBudget header_budget_{kMostHeadersOfOthers};
  symbolize::UnwindImages unwind_images_;
  CodeDumps dumps_;
  reader::Readers& readers_;
  ManagedProcesses machines_{files_, dumps_, readers_};
  LiveSpace space_;
  std::deque<uint32_t> exited_;
  size_t forgotten_ = 0;  // processes, since unmapped images were closed
  size_t opened_ = 0;     // images, since then
  size_t mapped_ = 0;     // images, then
  FairBudget budget_;     // of processes, for images
  std::optional<symbolize::ImageId> too_many_;
};

}  // namespace profiler::record
