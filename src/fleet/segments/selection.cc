#include "src/fleet/segments/selection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "src/base/clock.h"
#include "src/base/text.h"

namespace profiler::fleet {
namespace {

constexpr std::array<std::pair<Field, std::string_view>, 7> kNames = {
    {{Field::kHost, "host"},
     {Field::kService, "service"},
     {Field::kProgram, "program"},
     {Field::kContainer, "container"},
     {Field::kPod, "pod"},
     {Field::kBuildId, "build-id"},
     {Field::kEvent, "event"}}};

bool IsOfMachine(Field field) { return field == Field::kHost || field == Field::kLabel; }

// True if `text` matches the pattern, in which '*' matches any characters.
bool Matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      // Lets the last '*' match one character more.
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string_view TextOf(const Window& window, const Workload& workload, Field field) {
  switch (field) {
    case Field::kService:
      return window.strings[workload.service];
    case Field::kProgram:
      return window.strings[workload.program];
    case Field::kContainer:
      return window.strings[workload.container];
    case Field::kPod:
      return window.strings[workload.pod];
    case Field::kBuildId:
      return window.strings[workload.build_id];
    default:
      return {};
  }
}

std::string_view TextOf(const Window& window, const FieldName& field) {
  if (field.field == Field::kHost) return window.host;
  const auto label =
      std::ranges::find(window.labels, field.label, &std::pair<std::string, std::string>::first);
  return label == window.labels.end() ? std::string_view() : std::string_view(label->second);
}

}  // namespace

std::string_view NameOf(Field field) {
  const auto known = std::ranges::find(kNames, field, &std::pair<Field, std::string_view>::first);
  return known == kNames.end() ? std::string_view() : known->second;
}

absl::StatusOr<FieldName> ParseField(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("the name of a field is missing");
  for (const auto& [field, name] : kNames) {
    if (name == text) return FieldName{.field = field, .label = {}};
  }
  return FieldName{.field = Field::kLabel, .label = std::string(text)};
}

bool Condition::Holds(std::string_view text) const {
  return (is_pattern ? Matches(value, text) : value == text) != negated;
}

absl::StatusOr<Condition> ParseCondition(std::string_view text) {
  const size_t at = text.find_first_of("=~!");
  std::string_view rest = text.substr(std::min(at, text.size()));
  Condition condition;
  condition.negated = rest.starts_with('!');
  if (condition.negated) rest.remove_prefix(1);
  if (at == 0 || !(rest.starts_with('=') || rest.starts_with('~'))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", View(text), "' is not a condition; give NAME=VALUE, NAME!=VALUE, NAME~PATTERN or ",
        "NAME!~PATTERN, such as service=web"));
  }
  condition.is_pattern = rest.starts_with('~');
  condition.value = rest.substr(1);
  PROFILER_ASSIGN_OR_RETURN(condition.field, ParseField(text.substr(0, at)));
  return condition;
}

absl::StatusOr<UnixTime> ParseTime(std::string_view text, UnixTime now) {
  if (text == "now") return now;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  constexpr std::array<std::pair<char, int64_t>, 5> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 604'800}}};
  if (error == std::errc() && stop + 1 == end && number >= 0) {
    const UnixTime second = now - now % kNanosecondsPerSecond;
    for (const auto& [unit, seconds] : kUnits) {
      constexpr int64_t kMost = INT64_MAX / kNanosecondsPerSecond;
      if (*stop == unit && number <= kMost / seconds)
        return second - number * seconds * kNanosecondsPerSecond;
    }
  }
  absl::Time time;
  std::string reason;
  for (const char* format : {"%Y-%m-%dT%H:%M:%E*SZ", "%Y-%m-%dT%H:%M:%E*S", "%Y-%m-%dT%H:%MZ",
                             "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    if (absl::ParseTime(format, std::string(text), &time, &reason)) return absl::ToUnixNanos(time);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", View(text),
      "' is not a time; give 90s, 15m, 1h, 7d or 2w for times ago, 2026-11-26T08:00:00Z, or now"));
}

std::string TextOfTime(UnixTime time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(time), absl::UTCTimeZone());
}

std::string_view TextOf(const Window& window, const Row& row, const FieldName& field) {
  if (IsOfMachine(field.field)) return TextOf(window, field);
  if (field.field == Field::kEvent) return window.strings[window.events[row.event].name];
  return TextOf(window, window.workloads[row.workload], field.field);
}

bool HoldsOfMachine(const Selection& selection, const Window& window) {
  return std::ranges::all_of(selection.conditions, [&window](const Condition& condition) {
    return !IsOfMachine(condition.field.field) || condition.Holds(TextOf(window, condition.field));
  });
}

RowSelection::RowSelection(const Selection& selection, const Window& window)
    : events_(window.events.size(), true), workloads_(window.workloads.size(), true) {
  for (const Condition& condition : selection.conditions) {
    const Field field = condition.field.field;
    if (IsOfMachine(field)) continue;
    if (field == Field::kEvent) {
      for (size_t i = 0; i < events_.size(); ++i) {
        if (!condition.Holds(window.strings[window.events[i].name])) events_[i] = false;
      }
      continue;
    }
    for (size_t i = 0; i < workloads_.size(); ++i) {
      if (!condition.Holds(TextOf(window, window.workloads[i], field))) workloads_[i] = false;
    }
  }
}

}  // namespace profiler::fleet
