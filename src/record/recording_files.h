// Writes the output of a recording: one file, or several one after the other.
//
//   file 1 │ rounds │ features         complete, under its own name if files are renamed
//   file 2          │ what runs │ rounds │ features
//
// A record goes into exactly one file: the file being written when the record is read from its
// ring.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/record/options.h"
#include "src/record/output_files.h"
#include "src/record/recording_file.h"
#include "src/record/recording_output.h"
#include "src/record/session_setup.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

// The files. Use it from one thread.
class RecordingFiles final : public RecordingOutput {
 public:
  // Continues the file of `setup`. `setup` and `options` must outlive this object.
  RecordingFiles(const RecordOptions& options, SessionSetup& setup);

  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override {
    return file_->Append(pieces);
  }

  // Completes the present file and begins the next one. Errors: those of rename(2), and of
  // RecordingFile. If the next file cannot be begun, the present one goes on under its new name. If
  // the features cannot be written, the complete file is readable without them, and the next file
  // begins nevertheless. If an old file cannot be removed, a line of `*notes` says so.
  absl::Status Next(std::vector<std::string>* notes) override;
  absl::Status Finish(bool with_features, std::vector<std::string>* notes) override;

  uint64_t file_bytes() const override { return file_->bytes_written(); }
  uint64_t bytes() const override { return complete_bytes_ + file_bytes(); }
  uint64_t count() const override { return complete_ + 1; }
  perf_data::Writer* last_file() override { return &file_->writer(); }
  const std::string& path() const override { return path_; }
  ChainQuality chains() const override;

 private:
  absl::Status PutAside(std::vector<std::string>* notes);
  absl::Status WriteFeatures();

  const RecordOptions& options_;
  const RecordingFacts& facts_;
  RecordTally& tally_;
  UnwindStage* const unwinding_;  // may be null
  std::unique_ptr<RecordingFile> file_;
  std::optional<OutputFiles> names_;  // set if each file gets its own name
  std::string path_;
  bool is_put_aside_ = false;     // True if path_ is the file's final name.
  std::vector<std::byte> start_;  // first records of the next file
  // Number, size and chain quality of the complete files.
  uint64_t complete_ = 0;
  uint64_t complete_bytes_ = 0;
  ChainQuality complete_chains_;
};

}  // namespace profiler::record
