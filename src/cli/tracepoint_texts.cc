#include "src/cli/tracepoint_texts.h"

#include <utility>

#include "src/cli/output.h"
#include "src/perf_data/format/perf_data_format.h"

namespace profiler::cli {
namespace {

void Warn(const absl::Status& status) { PrintWarning(std::string(status.message())); }

}  // namespace

void TracepointTexts::Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) {
  if (!was_started_ && !Start()) return;
  if (process_ == nullptr) return;
  const absl::Status appended = process_->Append(raw, cpu, out);
  if (!appended.ok()) Warn(appended);
}

// False where there are no formats yet.
bool TracepointTexts::Start() {
  const auto& sections = recording_.features().other;
  const auto section = sections.find(perf_data::kFeatureTracingData);
  if (section == sections.end()) return false;
  was_started_ = true;
  auto started = events::TraceProcess::Start(section->second);
  if (started.ok()) {
    process_ = *std::move(started);
  } else {
    Warn(started.status());
  }
  return true;
}

}  // namespace profiler::cli
