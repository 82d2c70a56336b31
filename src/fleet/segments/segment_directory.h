// Directories of segments: the spool of an agent, and the source of answers if there is no server.
//
//   DIR/1764115200000-8f3a91c2d5e60b17.seg   a segment: its begin in milliseconds since 1970,
//                                            and a hash of the host's name
//   DIR/refused/…                            segments that no server will take, kept for
//                                            inspection
//   DIR/lock                                 held by the one process that adds segments
//   DIR/metrics.prom                         metrics of that process, in Prometheus' format
//
// Host and begin determine the name. So if a window is written twice, because its writer was killed
// in between, it replaces itself and exists once. rename(2) makes each file appear as a whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/fleet/segments/segment.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

// The default directory of an agent's segments.
inline constexpr char kUsualSpool[] = "/var/lib/profiler";
// Name of the file with the agent's metrics in that directory.
inline constexpr char kMetricsFile[] = "metrics.prom";

// An entry of the directory.
struct SegmentFile {
  std::string name;  // name in the directory
  UnixTime begin = 0;
  uint64_t bytes = 0;
  bool operator==(const SegmentFile&) const = default;
};

// A list of files, sorted by begin and name, with their total size.
class SegmentFiles {
 public:
  SegmentFiles() = default;
  explicit SegmentFiles(std::vector<SegmentFile> sorted);

  // Adds a file, or replaces the file of the same name.
  void Insert(const SegmentFile& file);
  // Removes the file of that name, if there is one.
  void Remove(const SegmentFile& file);

  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  uint64_t bytes() const { return bytes_; }
  const SegmentFile& oldest() const { return files_.front(); }

 private:
  std::vector<SegmentFile> files_;
  uint64_t bytes_ = 0;
};

// A directory whose segments are read. Other processes may add and remove segments meanwhile. Not
// thread-safe.
class SegmentDirectory {
 public:
  // Opens the directory. Errors: those of open(2).
  static absl::StatusOr<SegmentDirectory> Open(const std::string& path);

  // Returns the segments whose begin lies in [since, until), sorted by begin and name. Reads only
  // the directory: some microseconds per segment. Errors: those of opendir(3).
  absl::StatusOr<std::vector<SegmentFile>> List(UnixTime since, UnixTime until) const;

  // Read a segment or its head. Return kNotFound if the file is gone, and kDataLoss, with the
  // file's name, if it is damaged. Other errors: those of open(2).
  absl::StatusOr<Window> Read(const SegmentFile& file) const;
  absl::StatusOr<SegmentHead> ReadHead(const SegmentFile& file) const;

  const std::string& path() const { return path_; }

 protected:
  SegmentDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

// The directory of a process that adds segments. If there is no room, the process removes the
// oldest segments.
class SegmentSpool : public SegmentDirectory {
 public:
  struct Limits {
    // Limit of the size of all segments. Refused segments may take a tenth more.
    uint64_t bytes = uint64_t{1} << 30;
  };
  // Counts, since the spool was opened, of segments that were removed before MayGo allowed it.
  struct Dropped {
    uint64_t segments = 0, samples = 0;
  };

  // Opens the spool: creates a missing directory that only its user can access, takes the lock, and
  // removes files that a killed process left unfinished. Returns kFailedPrecondition if another
  // process holds the lock. Other errors: those of OpenOwnDirectory.
  static absl::StatusOr<SegmentSpool> Open(const std::string& path, const Limits& limits);

  // Removes old segments until there is room, then writes the window's segment and waits for the
  // disk. On a full disk, removes more old segments and tries again. Errors: those of write(2) and
  // rename(2), if no old segment is left to remove.
  absl::Status Add(const Window& window);

  // Notes that the segment was sent everywhere, so its removal counts as no loss.
  void MayGo(const SegmentFile& file);

  // Moves a segment that no server will take to the directory refused/. If refused/ is full,
  // removes its oldest segments. Errors: those of rename(2).
  absl::Status SetAside(const SegmentFile& file);

  const Dropped& dropped() const { return dropped_; }
  uint64_t bytes() const { return files_.bytes(); }  // total size of all segments
  size_t size() const { return files_.size(); }

 private:
  SegmentSpool(std::string path, UniqueFd directory, UniqueFd lock, const Limits& limits);

  absl::Status Write(const std::string& name, std::string_view bytes) const;
  bool DropOldest();
  bool DropOldestAside();

  UniqueFd lock_;
  Limits limits_;
  SegmentFiles files_;
  SegmentFiles aside_;               // segments in refused/
  std::vector<std::string> may_go_;  // names of segments that were sent everywhere, sorted
  Dropped dropped_;
};

// Returns the name of the segment of this host and time.
std::string SegmentName(std::string_view host, UnixTime begin);
// Returns the begin in a segment's name; none if it is not a segment's name.
std::optional<UnixTime> BeginOfSegment(std::string_view name);

}  // namespace profiler::fleet
