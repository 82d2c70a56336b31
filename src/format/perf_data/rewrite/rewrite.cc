#include "src/format/perf_data/rewrite/rewrite.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/read/own_records.h"
#include "src/format/perf_data/read/stored_recording.h"
#include "src/format/perf_data/rewrite/rewrite_output.h"
#include "src/format/perf_data/rewrite/rewrite_target.h"
#include "src/format/perf_data/write/stream_writer.h"

namespace profiler::perf_data {
namespace {

constexpr uint64_t kNoTime = UINT64_MAX;  // perf's value for "no time", besides 0

// True for a record of a stream whose content a file has in its header.
bool IsHeaderRecord(uint32_t type) {
  return type == perf_event::kRecordHeaderAttr || type == perf_event::kRecordHeaderEventType ||
         type == perf_event::kRecordHeaderFeature || type == perf_event::kRecordHeaderBuildId ||
         type == perf_event::kRecordHeaderTracingData;
}

// True for measurements. All other records describe processes and the kernel, or are unknown.
bool IsMeasurement(uint32_t type) {
  switch (type) {
    case perf_event::kRecordSample:
    case perf_event::kRecordRead:
    case perf_event::kRecordLost:
    case perf_event::kRecordLostSamples:
    case perf_event::kRecordThrottle:
    case perf_event::kRecordUnthrottle:
    case perf_event::kRecordSwitch:
    case perf_event::kRecordSwitchCpuWide:
    case perf_event::kRecordCallchainDeferred:
      return true;
    default:
      return false;
  }
}

// True for measurements of one thread.
bool IsOfThread(uint32_t type) {
  return type == perf_event::kRecordSample || type == perf_event::kRecordRead ||
         type == perf_event::kRecordSwitch || type == perf_event::kRecordSwitchCpuWide ||
         type == perf_event::kRecordCallchainDeferred;
}

std::optional<SampleTime> Widen(std::optional<SampleTime> range, uint64_t time) {
  if (!range) return SampleTime{time, time};
  return SampleTime{std::min(range->first, time), std::max(range->last, time)};
}

class Rewriter {
 public:
  Rewriter(StoredRecording& input, const RewriteOptions& options)
      : input_(input), options_(options), sections_(input.sections()) {}

  // Decides what to keep, before the output is touched.
  absl::Status Prepare() {
    PROFILER_RETURN_IF_ERROR(CheckCut());
    if (options_.time.has_value()) PROFILER_RETURN_IF_ERROR(ResolveTime());
    if (options_.cuts()) PROFILER_RETURN_IF_ERROR(UpdateSampleTime());
    if (input_.is_directory()) sections_.erase(kFeatureDirFormat);
    PROFILER_RETURN_IF_ERROR(ChooseCompression());
    if (ChangesRecords()) sections_.erase(kFeatureSums);
    for (const auto& [bit, section] : options_.sections) sections_[bit] = section;
    return absl::OkStatus();
  }

  absl::StatusOr<RewriteSummary> Write(OpenedOutput opened) {
    RewriteOutput output(input_, std::move(opened), options_.as_stream);
    if (level_ != 0) {
      PROFILER_ASSIGN_OR_RETURN(RecordCompressor compressor,
                                RecordCompressor::Create(level_, input_.swapped()));
      output.CompressWith(std::move(compressor));
    }
    PROFILER_RETURN_IF_ERROR(output.Start(sections_, options_.sections));
    PROFILER_RETURN_IF_ERROR(
        ForEach(inflate_, [&](const StoredRecord& record, std::span<const std::byte> payload) {
          return WriteRecord(record, payload, output);
        }));
    AddEventDescriptions();
    PROFILER_RETURN_IF_ERROR(output.Finish(sections_));
    summary_.bytes = output.bytes_written();
    summary_.counted = inflate_ || !input_.is_compressed();
    summary_.warnings = input_.warnings();
    summary_.reading = input_.reading();
    return std::move(summary_);
  }

 private:
  absl::Status CheckCut() {
    const bool by_thread = !options_.pids.empty() || !options_.tids.empty();
    for (const EventDescription& event : input_.events()) {
      if (options_.time.has_value() && event.layout.sample_time_offset < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("samples of ", event.name, " have no time to cut them by"));
      }
      if (by_thread && event.layout.sample_tid_offset < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("samples of ", event.name, " have no thread to cut them by"));
      }
    }
    return absl::OkStatus();
  }

