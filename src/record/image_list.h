// The executable images that a recording has seen, and their build-ids.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "src/base/fair_budget.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/records.h"
#include "src/machine/procfs/build_id.h"

namespace profiler::record {

// The images of a recording. Use it from one thread. A mapping of a known image costs one look-up
// and no allocation.
//
// A program may map files under ever new names. The names of one process, and of all processes
// together, are limited by shares of kMostBytes.
class ImageList {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;

  // Adds the mapping of an MMAP2 record with header field `misc`. Takes the build-id from the
  // record. Without one, reads it from the file at once, while the file most likely still exists.
  void Add(const perf_event::Mmap2& mapping, uint16_t misc);
  // Begins the next file: Entries() lists only images added from now on. The build-ids of earlier
  // images stay cached.
  void BeginFile();

  // Returns the BUILD_ID feature's entries of the images added since the file began, in the order
  // of their first mapping. Leaves out images without a build-id. The kernel comes first, unless
  // `kernel` is empty.
  std::vector<perf_data::BuildIdEntry> Entries(const procfs::BuildId& kernel) const;

 private:
  struct Image {
    procfs::BuildId build_id;
    bool in_file = true;
  };
  using Images = absl::node_hash_map<std::string, Image>;

  Images images_;                                 // keyed by name
  std::vector<const Images::value_type*> order_;  // in the order of the first mapping
  FairBudget budget_{kMostBytes};                 // each process has a share
};

}  // namespace profiler::record
