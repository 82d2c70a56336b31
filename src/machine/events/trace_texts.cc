#include "src/machine/events/trace_texts.h"

#include "src/base/byte_reader.h"

namespace profiler::events {

absl::StatusOr<TraceTexts> TraceTexts::Parse(std::string_view section, TraceParts parts) {
  PROFILER_ASSIGN_OR_RETURN(TracePrinter printer, TracePrinter::Parse(section));
  return TraceTexts(section, std::move(parts), std::move(printer));
}

absl::Status TraceTexts::StartProcess() {
  if (process_ != nullptr || has_failed_) return absl::OkStatus();
  auto started = TraceProcess::Start(section_, parts_);
  has_failed_ = !started.ok();
  if (has_failed_) return started.status();
  process_ = *std::move(started);
  return absl::OkStatus();
}

absl::Status TraceTexts::Append(std::span<const std::byte> record, uint32_t cpu, std::string* out) {
  if (printer_.AppendParts(record, parts_, out)) return absl::OkStatus();
  PROFILER_RETURN_IF_ERROR(StartProcess());
  return process_ == nullptr ? absl::OkStatus() : process_->Append(record, cpu, out);
}

absl::Status TraceTexts::Texts(std::span<const TraceRecord> records,
                               std::vector<std::string>* texts) {
  texts->assign(records.size(), "");
  std::vector<TraceRecord> left;
  std::vector<size_t> positions;  // of the records in `left`
  for (size_t i = 0; i < records.size(); ++i) {
    if (printer_.AppendParts(BytesOfText(records[i].second), parts_, &(*texts)[i])) continue;
    left.push_back(records[i]);
    positions.push_back(i);
  }
  if (left.empty()) return absl::OkStatus();
  PROFILER_RETURN_IF_ERROR(StartProcess());
  if (process_ == nullptr) return absl::OkStatus();
  std::vector<std::string> rest;
  if (process_->Texts(left, &rest).ok()) {
    for (size_t i = 0; i < left.size(); ++i) (*texts)[positions[i]] = std::move(rest[i]);
    return absl::OkStatus();
  }
  // One of the records has ended the process. The records before that one still get their texts.
  process_.reset();
  PROFILER_RETURN_IF_ERROR(StartProcess());
  for (size_t i = 0; i < left.size(); ++i) {
    PROFILER_RETURN_IF_ERROR(
        process_->Append(BytesOfText(left[i].second), left[i].first, &(*texts)[positions[i]]));
  }
  return absl::OkStatus();
}

}  // namespace profiler::events
