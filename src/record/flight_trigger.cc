#include "src/record/flight_trigger.h"

#include <cmath>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "src/base/text.h"

namespace profiler::record {
namespace {

using Kind = FlightTrigger::Kind;

// Removes `prefix` from the beginning of `*text`. Returns false if the text begins differently.
bool Skip(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

bool ReadPercent(std::string_view text, double* percent) {
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  return absl::SimpleAtod(View(text), percent) && std::isfinite(*percent) && *percent >= 0;
}

bool ReadTime(std::string_view text, std::chrono::nanoseconds* time) {
  absl::Duration duration;
  if (!absl::ParseDuration(View(text), &duration) || duration > absl::Hours(24 * 365)) return false;
  *time = absl::ToChronoNanoseconds(duration);
  return time->count() > 0;
}

// Parses the end of "exit" or "signal": nothing, or a number within the bounds.
bool ReadNumber(std::string_view text, int least, int most, int* number) {
  if (text.empty()) return true;
  return Skip(":", &text) && absl::SimpleAtoi(View(text), number) && *number >= least &&
         *number <= most;
}

bool Read(std::string_view text, FlightTrigger* trigger) {
  constexpr int kMostCode = 255, kMostSignal = 64;
  if (Skip("event:", &text)) {
    trigger->kind = Kind::kEvent;
    trigger->name = std::string(text);
    return !text.empty();
  }
  if (Skip("exit", &text)) {
    trigger->kind = Kind::kExit;
    return ReadNumber(text, 0, kMostCode, &trigger->number);
  }
  if (Skip("signal", &text)) {
    trigger->kind = Kind::kSignal;
    return ReadNumber(text, 1, kMostSignal, &trigger->number);
  }
  if (Skip("blocked>", &text)) {
    trigger->kind = Kind::kBlocked;
    return ReadTime(text, &trigger->time);
  }
  if (Skip("cpu>", &text)) {
    trigger->kind = Kind::kCpuAbove;
    return ReadPercent(text, &trigger->percent);
  }
  if (Skip("cpu<", &text)) {
    trigger->kind = Kind::kCpuBelow;
    return ReadPercent(text, &trigger->percent);
  }
  if (!Skip("psi:", &text)) return false;
  trigger->kind = Kind::kPressure;
  trigger->name = std::string(text.substr(0, text.find('>')));
  if (trigger->name != "cpu" && trigger->name != "memory" && trigger->name != "io") return false;
  text.remove_prefix(trigger->name.size());
  return Skip(">", &text) && ReadPercent(text, &trigger->percent);
}

}  // namespace

absl::StatusOr<FlightTrigger> ParseFlightTrigger(const std::string& text) {
  FlightTrigger trigger{.text = text};
  if (Read(text, &trigger)) return trigger;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is not a trigger; give exit[:CODE], signal[:NUMBER], 'cpu>90%', 'cpu<10%', "
                   "'blocked>100ms', 'psi:cpu>20%' (also memory and io), or event:NAME"));
}

}  // namespace profiler::record