  // Visits all records, and reports the progress.
  absl::Status ForEach(bool inflate, StoredRecording::StoredVisitor visit) {
    if (!options_.on_progress) return input_.ForEachStored(inflate, visit);
    constexpr size_t kRarely = 4096;
    const bool is_size_known =
        !input_.header().pipe && !input_.is_directory() && !(inflate && input_.is_compressed());
    const uint64_t all = is_size_known ? input_.header().data.size : 0;
    uint64_t done = 0;
    size_t records = 0;
    return input_.ForEachStored(
        inflate, [&](const StoredRecord& record, std::span<const std::byte> payload) {
          done += record.header.size + payload.size();
          if (++records % kRarely == 0) options_.on_progress(done, all);
          return visit(record, payload);
        });
  }

  // Calls `take(time)` for each sample. If `kept_only` is true, skips samples that are dropped.
  template <class Take>
  absl::Status ForEachSampleTime(bool kept_only, Take take) {
    return ForEach(true, [&](const StoredRecord& record, std::span<const std::byte>) {
      if (record.header.type == perf_event::kRecordSample && (!kept_only || Keeps(record))) {
        take(input_.event_table().TimeOf(record));
      }
      return absl::OkStatus();
    });
  }

  absl::Status ResolveTime() {
    time_ = *options_.time;
    if (!time_.begin_percent.has_value()) return absl::OkStatus();
    std::optional<SampleTime> all;
    PROFILER_RETURN_IF_ERROR(
        ForEachSampleTime(false, [&](uint64_t time) { all = Widen(all, time); }));
    if (all) time_ = time_.Within(*all);
    return absl::OkStatus();
  }

  // Sets SAMPLE_TIME to the times of the first and last kept sample.
  absl::Status UpdateSampleTime() {
    std::optional<SampleTime> kept;
    PROFILER_RETURN_IF_ERROR(
        ForEachSampleTime(true, [&](uint64_t time) { kept = Widen(kept, time); }));
    const auto section = sections_.find(kFeatureSampleTime);
    if (section == sections_.end()) return absl::OkStatus();
    if (!kept) {
      sections_.erase(section);
      return absl::OkStatus();
    }
    section->second = EncodeFields(*kept, input_.swapped());
    return absl::OkStatus();
  }

  absl::Status ChooseCompression() {
    using Compression = RewriteOptions::Compression;
    const bool stays = options_.compression == Compression::kKeep && input_.is_compressed() &&
                       !options_.cuts() && !input_.is_directory();
    inflate_ = !stays;
    if (stays) return absl::OkStatus();
    if (options_.compression == Compression::kZstd) {
      level_ = options_.level;
    } else if (options_.compression == Compression::kKeep && input_.is_compressed()) {
      level_ = LevelOfInput();
    }
    sections_.erase(kFeatureCompressed);
    return absl::OkStatus();
  }

  bool ChangesRecords() const {
    return options_.cuts() || options_.as_stream || level_ != 0 || input_.is_directory() ||
           (inflate_ && input_.is_compressed());
  }

  // Above this level zstd takes most of a gigabyte. Only the user may ask for that, not the author
  // of the input.
  int LevelOfInput() const {
    constexpr uint32_t kHighestLevel = 19;
    const auto section = sections_.find(kFeatureCompressed);
    if (section == sections_.end()) return 1;
    const auto input = DecodeFields<Compression>(BytesOfText(section->second), input_.swapped());
    return static_cast<int>(std::clamp<uint32_t>(input ? input->level : 1, 1, kHighestLevel));
  }

