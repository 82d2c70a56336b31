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

// An output file. A regular file is created beside the old file, which keeps its name until the new
// file is complete:
//
//   perf.data       the new recording; may be the input
//   perf.data.old   the old file; if the input has this name, perf.data.old.old is used
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

  // Renames the complete file. If `reading` is an error, the reading ended early, and the output
  // has only a part of the input. Then the output does not replace the input: if both have the same
  // name, Commit only returns the error. If the old file gets a name other than the usual `to`.old,
  // adds that name to `*warnings`.
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
