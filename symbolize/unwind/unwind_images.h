// Provides an Unwinder with mappings of processes (address_space.h) and their call frame
// information.

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

// An open image.
struct UnwindImageFiles {
  ImageFile image;
  std::optional<ImageFile>
      // Separate debug file. Used only if the image has neither .eh_frame nor .debug_frame.
      debug;
};

// All images of a recording. An image is opened when its first frame is met; after Close it may be
// opened again. Images whose files belong to neither root nor the user share one FrameBudget; when
// it is used up, their frames are not unwound. Not thread-safe.
class UnwindImages {
 public:
  // A function that opens the files of an image that process `pid` has mapped at `mapping`. Returns
  // empty if they cannot be opened; then UnwindImages does not try again.
  using Opener = std::function<std::optional<UnwindImageFiles>(ImageId image, uint32_t pid,
                                                               const Mapping& mapping)>;
  explicit UnwindImages(Opener open);
  ~UnwindImages();
  UnwindImages(const UnwindImages&) = delete;
  UnwindImages& operator=(const UnwindImages&) = delete;

  // Returns the code at `address`, an address in `mapping`. The result covers the part of the
  // mapping that belongs to the same segment of the image. Its member `image` is the ImageId.
  MappedCode CodeAt(uint32_t pid, const Mapping& mapping, RuntimeAddress address);

  // Begins a pass, a period in which each image is checked at most once for overwritten files.
  // Before the first call of StartPass, an image is checked each time after more of it was read;
  // Go code is then checked at each address.
  void StartPass() { ++pass_; }

  // Adds one sample's share to the budget. Call it for each sample.
  void StartSample() { of_others_.StartSample(); }

  // Copies bytes from the image's file at `offset` to `bytes`. Returns false if the image is not
  // open, if the file has fewer bytes there, or if the file has changed.
  bool CopyFileBytes(ImageId image, FileOffset offset, std::span<std::byte> bytes) const;

  // Returns true if the files of an open image were overwritten (MappedFile::HasChanged). Chains
  // that need more of these files end with ChainEnd::kFileChanged.
  bool HasChanged(ImageId image) const;

  // Closes an image that no process has mapped any more. It may be opened again.
  void Close(ImageId image);

  // Returns the image's table; null if the image was not met yet or could not be opened.
  const CfiTable* table(ImageId image) const;

  // Returns the size of all tables' heap memory in bytes.
  size_t memory_used() const;

 private:
  struct Image;
  Image& Open(uint32_t pid, const Mapping& mapping);
  bool HasChangedInPass(Image& image) const;
  const Image* Find(ImageId image) const;  // null: not met yet

  Opener open_;
  uint64_t pass_ = 0;
  FrameBudget of_others_;  // for files of other users; declared first, so it outlives the tables
  std::vector<std::unique_ptr<Image>> images_;  // index: ImageId; null: not met yet
};

// A view of one process at a time as an UnwindSpace. Derive from it to read live memory too.
class MappedSpace : public UnwindSpace {
 public:
  // `images` must outlive this object.
  explicit MappedSpace(UnwindImages& images) : images_(images) {}

  // Selects the process of the next samples. `addresses` must not change while these samples are
  // unwound.
  void Enter(uint32_t pid, const AddressSpace& addresses) {
    pid_ = pid;
    addresses_ = &addresses;
    images_.StartSample();
  }

  // Returns the mappings of the selected process; null before the first Enter.
  const AddressSpace* addresses() const { return addresses_; }

  bool FindCode(RuntimeAddress address, MappedCode* code) override;
  uint64_t Identity() const override {
    return addresses_ == nullptr ? 0 : addresses_->generation();
  }
  // Fills `bytes` from the files of images, which contain code and constants.
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override;

 protected:
  uint32_t pid() const { return pid_; }

 private:
  UnwindImages& images_;
  uint32_t pid_ = 0;
  const AddressSpace* addresses_ = nullptr;
};

}  // namespace profiler::symbolize
