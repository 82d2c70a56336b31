// The section RECORDER between text and value. FORMAT.md draws it.

#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"
#include "src/perf_data/sections/section_lines.h"

namespace profiler::perf_data {
namespace {

constexpr std::string_view kPriority = "priority";

}  // namespace

std::optional<RecorderFacts> ReadRecorder(const Features& features) {
  std::string_view section = OwnSection(features, kFeatureRecorder);
  if (section.empty()) return std::nullopt;
  RecorderFacts recorder;
  while (!section.empty()) {
    std::string_view line = TakeUntil('\n', &section);
    if (TakeUntil('\t', &line) == kPriority) recorder.priority = PrintableValue(line);
  }
  return recorder;
}

void SetRecorder(const RecorderFacts& recorder, Features* features) {
  features->other[kFeatureRecorder] = absl::StrCat(View(kPriority), "\t", recorder.priority, "\n");
}

}  // namespace profiler::perf_data
