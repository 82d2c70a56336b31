#include "src/cli/tracepoint_texts.h"

#include <utility>

#include "src/base/byte_reader.h"
#include "src/cli/output.h"
#include "src/perf_data/format/perf_data_format.h"

namespace profiler::cli {
namespace {

void Warn(const absl::Status& status) { PrintWarning(std::string(status.message())); }

}  // namespace

void TracepointTexts::Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) {
  if (!was_started_ && !Start()) return;
  if (process_ == nullptr) return;
  std::string text;
  const absl::Status appended = process_->Append(raw, cpu, &text);
  if (!appended.ok()) Warn(appended);
  events::AppendWithNames(text, {}, out);
}

void TracepointTexts::Describe(std::span<const events::TraceRecord> records,
                               const events::FunctionName& name, std::vector<std::string>* texts) {
  texts->assign(records.size(), "");
  if ((!was_started_ && !Start()) || process_ == nullptr) return;
  if (!process_->Texts(records, texts).ok()) {
    // One record ended the process; the records before it still get their texts.
    StartProcess();
    for (size_t i = 0; i < records.size() && process_ != nullptr; ++i) {
      const absl::Status appended =
          process_->Append(BytesOfText(records[i].second), records[i].first, &(*texts)[i]);
      if (!appended.ok()) {
        Warn(appended);
        break;
      }
    }
  }
  for (std::string& text : *texts) {
    std::string named;
    events::AppendWithNames(text, name, &named);
    text = std::move(named);
  }
}

// Starts the process. Returns false if the formats have not arrived yet.
bool TracepointTexts::Start() {
  const auto& sections = recording_.features().other;
  const auto section = sections.find(perf_data::kFeatureTracingData);
  if (section == sections.end()) return false;
  was_started_ = true;
  StartProcess();
  return true;
}

void TracepointTexts::StartProcess() {
  process_.reset();
  const auto section = recording_.features().other.find(perf_data::kFeatureTracingData);
  auto started = events::TraceProcess::Start(section->second);
  if (started.ok()) {
    process_ = *std::move(started);
  } else {
    Warn(started.status());
  }
}

}  // namespace profiler::cli
