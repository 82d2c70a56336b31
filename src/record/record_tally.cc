#include "src/record/record_tally.h"

#include <algorithm>

namespace profiler::record {

absl::Status RecordTally::Take(const ringbuf::RingBytes& bytes) {
  ringbuf::RecordCursor cursor(bytes, *bounce_);
  while (const auto record = cursor.Next()) {
    TakeOne(*record);
    if (sharers_) sharers_->Take(*record);
  }
  return cursor.status();
}

absl::Status RecordTally::Observe(const ringbuf::RingBytes& bytes) {
  ringbuf::RecordCursor cursor(bytes, *bounce_);
  while (const auto record = cursor.Next()) {
    TakeOne(*record);
    if (sharers_) sharers_->Observe(*record);
  }
  return cursor.status();
}

void RecordTally::TakeOne(ringbuf::RawRecord record) {
  Count(record);
  if (what_runs_) what_runs_->Take(record);
  if (processes_ != nullptr) TellOfProcess(record);
}

std::span<const std::byte> RecordTally::AddMappingsOfSharers() {
  if (!sharers_) return {};
  const std::span<const std::byte> added = sharers_->EndPass();
  ForEachRecord(added, [this](ringbuf::RawRecord record) { TakeOne(record); });
  return added;
}

void RecordTally::EndPass() {
  if (what_runs_) what_runs_->EndPass();
  if (keeper_ != nullptr) keeper_->LookForMaps();
}

void RecordTally::NotWritten() {
  lost_ += samples_ - written_.samples;
  samples_ = written_.samples;
  file_samples_ = written_.file_samples;
}

absl::Status RecordTally::BeginFile(std::span<const std::byte> start) {
  file_samples_ = 0;
  written_.file_samples = 0;
  time_ = kNoTime;
  images_.BeginFile();
  ringbuf::RingBytes bytes;
  bytes.spans[0] = start;
  ringbuf::RecordCursor cursor(bytes, *bounce_);
  while (const auto record = cursor.Next()) {
    if (record->type() == perf_event::kRecordMmap2) AddImage(*record);
  }
  return cursor.status();
}

void RecordTally::AddImage(ringbuf::RawRecord record) {
  perf_event::Mmap2 mapping;
  if (!perf_event::Decode(record, layout_, &mapping)) return;
  images_.Add(mapping, record.misc());
  if (keeper_ != nullptr) keeper_->Take(mapping);
}

// Reports processes. Records about threads other than the first one say nothing about their
// process.
void RecordTally::TellOfProcess(ringbuf::RawRecord record) {
  if (record.type() == perf_event::kRecordComm) {
    perf_event::Comm comm;
    if (perf_event::Decode(record, layout_, &comm) && comm.pid == comm.tid) {
      processes_->Runs(comm.pid);
    }
  } else if (record.type() == perf_event::kRecordFork) {
    perf_event::Task fork;
    if (perf_event::Decode(record, layout_, &fork) && fork.pid == fork.tid &&
        fork.pid != fork.ppid) {
      processes_->Began(fork.pid, fork.ppid);
    }
  } else if (record.type() == perf_event::kRecordExit) {
    perf_event::Task exit;
    if (perf_event::Decode(record, layout_, &exit) && exit.pid == exit.tid) {
      processes_->Ended(exit.pid);
    }
  }
}

void RecordTally::Count(ringbuf::RawRecord record) {
  switch (record.type()) {
    case perf_event::kRecordSample: {
      ++samples_;
      ++file_samples_;
      const uint64_t time = perf_event::TimeOf(record, layout_);
      time_.first = std::min(time_.first, time);
      time_.last = std::max(time_.last, time);
      break;
    }
    case perf_event::kRecordLost: {
      // A LOST record that is cut short still counts; its missing fields are zero.
      perf_event::Lost lost;
      perf_event::Decode(record, layout_, &lost);
      lost_ += lost.lost;
      ++lost_chunks_;
      break;
    }
    case perf_event::kRecordLostSamples: {
      perf_event::LostSamples lost;
      perf_event::Decode(record, layout_, &lost);
      lost_ += lost.lost;
      ++lost_chunks_;
      break;
    }
    case perf_event::kRecordMmap2:
      AddImage(record);
      break;
    default:
      break;
  }
}

std::optional<perf_data::SampleTime> RecordTally::sample_time() const {
  if (file_samples_ == 0) return std::nullopt;
  return time_;
}

}  // namespace profiler::record
