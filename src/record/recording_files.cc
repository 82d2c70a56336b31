#include "src/record/recording_files.h"

#include <utility>

namespace profiler::record {
RecordingFiles::RecordingFiles(const RecordOptions& options, SessionSetup& setup)
    : options_(options),
      facts_(*setup.facts),
      tally_(*setup.tally),
      unwinding_(setup.unwinding.get()),
      file_(std::move(setup.file)),
      path_(options.output) {
  if (options.in_memory) return;
  if (options.switch_output) {
    names_.emplace(options.output, options.switch_output->most_files);
  } else if (options.timestamp_filename) {
    names_.emplace(options.output, 0);
  }
}

absl::Status RecordingFiles::PutAside(std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(path_, names_->PutAside(std::chrono::system_clock::now()));
  is_put_aside_ = true;
  if (const absl::Status removed = names_->RemoveOldest(); !removed.ok()) {
    notes->emplace_back(removed.message());
  }
  return absl::OkStatus();
}

absl::Status RecordingFiles::WriteFeatures() {
  std::optional<ChainQuality> chains;
  if (unwinding_ != nullptr) chains = unwinding_->quality();
  const OffCpuStage* off_cpu = unwinding_ == nullptr ? nullptr : unwinding_->off_cpu();
  return file_->Finish(
      tally_, {.chains = chains ? &*chains : nullptr,
               .estimates = off_cpu == nullptr ? nullptr : &off_cpu->threads().estimates()});
}

absl::Status RecordingFiles::Next(std::vector<std::string>* notes) {
  // PutAside makes room on the disk, so it precedes the steps that need room.
  if (names_) PROFILER_RETURN_IF_ERROR(PutAside(notes));
  start_.clear();
  tally_.WriteWhatRuns(&start_);
  auto next = RecordingFile::Begin(options_.output, facts_, start_);
  if (!next.ok()) return next.status();
  absl::Status status = WriteFeatures();
  CompleteFile complete{.path = std::exchange(path_, options_.output),
                        .samples = tally_.file_samples(),
                        .bytes = file_bytes(),
                        .writer = file_->Release()};
  is_put_aside_ = false;
  ++complete_;
  complete_bytes_ += complete.bytes;
  if (unwinding_ != nullptr) {
    AddQuality(unwinding_->quality(), &complete_chains_);
    unwinding_->BeginFile();
  }
  file_ = *std::move(next);
  status.Update(tally_.BeginFile(start_));
  if (status.ok() && options_.on_file) options_.on_file(std::move(complete));
  return status;
}

absl::Status RecordingFiles::Finish(bool with_features, std::vector<std::string>* notes) {
  absl::Status status;
  if (with_features) status = WriteFeatures();
  const bool keeps_name = options_.switch_output && options_.switch_output->last_keeps_name;
  if (names_ && !is_put_aside_ && !keeps_name) status.Update(PutAside(notes));
  return status;
}

ChainQuality RecordingFiles::chains() const {
  ChainQuality sum = complete_chains_;
  if (unwinding_ != nullptr) AddQuality(unwinding_->quality(), &sum);
  return sum;
}

}  // namespace profiler::record
