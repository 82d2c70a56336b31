// Which images there are: those that share one file are one, so that it is opened once.
//
// Opens no image. Looks at processes: two of them that live in file systems of their own have
// different files of one name.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Not thread-safe.
class ImageTable {
 public:
  // `options` must outlive it.
  explicit ImageTable(const SymbolizerOptions& options) : options_(options) {}

  // As Images::AddImage; numbers are dense.
  ImageId Add(const ImageSpec& spec);
  const ImageSpec& operator[](ImageId id) const { return At(id).spec; }

  // As Images::SetLife.
  void SetLife(uint32_t process, const ProcessLife& life) { lives_[process] = life; }
  // The file is looked for now, by what is known: its process stays the one that it is.
  void Settle(ImageId id);

 private:
  // Kind, path, build-id, process, device and inode, start.
  using Key = std::tuple<ImageKind, std::string, std::string, uint32_t, uint32_t, uint32_t,
                         uint64_t, uint64_t>;
  static constexpr size_t kMajor = 4, kMinor = 5, kInode = 6, kStart = 7;  // in a Key
  struct Image {
    ImageSpec spec;
    bool is_settled = false;
  };

  const Image& At(ImageId id) const { return images_[static_cast<uint32_t>(id)]; }
  ImageId Known(ImageId id, const ImageSpec& spec);
  bool IsOfItsProcess(const ImageSpec& spec);
  bool HasItsOwnRoot(const ImageSpec& spec);
  ProcessLife LifeOf(uint32_t process) const;

  const SymbolizerOptions& options_;
  std::deque<Image> images_;
  absl::flat_hash_map<Key, ImageId> ids_;
  // By a key without device, inode and start, which not everybody knows who asks again: the first
  // image that differs in these alone.
  absl::flat_hash_map<Key, ImageId> firsts_;
  absl::flat_hash_map<uint32_t, bool> has_own_root_;  // by process
  absl::flat_hash_map<uint32_t, ProcessLife> lives_;  // likewise
};

}  // namespace profiler::symbolize
