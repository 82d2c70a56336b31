// Opens a perf.data recording for reading: its events, its features and its records in time order.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_data {

// One event of the recording.
struct EventDescription {
  perf_event::Attr attr;
  perf_event::RecordLayout layout;
  std::vector<uint64_t> ids;
  // The name in EVENT_DESC or EVENT_UPDATE; otherwise made from attr ("cpu-clock", "cycles:u", …).
  std::string name;
};

// A record that ForEach visits; valid only during the call. If the recording is in the other byte
// order, samples with opaque bytes are in two images (RawRecord), except with Order::kStored. Read
// them with the layout of `event`, or join them with perf_event::CopyInOnePiece.
struct TimedRecord {
  perf_event::RawRecord record;
  uint64_t time = 0;         // 0 if the record has none
  uint32_t event = 0;        // index into events(); 0 if the record has no id
  uint64_t file_offset = 0;  // offset of the record, or of the compressed record that contains it
  // The bytes that follow an AUXTRACE or HEADER_TRACING_DATA record and belong to it, as stored.
  // Empty for all other records, and if more than 16 MiB come through a pipe.
  std::span<const std::byte> payload = {};
};

// The positions of the recording's parts, as in its header.
struct FileLayout : FileHeader {
  struct Section {
    int bit = 0;
    FileSection place;
  };
  std::vector<Section> sections;  // feature sections whose table entry can be read
};

// True if a regular file begins like a perf.data file, in either byte order, even if it is
// truncated or damaged. False if it cannot be read.
bool BeginsAsRecording(const std::string& path);

// An interface that converts other programs' profiles to recordings.
class ForeignReader {
 public:
  virtual ~ForeignReader() = default;

  // True if a file that begins with `start`, or consists of it, may be readable.
  virtual bool MayRead(std::span<const std::byte> start) const = 0;
  // Returns the readable formats, for a person: "folded, pprof, …".
  virtual std::string FormatNames() const = 0;

  struct Imported {
    UniqueFd recording;                 // a recording in file layout
    std::vector<std::string> warnings;  // lines for a person, without the name of the file
  };
  // Converts a file. `name` is its name for messages.
  virtual absl::StatusOr<Imported> Read(std::span<const std::byte> bytes,
                                        const std::string& name) = 0;
};

class Recording {
 public:
  // Opens a file, or standard input for "-". A truncated file opens with a warning. A file that
  // does not begin like a perf.data file is passed to `foreign`, unless that is null, and the
  // converted recording is opened. Errors: those of open(2); kDataLoss, with offset and expected
  // content, if it is no perf.data file.
  static absl::StatusOr<std::unique_ptr<Recording>> Open(const std::string& path,
                                                         ForeignReader* foreign = nullptr);
  // Opens a regular file through a descriptor that is open for reading; `fd` may be closed
  // afterwards. `name` is for messages.
  static absl::StatusOr<std::unique_ptr<Recording>> OpenFile(int fd, const std::string& name);
  virtual ~Recording() = default;

  // The events and features of a recording from a pipe grow while its records are read.
  virtual const std::vector<EventDescription>& events() const = 0;
  virtual const Features& features() const = 0;
  virtual const FileLayout& layout() const = 0;

  // The order in which ForEach visits records:
  //   kFile           in the order of the file
  //   kTime           in time order, without round markers
  //   kStored         like kFile, but each record is in one piece, and each COMPRESSED record is
  //                   visited before the records inside it
  //   kTimeAndRounds  in time order; each round marker is visited before the records that it
  //                   releases
  enum class Order { kFile, kTime, kStored, kTimeAndRounds };
  // A span of time in ns of the samples' clock; both ends are included.
  struct Window {
    uint64_t first = 0, last = UINT64_MAX;

    bool HasAll() const { return first == 0 && last == UINT64_MAX; }
    bool Has(uint64_t time) const { return first <= time && time <= last; }
  };
  // Calls `visit` for every record. perf's own records have time 0 and are visited at their
  // position in the file. If an error stops the reading, visits everything before the error, then
  // returns the error: kDataLoss with file offset, record type and field. Memory: two rounds.
  // `visit` may return a bool; false ends the pass, and the rest of a pipe is then lost.
  //
  // In time order, samples outside of `window` are passed over by their times alone: 25 to 35 ns
  // for a sample of 100 bytes. But the first and the last of those that a round releases are
  // visited, at most four in each round. Such a sample is bare: it has a header and a time, but no
  // fields and no place. So a visitor that follows the time, and ignores the samples outside of the
  // window, has the same state as after a visit to all of them.
  template <class Visit>
  absl::Status ForEach(Order order, Visit&& visit, const Window& window = {}) {
    if constexpr (std::is_same_v<std::invoke_result_t<Visit&, const TimedRecord&>, bool>) {
      return Pass(order, window, visit);
    } else {
      return Pass(order, window, [&visit](const TimedRecord& record) {
        visit(record);
        return true;
      });
    }
  }

  // Returns lines for a person: truncated file, missing features, unknown attr size. Complete after
  // ForEach.
  virtual const std::vector<std::string>& warnings() const = 0;
  // True if the end of the recording is missing: the file is cut, or the recorder did not end it.
  // Known after ForEach.
  bool is_incomplete() const { return is_incomplete_; }

 protected:
  using Visitor = absl::FunctionRef<bool(const TimedRecord&)>;
  virtual absl::Status Pass(Order order, const Window& window, Visitor visit) = 0;

  bool is_incomplete_ = false;
};

// True if `path` can be opened and read more than once. False for pipes.
bool CanBeReadAgain(const std::string& path);

}  // namespace profiler::perf_data
