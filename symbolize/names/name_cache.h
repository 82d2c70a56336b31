// Names that debug information gave, kept from one run to the next: an image's by its build-id.
//
// A program's debug information may be a gigabyte, of which each run reads what it hits. What was
// read once for an address never changes, for the build-id says that the image is the same. So
//
//   DIRECTORY/BUILD-ID-OWNER-SIZE   "PROFNAM3" │ CRC-32 of the rest, u32 │ section NAMES, of one
//   image
//
// has the addresses that were ever looked up where debug information was at hand. An image whose
// debug information knew none of a run's addresses may have had none, and it may be installed
// later: nothing of such a run is kept.
//
// Anybody can link a program with the build-id of another one. So that its names are not taken for
// those of the other one, now and in each later run, files of root and of the user alone are in the
// cache (FactSource::TrustedFileOf), and the owner and the size of an image's file stand beside its
// build-id.

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

// Safe against other processes that use the directory: a file is replaced whole. Of two that add to
// one image at a time, what the first one added may be lost. A file that is damaged is as none. The
// directory is this user's own, and no link in it is followed (src/base/own_directory.h).
class NameCache {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // $XDG_CACHE_HOME/profiler/names, or that below ~/.cache; names without lines are in functions
  // beside it, for they answer less. Empty where there is no home, or it is another user's (sudo):
  // then nothing is kept.
  static std::string UsersDirectory(bool lines);

  // No directory: keeps nothing. Beyond `most_bytes` of the cache's own files, which their names
  // tell, those go that were not used for the longest time.
  explicit NameCache(std::string directory, uint64_t most_bytes = kMostBytes)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  // Whether the image is told apart from all others by its build-id.
  bool MayKeep(const ImageSpec& image) const;

  // What is kept of an image whose file is this, under its path.
  std::optional<NameFacts> Read(const ImageSpec& image, const TrustedFile& file) const;

  // What a run found out about one image.
  struct Found {
    ImageSpec image;
    TrustedFile file;
    NameFacts facts;
  };
  // Adds what is worth keeping. What cannot be written is not kept: no error.
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
