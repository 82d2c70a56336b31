// Opens the output of Rewrite, so that neither the input nor an existing file is lost.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/atomic_file.h"
#include "src/base/file_id.h"
#include "src/base/status.h"
#include "src/format/perf_data/write/write_pieces.h"

namespace profiler::perf_data {

// Creates a regular file beside the old one, which keeps its name until the new one is complete:
//
//   perf.data       the new recording; may be the input
//   perf.data.old   the old one, unless this is the input: then perf.data.old.old
//
// Devices, FIFOs, standard output and other open files are written in place.
class RewriteTarget {
 public:
  // Opens the output. `to` and `from` are those of Rewrite. Errors: those of open(2);
  // kInvalidArgument if an output that is written in place is the input, because it would be
  // overwritten while it is read.
  static absl::StatusOr<RewriteTarget> Open(const std::string& to, const std::string& from);

  // Returns the output to write to. Call it once.
  OpenedOutput TakeOutput() { return std::move(output_); }

  // Renames the complete file. `reading` is the error that ended the reading early; then the input
  // is not replaced by a part of itself, and this error is returned. Adds the new name of the old
  // file to `*warnings` if it is unusual.
  absl::Status Commit(const absl::Status& reading, std::vector<std::string>* warnings);

 private:
  explicit RewriteTarget(std::optional<FileId> input) : input_(input) {}

  absl::Status OpenBeside(const std::string& to);
  absl::Status OpenAsItIs(const std::string& to);
  // Returns the new name of the old file.
  std::string NameOfOld() const;

  std::optional<FileId> input_;
  std::optional<AtomicFile> file_;
  OpenedOutput output_;
};

}  // namespace profiler::perf_data
