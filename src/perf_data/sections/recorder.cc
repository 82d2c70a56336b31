// The section RECORDER between text and value. FORMAT.md draws it.

#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

constexpr std::string_view kPriority = "priority\t";

}  // namespace

std::optional<RecorderFacts> ReadRecorder(const Features& features) {
  std::string_view section = OwnSection(features, kFeatureRecorder);
  if (section.empty()) return std::nullopt;
  RecorderFacts recorder;
  while (!section.empty()) {
    const size_t end = section.find('\n');
    const std::string_view line = section.substr(0, end);
    if (line.starts_with(kPriority)) {
      recorder.priority.clear();
      AppendPrintable(line.substr(kPriority.size()), recorder.priority);
    }
    section.remove_prefix(end == std::string_view::npos ? section.size() : end + 1);
  }
  return recorder;
}

void SetRecorder(const RecorderFacts& recorder, Features* features) {
  features->other[kFeatureRecorder] = absl::StrCat(View(kPriority), recorder.priority, "\n");
}

}  // namespace profiler::perf_data
