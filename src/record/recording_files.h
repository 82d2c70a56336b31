// The output of a recording: one file, or one after the other.
//
//   file 1 │ rounds │ features         names its complete path, then …
//   file 2          │ what runs │ rounds │ features
//
// A record is in the file that was written to when it was read from its ring, and in no other.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/base/status.h"
#include "src/record/options.h"
#include "src/record/output_files.h"
#include "src/record/recording_file.h"
#include "src/record/session_setup.h"

namespace profiler::record {

// One thread.
class RecordingFiles {
 public:
  // Goes on with the file of `setup`, which must outlive this, as `options` must.
  RecordingFiles(const RecordOptions& options, SessionSetup& setup);

  // As RecordingFile has it.
  absl::Status Append(std::span<const std::span<const std::byte>> pieces) {
    return file_->Append(pieces);
  }
  // Of the file at hand, behind Finish.
  perf_data::Writer& writer() { return file_->writer(); }

  // The file at hand is complete and the next one begins. Errors: those of rename(2), and of
  // RecordingFile. If the next one cannot be begun, the one at hand goes on under its new name;
  // if the features cannot be written, it is readable without them, and the next one has begun.
  // That an old file cannot be removed is a line of `*notes`.
  absl::Status Next(std::vector<std::string>* notes);
  // The last file is complete, without features if those are not to be tried.
  absl::Status Finish(bool with_features, std::vector<std::string>* notes);

  uint64_t file_bytes() const { return file_->bytes_written(); }  // of the file at hand
  uint64_t bytes() const { return complete_bytes_ + file_bytes(); }
  uint64_t count() const { return complete_ + 1; }
  // Of the file at hand. Finish may change it.
  const std::string& path() const { return path_; }
  // Of all files.
  ChainQuality chains() const;

 private:
  absl::Status PutAside(std::vector<std::string>* notes);
  absl::Status WriteFeatures();

  const RecordOptions& options_;
  const RecordingFacts& facts_;
  RecordTally& tally_;
  UnwindStage* const unwinding_;  // may be null
  std::unique_ptr<RecordingFile> file_;
  std::optional<OutputFiles> names_;  // where they get one each
  std::string path_;
  bool is_put_aside_ = false;     // path_ is the name that the file keeps
  std::vector<std::byte> start_;  // of the next file
  // Of complete files.
  uint64_t complete_ = 0;
  uint64_t complete_bytes_ = 0;
  ChainQuality complete_chains_;
};

}  // namespace profiler::record
