// Joins the mappings of processes (address_space.h) with call frame information, for an Unwinder.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/base/address.h"
#include "symbolize/address_space.h"
#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// An image as whoever opens it hands it over.
struct UnwindImageFiles {
  ImageFile image;
  std::optional<ImageFile>
      debug;  // only of use where the image has neither .eh_frame nor .debug_frame
};

// Every image of a recording, opened when the first frame in it is met, and once unless it is
// closed. Images whose files are neither root's nor the user's share one FrameBudget: what is more
// than that is not unwound. Not thread-safe.
class UnwindImages {
 public:
  // Opens the file of an image that process `pid` has mapped so; empty where that cannot be, which
  // is final.
  using Opener = std::function<std::optional<UnwindImageFiles>(ImageId image, uint32_t pid,
                                                               const Mapping& mapping)>;
  explicit UnwindImages(Opener open);
  ~UnwindImages();
  UnwindImages(const UnwindImages&) = delete;
  UnwindImages& operator=(const UnwindImages&) = delete;

  // The code at `address`, which `mapping` holds: as much of the mapping as belongs to the same
  // segment of the image. Its `image` is the ImageId.
  MappedCode CodeAt(uint32_t pid, const Mapping& mapping, RuntimeAddress address);

  // Whether files were overwritten is looked at once from one call to the next, not whenever more
  // of them was read: for Go code that is with each address. Before the first call it is the
  // latter.
  void StartPass() { ++pass_; }

  // To be called for each sample: adds to the budget.
  void StartSample() { of_others_.StartSample(); }

  // Fills `bytes` with what the image's file has at `offset`. False for an image that is not open,
  // at the file's end, and where the file was found to be another one than was opened.
  bool CopyFileBytes(ImageId image, FileOffset offset, std::span<std::byte> bytes) const;

  // Whether the files of an open image were overwritten since (MappedFile::HasChanged). Chains that
  // need more of them end with ChainEnd::kFileChanged.
  bool HasChanged(ImageId image) const;

  // Closes the image, which no process has mapped any more. It can be opened anew.
  void Close(ImageId image);

  // Null for an image that was not met or could not be opened.
  const CfiTable* table(ImageId image) const;

  // Heap memory of all tables, in bytes.
  size_t memory_used() const;

 private:
  struct Image;
  Image& Open(uint32_t pid, const Mapping& mapping);
  bool HasChangedInPass(Image& image) const;
  const Image* Find(ImageId image) const;  // null: not met

  Opener open_;
  uint64_t pass_ = 0;
  FrameBudget of_others_;                       // outlives the tables
  std::vector<std::unique_ptr<Image>> images_;  // by ImageId; null: not met
};

// One process after the other as an UnwindSpace. Derive to read live memory too.
class MappedSpace : public UnwindSpace {
 public:
  // `images` must outlive it.
  explicit MappedSpace(UnwindImages& images) : images_(images) {}

  // The process of the next samples; `addresses` must stay as it is while they are unwound.
  void Enter(uint32_t pid, const AddressSpace& addresses) {
    pid_ = pid;
    addresses_ = &addresses;
    images_.StartSample();
  }

  bool FindCode(RuntimeAddress address, MappedCode* code) override;
  uint64_t Identity() const override {
    return addresses_ == nullptr ? 0 : addresses_->generation();
  }
  // From the files of images: code and constants.
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override;

 protected:
  uint32_t pid() const { return pid_; }

 private:
  UnwindImages& images_;
  uint32_t pid_ = 0;
  const AddressSpace* addresses_ = nullptr;
};

}  // namespace profiler::symbolize
