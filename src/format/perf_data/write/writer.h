// Writes a perf.data file (version 2) that is readable at every moment, even after kill -9.
//
//   104 B header │ ids of event 0, spare │ … │ attr entries │ records … │ features
//
// FinishRound updates the header's data.size; only Finish writes features and their bits. Bytes
// behind data.size do not count. If a write fails half-way (full disk), only the records of that
// call are lost.

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
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_data {

struct EventToWrite {
  // The event's attr. Create sets its size field to the smallest size that fits the attrs of all
  // events.
  perf_event::Attr attr;
  std::string name;
  std::vector<uint64_t> ids;  // ids that are known at Create; AddIds adds more
};

// A function that gets every piece of a stream as it is written, the header first. Each call gets
// whole records, which may span two pieces. The owner of a stream's writer sees the records only by
// this function, because a stream cannot be read again.
using StreamListener = std::function<void(std::span<const std::span<const std::byte>> pieces)>;

struct WriterOptions {
  // Number of ids per event for which Create reserves room in the file.
  size_t id_capacity = 0;
  // 0: records are not compressed. 1 to 22: level of zstd; COMPRESSED records can be read by perf
  // 5.2 and later. Compressing costs CPU time and a buffer of 64 KiB.
  int compression_level = 0;
  StreamListener on_stream;  // only for streams; may be empty
  // True for an unnamed file in memory (memfd_create(2)), which is freed with its writer. Its path
  // is for messages.
  bool in_memory = false;
  // Whole records to write first, as a round of their own; may be empty. Must be valid during
  // Create.
  std::span<const std::byte> start;
};

// A writer for one thread.
class Writer {
 public:
  // Creates `path` and writes a valid header and `options.start`. An old file that is not empty is
  // first renamed to `path.old`; if Create fails, the old file gets its name back, and the new file
  // is removed. Writes a stream to "-" (standard output) and to outputs that cannot seek (a FIFO).
  // stream_writer.h lists the differences between a stream and a file. Errors: those of open(2),
  // rename(2) and write(2); kInvalidArgument if there are no events.
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        std::vector<EventToWrite> events,
                                                        const WriterOptions& options);
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        std::vector<EventToWrite> events,
                                                        size_t id_capacity) {
    return Create(path, std::move(events), WriterOptions{.id_capacity = id_capacity});
  }
  virtual ~Writer() = default;

  // Adds ids that became known after Create, of threads that were found later. If the event's room
  // in the file is full, the ids stay in memory, and Finish writes all ids of the event behind the
  // data. If the recorder is killed before Finish, its recording lacks the ids in memory. Errors:
  // those of pwrite(2); kInvalidArgument for an unknown event.
  virtual absl::Status AddIds(size_t event, std::span<const uint64_t> ids) = 0;

  // Appends whole records (or consecutive pieces of whole records) unchanged, with one writev(2)
  // per 256 pieces. Does not copy or allocate. After an error (ENOSPC, EDQUOT, EFBIG, EIO) nothing
  // of this call is in the file; Append may be called again, and Finish still works.
  virtual absl::Status Append(std::span<const std::span<const std::byte>> pieces) = 0;

  // Marks the end of a round (PERF_RECORD_FINISHED_ROUND) and updates data.size. Does nothing if
  // nothing was appended since the last round.
  virtual absl::Status FinishRound() = 0;

  // Writes the features and the final header. If nothing was appended, first writes a round marker.
  // Creates EVENT_DESC from the events; the other sections come from `features`. Call it once,
  // last. After an error the file has the records without features.
  virtual absl::Status Finish(const Features& features) = 0;

  // Adds a feature section of ours (from kFirstOwnFeature on) after Finish. Call it in the order of
  // the bits, all of which must be above those of Finish (else kInternal). The file's table has
  // room for eight sections of ours, including those of Finish.
  //
  // In a file, the section is written behind the end of the file, and then its entry into a spare
  // place of the feature table. One write of the header makes both valid. If the process is killed
  // before that last write, the recording is unchanged. If one of the three writes fails, the bytes
  // behind the end of the file are removed again, and the same section may be appended once more.
  // In a stream, the section follows as further records.
  virtual absl::Status AppendSection(int bit, std::string_view section) = 0;

  // Returns the descriptor of the file, for reading the file again; its name may lead to another
  // file by now. Valid as long as the writer. -1 for a stream and a device, and if reading is not
  // permitted.
  virtual int readable_file() const = 0;

  // Returns the current size of the file.
  virtual uint64_t bytes_written() const = 0;
};

}  // namespace profiler::perf_data
