// The directory that segments are kept in: an agent's spool, and what is asked where there is no
// server.
//
//   DIR/1764115200000-8f3a91c2d5e60b17.seg   a segment: begin in milliseconds since 1970,
//                                            and a hash of the host's name
//   DIR/refused/…                            segments that no server will take, for a
//                                            person to look at
//   DIR/lock                                 held by the one process that adds segments
//   DIR/metrics.prom                         figures of that process, as Prometheus reads them
//
// A name follows from host and begin. So a window that is recorded twice, because its writer was
// killed in between, replaces itself and is there once. Files appear whole, by rename(2).

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/fleet/segment.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

// Where an agent keeps its segments unless it is told otherwise.
inline constexpr char kUsualSpool[] = "/var/lib/profiler";
// The file with the agent's figures in there.
inline constexpr char kMetricsFile[] = "metrics.prom";

// A segment's file as the directory lists it.
struct SegmentFile {
  std::string name;  // in the directory
  UnixTime begin = 0;
  uint64_t bytes = 0;
  bool operator==(const SegmentFile&) const = default;
};

// Files by begin and name, and what they take together.
class SegmentFiles {
 public:
  SegmentFiles() = default;
  explicit SegmentFiles(std::vector<SegmentFile> sorted);

  // A file of its name has been replaced.
  void Insert(const SegmentFile& file);
  // Nothing where there is none of its name.
  void Remove(const SegmentFile& file);

  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  uint64_t bytes() const { return bytes_; }
  const SegmentFile& oldest() const { return files_.front(); }

 private:
  std::vector<SegmentFile> files_;
  uint64_t bytes_ = 0;
};

// Reads segments. Others may add and remove some meanwhile. Not thread-safe.
class SegmentDirectory {
 public:
  // Errors: those of open(2).
  static absl::StatusOr<SegmentDirectory> Open(const std::string& path);

  // By begin and name, those whose begin lies in [since, until). Reads the directory and no file of
  // it: some microseconds a segment. Errors: those of opendir(3).
  absl::StatusOr<std::vector<SegmentFile>> List(UnixTime since, UnixTime until) const;

  // kNotFound where it has gone meanwhile; kDataLoss where it is damaged, which names it; those of
  // open(2).
  absl::StatusOr<Window> Read(const SegmentFile& file) const;
  absl::StatusOr<SegmentHead> ReadHead(const SegmentFile& file) const;

  const std::string& path() const { return path_; }

 protected:
  SegmentDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

// The one that adds segments, and removes the oldest ones for them.
class SegmentSpool : public SegmentDirectory {
 public:
  struct Limits {
    uint64_t bytes = uint64_t{1} << 30;  // of all segments together; a tenth more of refused ones
  };
  // How many had to go, since the spool was opened, before anybody said that they may.
  struct Dropped {
    uint64_t segments = 0, samples = 0;
  };

  // Makes the directory where there is none, for its user alone, takes the lock, and removes what a
  // killed process left half. Errors: kFailedPrecondition where another process has the lock; those
  // of OpenOwnDirectory.
  static absl::StatusOr<SegmentSpool> Open(const std::string& path, const Limits& limits);

  // Writes the window's segment, when older ones have gone as far as that needs room, and waits for
  // the disk. Where the disk is full, older ones go until it is not. Errors: those of write(2) and
  // rename(2), when there is nothing left that could go.
  absl::Status Add(const Window& window);

  // Those are no loss when they go: they are where they were to be sent to.
  void MayGo(const SegmentFile& file);

  // A segment that no server will take. Of many, the oldest ones go. Errors: those of rename(2).
  absl::Status SetAside(const SegmentFile& file);

  const Dropped& dropped() const { return dropped_; }
  uint64_t bytes() const { return files_.bytes(); }  // of all segments
  size_t size() const { return files_.size(); }

 private:
  SegmentSpool(std::string path, UniqueFd directory, UniqueFd lock, const Limits& limits);

  absl::Status Write(const std::string& name, std::string_view bytes) const;
  bool DropOldest();
  bool DropOldestAside();

  UniqueFd lock_;
  Limits limits_;
  SegmentFiles files_;
  SegmentFiles aside_;               // in refused/
  std::vector<std::string> may_go_;  // names, sorted
  Dropped dropped_;
};

// The name of the segment of a host and a time.
std::string SegmentName(std::string_view host, UnixTime begin);
// The begin that a name says; nothing where it is no segment's.
std::optional<UnixTime> BeginOfSegment(std::string_view name);

}  // namespace profiler::fleet
