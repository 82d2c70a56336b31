// Caches names from debug information between runs, by build-id of the image.
//
// A program may have a gigabyte of debug information, of which each run reads the parts that it
// hits. Facts about an address never change, because the build-id identifies the image. The cache
// has one file per image, with all addresses that were looked up while debug information was
// available:
//
//   DIRECTORY/BUILD-ID-OWNER-SIZE   "PROFNAM3" │ CRC-32 of the rest, u32 │ section NAMES of one
//                                                                          image
//
// If debug information covers none of a run's addresses, it may not be installed yet. So nothing of
// such a run is cached.
//
// Anybody can link a program with the build-id of another program, and names of the one must never
// be used for the other. Therefore names are cached only for images that root or the user owns
// (FactSource::TrustedFileOf), and the name of a cache file contains the image's owner and size.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/names/name_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// The cache in one directory. Other processes may use the directory at the same time: files are
// replaced as a whole, but if two processes add to one image, the additions of one may be lost. A
// damaged file is ignored. The directory must belong to the user, and no link in it is followed
// (src/base/own_directory.h).
class NameCache {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // Returns $XDG_CACHE_HOME/profiler/names, or ~/.cache/profiler/names if that variable has no
  // absolute path. Without `lines`, returns the directory "functions" in place of "names", because
  // names without lines answer fewer questions. Empty, so that nothing is cached, if HOME has no
  // absolute path either, or if the directory belongs to another user (sudo).
  static std::string UsersDirectory(bool lines);

  // An empty directory disables the cache. If the cache's own files, recognized by their names,
  // exceed `most_bytes`, the least recently used ones are removed.
  explicit NameCache(std::string directory, uint64_t most_bytes = kMostBytes)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  // Returns true if the image has a build-id that identifies it.
  bool MayKeep(const ImageSpec& image) const;

  // Returns the facts that the cache has about an image whose file is `file`, with the path of
  // `image`.
  std::optional<NameFacts> Read(const ImageSpec& image, const TrustedFile& file) const;

  // The facts that a run collected about one image.
  struct Found {
    ImageSpec image;
    TrustedFile file;
    NameFacts facts;
  };
  // Adds facts that are worth caching. Write errors are ignored.
  void Add(const std::vector<Found>& found) const;

 private:
  std::optional<NameFacts> ReadIn(int directory, const ImageSpec& image,
                                  const TrustedFile& file) const;
  void AddIn(int directory, const Found& found) const;
  void Write(int directory, const std::string& name, std::string_view content) const;
  void MakeRoom(int directory) const;

  std::string directory_;
  uint64_t most_bytes_;
};

}  // namespace profiler::symbolize
