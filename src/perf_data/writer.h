// Writes a perf.data file (version 2) that is readable at every moment, also after kill -9.
//
// The header's data.size is made true by every Flush; features and their bits are written by Finish
// alone.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/features.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

struct EventToWrite {
  perf_event::Attr attr;
  std::string name;
  std::vector<uint64_t> ids;  // as known now; AddIds brings later ones
};

// One thread only.
class Writer {
 public:
  // Creates `path` (an old file is first renamed to `path.old`) and writes a header that is already
  // valid. `id_capacity` leaves room for ids that appear later. Errors: those of open(2),
  // rename(2), write(2).
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        std::vector<EventToWrite> events,
                                                        size_t id_capacity);
  virtual ~Writer() = default;

  // Ids that came after Create (threads that were found late). kResourceExhausted when the room is
  // used up.
  virtual absl::Status AddIds(size_t event, std::span<const uint64_t> ids) = 0;

  // Appends whole records (or consecutive pieces of whole records) as they are: one writev(2) a
  // call.
  virtual absl::Status Append(std::span<const std::span<const std::byte>> pieces) = 0;

  // Marks the end of a round (PERF_RECORD_FINISHED_ROUND) and makes data.size true.
  virtual absl::Status FinishRound() = 0;

  // Writes the features and the final header. EVENT_DESC is made from the events; the rest is
  // `features`.
  virtual absl::Status Finish(const Features& features) = 0;

  virtual uint64_t bytes_written() const = 0;
};

}  // namespace profiler::perf_data
