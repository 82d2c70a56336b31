// What became of each segment at one destination, so that who is killed at any moment goes on with
// the very batch that it was at.
//
//   DIR/push-0123456789abcdef.journal      a hash of the destination
//
//   profiler push 1 otlp+http://host:4318                    f3ab…   each line with a hash of it
//   flight 1764115200000-….seg 1764115210000-….seg           91c2…   a batch, before it is sent
//   done                                                     07de…   it has arrived
//   skip 1764115220000-….seg HTTP 400: no such field         5e11…   it never will
//   sent 1764115200000-….seg 1764115210000-….seg             c0fe…   of a journal that was
//   rewritten
//
// Lines are appended. The last one may be cut off by a power failure: then it counts as not
// written. When the journal is opened, and when it has grown, it is rewritten without the segments
// that have gone. It says of each segment whether it was sent, and not up to which
// one: a clock that is set back, or was ahead for a day, costs nothing.
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

// Not thread-safe. Memory: some 100 bytes a segment that is there.
class PushJournal {
 public:
  // Of `destination`, in the directory of the segments, which are `existing`. Errors:
  // kFailedPrecondition where another process has it, kDataLoss where the file is none of ours;
  // those of open(2) and write(2).
  static absl::StatusOr<PushJournal> Open(const std::string& directory,
                                          const std::string& destination,
                                          const absl::flat_hash_set<std::string>& existing);

  // What it says now, for reading alone: another process may have it. Empty where there is none.
  static absl::StatusOr<PushJournal> Peek(const std::string& directory,
                                          const std::string& destination);

  // That a batch of these names is about to be sent. Waits for the disk.
  absl::Status Begin(std::span<const std::string> names);
  // That it has arrived. This object knows it even where an error is returned.
  absl::Status Done();
  // That a segment is not sent, and why. The same holds of errors.
  absl::Status Skip(const std::string& name, std::string_view reason);

  // Forgets what is said of segments that are not among these. The file has it until it is
  // rewritten.
  void KeepOnly(const absl::flat_hash_set<std::string>& names);

  // Of the batch that was begun and has not arrived; empty: there is none.
  const std::vector<std::string>& in_flight() const { return in_flight_; }
  bool IsDone(const std::string& name) const { return sent_.contains(name) || IsSkipped(name); }
  bool IsSkipped(const std::string& name) const { return skipped_.contains(name); }
  // By name, with the reasons.
  const absl::flat_hash_map<std::string, std::string>& skipped() const { return skipped_; }

 private:
  PushJournal(std::string directory, std::string destination, UniqueFd lock);

  absl::Status Read();
  void Take(std::string_view line);
  absl::Status Append(std::string_view line, bool sync);
  absl::Status Rewrite();

  std::string directory_, path_, destination_;
  UniqueFd lock_;
  UniqueFd file_;  // invalid: what it has is not what it should have, so it has to be rewritten
  size_t size_ = 0, rewritten_ = 0;  // of the file, now and when it was written anew
  std::vector<std::string> in_flight_;
  absl::flat_hash_set<std::string> sent_;
  absl::flat_hash_map<std::string, std::string> skipped_;
};

}  // namespace profiler::fleet
