// Which samples of a fleet are asked for: "service=web", "release!=1.2", "host~db*", of a stretch
// of time. Segments are chosen by it here; clickhouse_query.h makes SQL of it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

// What samples have, besides their stacks, to be chosen and told apart by.
enum class Field : uint8_t {
  kHost,
  kService,
  kProgram,
  kContainer,
  kPod,
  kBuildId,
  kEvent,
  kLabel,  // one of the host's labels, by its key
};

// "host", "service", "program", "container", "pod", "build-id", "event"; "" for kLabel.
std::string_view NameOf(Field field);

// A field, and of kLabel which.
struct FieldName {
  Field field = Field::kHost;
  std::string label;
  bool operator==(const FieldName&) const = default;
};
// Any other name is a label's. kInvalidArgument for an empty one.
absl::StatusOr<FieldName> ParseField(std::string_view text);

struct Condition {
  FieldName field;
  std::string value;
  bool is_pattern = false;  // '*' in it stands for any characters
  bool negated = false;
  bool operator==(const Condition&) const = default;

  bool Holds(std::string_view text) const;
};
// NAME=VALUE, NAME!=VALUE; NAME~PATTERN, NAME!~PATTERN. kInvalidArgument says what it should be.
absl::StatusOr<Condition> ParseCondition(std::string_view text);

// All conditions must hold.
struct Selection {
  UnixTime since = 0, until = INT64_MAX;  // [since, until): of windows' begins
  std::vector<Condition> conditions;
};

// "90s", "15m", "1h", "7d", "2w" before `now`, from the second that has begun then; or a time as
// "2026-11-26T08:00:00Z", or without the Z in UTC too; or "now". kInvalidArgument says what it
// should be.
absl::StatusOr<UnixTime> ParseTime(std::string_view text, UnixTime now);

// "2026-11-26T08:00:00Z"; whole seconds.
std::string TextOfTime(UnixTime time);

// What a row has of a field: of its window's machine, its event or its workload. Empty where it is
// not known, or the machine has no such label.
std::string_view TextOf(const Window& window, const Row& row, const FieldName& field);

// Whether conditions about host and labels hold; those of an absent label compare with "".
bool HoldsOfMachine(const Selection& selection, const Window& window);
// Whether the others hold of a row, by its event and workload. Built in time linear in the window's
// tables. Refers to the window. Reading is thread-safe.
class RowSelection {
 public:
  RowSelection(const Selection& selection, const Window& window);
  bool operator()(const Row& row) const { return events_[row.event] && workloads_[row.workload]; }

 private:
  std::vector<bool> events_, workloads_;
};

}  // namespace profiler::fleet
