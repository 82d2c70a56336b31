// The journal of deliveries to one destination. A process that is killed at any moment continues
// with exactly the batch that was in flight.
//
//   DIR/push-0123456789abcdef.journal      a hash of the destination
//
//   profiler push 1 otlp+http://host:4318                    f3ab…   each line ends with its hash
//   flight 1764115200000-….seg 1764115210000-….seg           91c2…   a batch is about to be sent
//   done                                                     07de…   it was delivered
//   skip 1764115220000-….seg HTTP 400: no such field         5e11…   it will never be sent
//   sent 1764115200000-….seg 1764115210000-….seg             c0fe…   sums up delivered segments
//
// Lines are appended. A power failure may cut off the last line; then the line counts as not
// written. When the journal is opened, and when it has grown, it is rewritten without the segments
// that are gone. It lists each segment that was sent, not only the last one. So a clock that is set
// back, or was ahead for a day, does no harm.
//
//   DIR/push-0123456789abcdef.lock         held by the one process that pushes there

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::fleet {

// A journal. Not thread-safe. Memory: some 100 bytes per existing segment.
class PushJournal {
 public:
  // Opens the journal of `destination` in the directory of the segments; `existing` are their
  // names. Returns kFailedPrecondition if another process holds the lock, and kDataLoss if the file
  // is no journal of `destination`. Other errors: those of open(2) and write(2).
  static absl::StatusOr<PushJournal> Open(const std::string& directory,
                                          const std::string& destination,
                                          const absl::flat_hash_set<std::string>& existing);

  // Reads the journal without taking its lock, even while another process holds it. Returns an
  // empty journal if there is no file.
  static absl::StatusOr<PushJournal> Peek(const std::string& directory,
                                          const std::string& destination);

  // Records that a batch of these segments is about to be sent. Waits for the disk.
  absl::Status Begin(std::span<const std::string> names);
  // Records that the batch was delivered. Takes effect in this object even if it returns an error.
  absl::Status Done();
  // Records that a segment will not be sent, and the reason. Takes effect in this object even if it
  // returns an error.
  absl::Status Skip(const std::string& name, std::string_view reason);

  // Forgets all segments except `names`. The file still contains the forgotten ones until it is
  // rewritten.
  void KeepOnly(const absl::flat_hash_set<std::string>& names);

  // Returns the segments of the batch that was begun and is not delivered; empty if there is no
  // such batch.
  const std::vector<std::string>& in_flight() const { return in_flight_; }
  bool IsDone(const std::string& name) const { return sent_.contains(name) || IsSkipped(name); }
  bool IsSkipped(const std::string& name) const { return skipped_.contains(name); }
  // Returns the reason for each skipped segment, keyed by its name.
  const absl::flat_hash_map<std::string, std::string>& skipped() const { return skipped_; }

 private:
  PushJournal(std::string directory, std::string destination, UniqueFd lock);

  absl::Status Read();
  void Take(std::string_view line);
  absl::Status Append(std::string_view line, bool sync);
  absl::Status Rewrite();

  std::string directory_, path_, destination_;
  UniqueFd lock_;
  // If invalid, the file may be damaged or too long, so the next write rewrites it.
  UniqueFd file_;
  size_t size_ = 0, rewritten_ = 0;  // the file's size in bytes: now, after the last rewrite
  std::vector<std::string> in_flight_;
  absl::flat_hash_set<std::string> sent_;
  absl::flat_hash_map<std::string, std::string> skipped_;
};

}  // namespace profiler::fleet
