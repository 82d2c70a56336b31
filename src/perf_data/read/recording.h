// A perf.data recording opened for reading: its events, its features and its records in time order.

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
#include "src/perf_data/format/features.h"
#include "src/perf_data/format/file_header.h"
#include "src/perf_event/codec.h"

namespace profiler::perf_data {

// One event of the recording.
struct EventDescription {
  perf_event::Attr attr;
  perf_event::RecordLayout layout;
  std::vector<uint64_t> ids;
  std::string
      name;  // from EVENT_DESC or EVENT_UPDATE, else made from attr ("cpu-clock", "cycles:u", …)
};

// A record as ForEach hands it out; valid during the call only. Samples with opaque bytes, of a
// recording in the other byte order, come in two images (RawRecord) unless Order::kStored asks for
// the records whole; the layout of `event` reads them, perf_event::CopyInOnePiece joins them.
struct TimedRecord {
  perf_event::RawRecord record;
  uint64_t time = 0;         // 0 where the record has none
  uint32_t event = 0;        // index into events(); 0 where the record does not say
  uint64_t file_offset = 0;  // of the record in the file (of its compressed container)
  // Of AUXTRACE and HEADER_TRACING_DATA: the bytes that follow the record and belong to it, as they
  // stand in the file. Empty for all others, and where more than 16 MiB come through a pipe.
  std::span<const std::byte> payload = {};
};

// Where the parts of a recording are, as its header says.
struct FileLayout : FileHeader {
  struct Section {
    int bit = 0;
    FileSection place;
  };
  std::vector<Section> sections;  // of features: those whose entry in their table can be read
};

// Whether a regular file begins as every perf.data does, in either byte order: also one that is cut
// or damaged. False for what cannot be read.
bool BeginsAsRecording(const std::string& path);

// Makes recordings of what other programs write.
class ForeignReader {
 public:
  virtual ~ForeignReader() = default;

  // Whether a file that begins so, or is that, may be one to read.
  virtual bool MayRead(std::span<const std::byte> start) const = 0;
  // What may be read, for a person: "folded, pprof, …".
  virtual std::string FormatNames() const = 0;

  struct Imported {
    UniqueFd recording;                 // in the layout of a file
    std::vector<std::string> warnings;  // lines without the file's name
  };
  // `name`: of the file, for messages.
  virtual absl::StatusOr<Imported> Read(std::span<const std::byte> bytes,
                                        const std::string& name) = 0;
};

class Recording {
 public:
  // Opens a file, or standard input for "-". Errors: those of open(2); kDataLoss, with the offset
  // and what was expected, when it is no perf.data at all. A file cut short opens, with a warning.
  // What begins otherwise is handed to `foreign`, if that is given, and the recording is what that
  // makes of it.
  static absl::StatusOr<std::unique_ptr<Recording>> Open(const std::string& path,
                                                         ForeignReader* foreign = nullptr);
  // Of a regular file that is open for reading; `fd` may be closed afterwards. `name`: for
  // messages.
  static absl::StatusOr<std::unique_ptr<Recording>> OpenFile(int fd, const std::string& name);
  virtual ~Recording() = default;

  // Of a recording that comes through a pipe these grow while its records are read.
  virtual const std::vector<EventDescription>& events() const = 0;
  virtual const Features& features() const = 0;
  virtual const FileLayout& layout() const = 0;

  // kStored: as kFile, each record in one piece, and each COMPRESSED record comes itself, in front
  // of what is inside of it.
  // kTimeAndRounds: as kTime, and each round marker comes, in front of what it releases.
  enum class Order { kFile, kTime, kStored, kTimeAndRounds };
  // Calls `visit` for every record, perf's own included (their time is 0; they come at their place
  // in the file, round markers excepted under kTime). Returns what stopped the reading early, if
  // anything did: kDataLoss with file offset, record type and field. Everything before that has
  // been visited. Memory: two rounds.
  // A `visit` that returns a bool ends the pass with false; of a pipe, what follows is lost then.
  template <class Visit>
  absl::Status ForEach(Order order, Visit&& visit) {
    if constexpr (std::is_same_v<std::invoke_result_t<Visit&, const TimedRecord&>, bool>) {
      return Pass(order, visit);
    } else {
      return Pass(order, [&visit](const TimedRecord& record) {
        visit(record);
        return true;
      });
    }
  }

  // Lines for a person: cut file, missing features, unknown attr size. Complete after ForEach.
  virtual const std::vector<std::string>& warnings() const = 0;

 protected:
  using Visitor = absl::FunctionRef<bool(const TimedRecord&)>;
  virtual absl::Status Pass(Order order, Visitor visit) = 0;
};

// Whether what is at `path` can be opened and read more than once: it is no pipe.
bool CanBeReadAgain(const std::string& path);

}  // namespace profiler::perf_data
