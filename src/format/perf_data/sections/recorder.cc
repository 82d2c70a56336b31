// Decodes and encodes the section RECORDER. FORMAT.md draws it.

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/sections/section_lines.h"

namespace profiler::perf_data {
namespace {

constexpr std::string_view kPriority = "priority", kEstimate = "estimate", kStack = "copied-stack",
                           kMoment = "moment";

// Returns nullopt unless all fields are present and valid.
std::optional<RecorderFacts::Estimate> ReadEstimate(std::string_view line) {
  RecorderFacts::Estimate estimate;
  estimate.event = PrintableValue(TakeUntil('\t', &line));
  const bool is_sound = absl::SimpleAtoi(View(TakeUntil('\t', &line)), &estimate.switches) &&
                        absl::SimpleAtoi(View(TakeUntil('\t', &line)), &estimate.sampled) &&
                        absl::SimpleAtoi(View(TakeUntil('\t', &line)), &estimate.time) &&
                        absl::SimpleAtod(View(TakeUntil('\t', &line)), &estimate.placeholders) &&
                        std::isfinite(estimate.placeholders) && estimate.placeholders >= 0;
  return is_sound ? std::optional(std::move(estimate)) : std::nullopt;
}

std::optional<RecorderFacts::Moment> ReadMoment(std::string_view line) {
  RecorderFacts::Moment moment;
  const bool is_sound = absl::SimpleAtoi(View(TakeUntil('\t', &line)), &moment.time) &&
                        absl::SimpleAtoi(View(TakeUntil('\t', &line)), &moment.before) &&
                        absl::SimpleAtoi(View(TakeUntil('\t', &line)), &moment.after) &&
                        absl::SimpleAtoi(View(TakeUntil('\t', &line)), &moment.dropped);
  moment.reason = PrintableValue(line);
  return is_sound ? std::optional(std::move(moment)) : std::nullopt;
}

}  // namespace

std::optional<RecorderFacts> ReadRecorder(const Features& features) {
  std::string_view section = OwnSection(features, kFeatureRecorder);
  if (section.empty()) return std::nullopt;
  RecorderFacts recorder;
  while (!section.empty()) {
    std::string_view line = TakeUntil('\n', &section);
    const std::string_view key = TakeUntil('\t', &line);
    if (key == kPriority) recorder.priority = PrintableValue(line);
    if (key == kStack && !absl::SimpleAtoi(View(line), &recorder.copied_stack))
      recorder.copied_stack = 0;
    if (key == kMoment) recorder.moment = ReadMoment(line);
    if (key != kEstimate) continue;
    if (auto estimate = ReadEstimate(line)) recorder.estimates.push_back(*std::move(estimate));
  }
  return recorder;
}

void SetRecorder(const RecorderFacts& recorder, Features* features) {
  std::string text;
  if (!recorder.priority.empty()) {
    text = absl::StrCat(View(kPriority), "\t", recorder.priority, "\n");
  }
  if (recorder.copied_stack != 0) {
    absl::StrAppend(&text, View(kStack), "\t", recorder.copied_stack, "\n");
  }
  if (const auto& moment = recorder.moment) {
    absl::StrAppend(&text, View(kMoment), "\t", moment->time, "\t", moment->before, "\t",
                    moment->after, "\t", moment->dropped, "\t", moment->reason, "\n");
  }
  for (const RecorderFacts::Estimate& estimate : recorder.estimates) {
    absl::StrAppend(&text, View(kEstimate), "\t", estimate.event, "\t", estimate.switches, "\t",
                    estimate.sampled, "\t", estimate.time, "\t", estimate.placeholders, "\n");
  }
  features->other[kFeatureRecorder] = std::move(text);
}

}  // namespace profiler::perf_data
