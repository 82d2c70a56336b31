// Writes a perf.data file (version 2) that is readable at every moment, also after kill -9.
//
//   104 B header │ ids of event 0, spare │ ids of event 1, spare │ … │ attr entries │ records … │
//   features
//
// The header's data.size is made true by every FinishRound; features and their bits are written by
// Finish alone. What is behind data.size does not count, so a write that fails half-way (full disk)
// loses what it was given and nothing before it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

struct EventToWrite {
  perf_event::Attr attr;  // its size is chosen here: the smallest that holds all events
  std::string name;
  std::vector<uint64_t> ids;  // as known now; AddIds brings later ones
};

// Gets every piece of a stream as it is written, the header first: whole records, but for those
// that go on from one piece of a call in the next one. A stream cannot be read again, so this is
// how whoever writes it learns what is in it.
using StreamListener = std::function<void(std::span<const std::span<const std::byte>> pieces)>;

struct WriterOptions {
  // Room for so many further ids of each event.
  size_t id_capacity = 0;
  // 0: records are written as they are. 1 to 22: they are compressed (zstd, COMPRESSED records,
  // which perf reads since 5.2), at some cost of CPU and of a buffer of 64 KiB.
  int compression_level = 0;
  StreamListener on_stream;  // of streams alone; may be empty
  // The file has no name: it is in memory (memfd_create(2)), takes no room on any disk, and is gone
  // with its writer. Its path is for messages.
  bool in_memory = false;
  // Whole records that belong to the beginning, as a round of their own; may be empty. Valid while
  // Create runs.
  std::span<const std::byte> start;
};

// One thread only.
class Writer {
 public:
  // Creates `path` (an old file that is not empty is first renamed to `path.old`) and writes a
  // header that is already valid, and `options.start`. Where that fails, the new file goes and the
  // old one has its name again. For "-" (standard output) and what cannot be sought (a FIFO) it
  // writes a stream: see stream_writer.h for what is different then. Errors: those of open(2),
  // rename(2), write(2); kInvalidArgument without events.
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        std::vector<EventToWrite> events,
                                                        const WriterOptions& options);
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        std::vector<EventToWrite> events,
                                                        size_t id_capacity) {
    return Create(path, std::move(events), WriterOptions{.id_capacity = id_capacity});
  }
  virtual ~Writer() = default;

  // Ids that came after Create (threads that were found late). When the room is used up they are
  // kept in memory and Finish writes all ids of the event behind the data: only a recording that is
  // killed then lacks them. Errors: those of pwrite(2); kInvalidArgument for an unknown event.
  virtual absl::Status AddIds(size_t event, std::span<const uint64_t> ids) = 0;

  // Appends whole records (or consecutive pieces of whole records) as they are: one writev(2) a
  // call (a call for each 256 pieces), no copy, no allocation. An error (ENOSPC, EDQUOT, EFBIG,
  // EIO) means that nothing of this call is in the file; Append may be tried again, and Finish
  // still works.
  virtual absl::Status Append(std::span<const std::span<const std::byte>> pieces) = 0;

  // Marks the end of a round (PERF_RECORD_FINISHED_ROUND) and makes data.size true. Does nothing
  // when nothing was appended since the last one.
  virtual absl::Status FinishRound() = 0;

  // Writes the features and the final header, behind a round marker where nothing was appended.
  // EVENT_DESC is made from the events; the rest is `features`. Call it once, last. After an error
  // the file holds the records without features.
  virtual absl::Status Finish(const Features& features) = 0;

  // Adds a feature section of ours (from kFirstOwnFeature on) that was found out after Finish. Call
  // it in the order of the bits, all of which are above those of Finish (else kInternal), for at
  // most eight. Whoever is killed on the way leaves the
  // recording as it was: in a file the section goes behind the end, its entry into a spare place of
  // the feature table, and then one write of the header says that it is there; in a stream it
  // follows as further records. In a file a failed write is undone.
  virtual absl::Status AppendSection(int bit, std::string_view section) = 0;

  // The file itself, for whoever reads what was written: under its name there may be another one by
  // now. Valid as long as the writer. -1 for a stream and a device, and where reading is not
  // permitted.
  virtual int readable_file() const = 0;

  // The size of the file up to now.
  virtual uint64_t bytes_written() const = 0;
};

}  // namespace profiler::perf_data
