// Numbers images. Images with the same file get one number, so the file is opened once.
//
// Opens no image, but reads about processes in /proc: two processes with file systems of their own
// may have different files under one name.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// All images of a source. Not thread-safe.
class ImageTable {
 public:
  // `options` must outlive this object.
  explicit ImageTable(const SymbolizerOptions& options) : options_(options) {}

  // Returns the number of an image, like Images::AddImage. Numbers are dense.
  ImageId Add(const ImageSpec& spec);
  const ImageSpec& operator[](ImageId id) const { return At(id).spec; }

  // Sets facts about a process, like RecordedFacts::SetLife.
  void SetLife(uint32_t process, const ProcessLife& life) { lives_[process] = life; }
  // Fixes the process and life of an image, because its file is opened now.
  void Settle(ImageId id);

 private:
  // The elements of a key: kind, path, build-id, process, device and inode, start.
  using Key = std::tuple<ImageKind, std::string, std::string, uint32_t, uint32_t, uint32_t,
                         uint64_t, uint64_t>;
  static constexpr size_t kMajor = 4, kMinor = 5, kInode = 6, kStart = 7;  // indices in a Key
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
  // Maps a key without device, inode and start to the first image with that key, because some
  // callers do not know these three.
  absl::flat_hash_map<Key, ImageId> firsts_;
  absl::flat_hash_map<uint32_t, bool> has_own_root_;  // keyed by process
  absl::flat_hash_map<uint32_t, ProcessLife> lives_;  // keyed by process
};

}  // namespace profiler::symbolize
