// Where a recording goes that is written anew. Neither what is read nor what was there before is
// lost on the way.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/atomic_file.h"
#include "src/base/file_id.h"
#include "src/base/status.h"
#include "src/perf_data/write/write_pieces.h"

namespace profiler::perf_data {

// A regular file is written beside the old one, which keeps its name until the new one is whole:
//
//   perf.data       the new recording; may be what is read
//   perf.data.old   the old one, unless this is what is read: then perf.data.old.old
//
// Devices, FIFOs, standard output and other open files are written to as they are.
class RewriteTarget {
 public:
  // `to` and `from` as Rewrite has them. Errors: those of open(2); kInvalidArgument where an open
  // file is `from`, which would be written over while it is read.
  static absl::StatusOr<RewriteTarget> Open(const std::string& to, const std::string& from);

  // To write to. Once.
  OpenedOutput TakeOutput() { return std::move(output_); }

  // When all is written: puts the new file in its place. `reading` is what ended the reading early:
  // then what is read is not replaced by a part of itself, and that is an error. Tells in
  // `*warnings` where the old file is, if it is in an unusual place.
  absl::Status Commit(const absl::Status& reading, std::vector<std::string>* warnings);

 private:
  explicit RewriteTarget(std::optional<FileId> input) : input_(input) {}

  absl::Status OpenBeside(const std::string& to);
  absl::Status OpenAsItIs(const std::string& to);
  // What the old file will be called.
  std::string NameOfOld() const;

  std::optional<FileId> input_;
  std::optional<AtomicFile> file_;
  OpenedOutput output_;
};

}  // namespace profiler::perf_data
