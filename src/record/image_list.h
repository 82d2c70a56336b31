// The executable images that a recording has seen, and their build-ids.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "src/base/fair_budget.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/records.h"
#include "src/procfs/build_id.h"

namespace profiler::record {

// One thread. A mapping of an image that is known costs one look-up and no allocation. A program
// may map files under ever new names; of those of one process no more are kept than have room, and
// of all processes together, in kMostBytes.
class ImageList {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;

  // A mapping as an MMAP2 record of header `misc` says it. Takes the build-id from the record, or
  // from the file, now, while it is likely to be there still.
  void Add(const perf_event::Mmap2& mapping, uint16_t misc);
  // The next file begins. What was read of images is kept for it.
  void BeginFile();

  // The BUILD_ID feature's entries of the images that were added since the file began, in the order
  // of their first mapping; those without a build-id are left out. The kernel comes first, unless
  // `kernel` is empty.
  std::vector<perf_data::BuildIdEntry> Entries(const procfs::BuildId& kernel) const;

 private:
  struct Image {
    procfs::BuildId build_id;
    bool in_file = true;
  };
  using Images = absl::node_hash_map<std::string, Image>;

  Images images_;                                 // by name
  std::vector<const Images::value_type*> order_;  // of their first mapping
  FairBudget budget_{kMostBytes};                 // of processes
};

}  // namespace profiler::record