  bool Keeps(const StoredRecord& record) {
    const uint32_t type = record.header.type;
    if (type >= perf_event::kRecordUserFirst) return true;
    if (options_.time.has_value()) {
      const uint64_t time = input_.event_table().TimeOf(record);
      const bool known = time != 0 && time != kNoTime;
      // A deferred call chain comes after its sample, perhaps after the end of the range.
      if (known && time > time_.end && type != perf_event::kRecordCallchainDeferred) return false;
      if (known && time < time_.begin && IsMeasurement(type)) return false;
    }
    if ((options_.pids.empty() && options_.tids.empty()) || !IsOfThread(type)) return true;
    uint32_t pid = 0, tid = 0;
    if (!input_.event_table().ThreadOf(record, &pid, &tid)) return true;
    const auto has = [](const std::vector<uint32_t>& ids, uint32_t id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    return has(options_.pids, pid) || has(options_.tids, tid);
  }

  absl::Status WriteRecord(const StoredRecord& record, std::span<const std::byte> payload,
                           RewriteOutput& output) {
    const uint32_t type = record.header.type;
    const bool sample = type == perf_event::kRecordSample;
    if (options_.cuts() && !Keeps(record)) {
      summary_.dropped_samples += sample;
      return absl::OkStatus();
    }
    summary_.samples += sample;
    if (input_.is_directory() && type == perf_event::kRecordFinishedRound) return absl::OkStatus();
    if (input_.header().pipe && !output.stream() && IsHeaderRecord(type)) return absl::OkStatus();
    if (!output.stream() && IsNameOfStream(record)) return absl::OkStatus();
    if (IsOfReplacedSection(record)) return absl::OkStatus();
    if (type == perf_event::kRecordHeaderFeature) return WriteFeature(record, output);
    return output.Append(record, payload);
  }

  // True for a record by which a stream names an event. In a file, EVENT_DESC has the name.
  bool IsNameOfStream(const StoredRecord& record) const {
    if (record.header.type != perf_event::kRecordEventUpdate || !input_.header().pipe ||
        sections_.count(kFeatureEventDesc) != 0) {
      return false;
    }
    FieldReader reader({record.data, record.header.size}, input_.swapped());
    reader.U64();  // skips the header
    return reader.U64() == kEventUpdateName && reader.ok();
  }

  // True for a piece of a section that the options replace.
  bool IsOfReplacedSection(const StoredRecord& record) const {
    if (record.header.type != perf_event::kRecordHeaderEventType) return false;
    const std::span<const std::byte> bytes(record.data, record.header.size);
    const std::optional<int> bit =
        CarriedSectionOf(bytes.subspan(sizeof(perf_event::RecordHeader)), input_.swapped());
    return bit.has_value() && options_.sections.count(*bit) != 0;
  }

  // Writes a HEADER_FEATURE record. Streams have them, and so do files with compressed records.
  absl::Status WriteFeature(const StoredRecord& record, RewriteOutput& output) {
    FieldReader reader({record.data, record.header.size}, input_.swapped());
    reader.U64();  // skips the header
    const uint64_t bit = reader.U64();
    if (bit == kFeatureCompressed && inflate_) return absl::OkStatus();
    if (bit != kFeatureSampleTime || !options_.cuts()) return output.Append(record, {});
    const auto section = sections_.find(kFeatureSampleTime);
    if (section == sections_.end()) return absl::OkStatus();
    std::string changed;
    AddFeatureRecord(kFeatureSampleTime, section->second, input_.swapped(), &changed);
    StoredRecord replaced = record;
    replaced.data = BytesOfText(changed).data();
    replaced.header.size = static_cast<uint16_t>(changed.size());
    return output.Append(replaced, {});
  }

  // Adds EVENT_DESC if a stream names its events only in records.
  void AddEventDescriptions() {
    const std::vector<EventDescription>& events = input_.events();
    if (!input_.header().pipe || events.empty() || sections_.count(kFeatureEventDesc) != 0) return;
    const size_t attr_size = SizeOfAll(input_.attrs());
    std::vector<StoredEventDesc> stored;
    for (size_t i = 0; i < events.size(); ++i) {
      stored.push_back({SizedAttr(input_.attrs()[i], attr_size, input_.swapped()), events[i].name,
                        events[i].ids});
    }
    sections_[kFeatureEventDesc] = EncodeEventDesc(stored, attr_size, input_.swapped());
  }

  StoredRecording& input_;
  const RewriteOptions& options_;
  Sections sections_;  // sections of the output
  TimeRange time_;
  bool inflate_ = true;
  int level_ = 0;  // compression level; 0: none
  RewriteSummary summary_;
};

}  // namespace

absl::StatusOr<RewriteSummary> Rewrite(const std::string& from, const std::string& to,
                                       const RewriteOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(const std::unique_ptr<StoredRecording> input,
                            StoredRecording::Open(from, StoredRecording::Use::kRewrite));
  Rewriter rewriter(*input, options);
  PROFILER_RETURN_IF_ERROR(rewriter.Prepare());
  PROFILER_ASSIGN_OR_RETURN(RewriteTarget target, RewriteTarget::Open(to, from));
  PROFILER_ASSIGN_OR_RETURN(RewriteSummary summary, rewriter.Write(target.TakeOutput()));
  PROFILER_RETURN_IF_ERROR(target.Commit(summary.reading, &summary.warnings));
  return summary;
}

}  // namespace profiler::perf_data
