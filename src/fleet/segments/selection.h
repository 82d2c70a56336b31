// Selections of a fleet's samples, by conditions and time: "service=web", "release!=1.2",
// "host~db*". The functions here apply them to segments; clickhouse/statements.h translates them to
// SQL.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

// The properties of a sample, besides its stack, by which it can be selected and grouped.
enum class Field : uint8_t {
  kHost,
  kService,
  kProgram,
  kContainer,
  kPod,
  kBuildId,
  kEvent,
  kLabel,  // one of the host's labels, chosen by its key
};

// "host", "service", "program", "container", "pod", "build-id", "event"; "" for kLabel.
std::string_view NameOf(Field field);

// A field; for kLabel, `label` is the key.
struct FieldName {
  Field field = Field::kHost;
  std::string label;
  bool operator==(const FieldName&) const = default;
};
// Parses a name; any name that is not a field's is a label's key. kInvalidArgument if it is empty.
absl::StatusOr<FieldName> ParseField(std::string_view text);

struct Condition {
  FieldName field;
  std::string value;
  bool is_pattern = false;  // True if '*' in `value` matches any characters.
  bool negated = false;
  bool operator==(const Condition&) const = default;

  bool Holds(std::string_view text) const;
};
// Parses NAME=VALUE, NAME!=VALUE, NAME~PATTERN or NAME!~PATTERN. kInvalidArgument says what is
// expected.
absl::StatusOr<Condition> ParseCondition(std::string_view text);

// A selection; all conditions must hold.
struct Selection {
  UnixTime since = 0, until = INT64_MAX;  // [since, until) of the windows' begins
  std::vector<Condition> conditions;
};

// Parses "now"; a time such as "2026-11-26T08:00:00Z", in UTC even without the Z; or a time before
// `now`, rounded down to whole seconds: "90s", "15m", "1h", "7d", "2w". kInvalidArgument says what
// is expected.
absl::StatusOr<UnixTime> ParseTime(std::string_view text, UnixTime now);

// Returns "2026-11-26T08:00:00Z", in whole seconds.
std::string TextOfTime(UnixTime time);

// Returns a field of a row, from the machine, event or workload. Empty if it is unknown, or if the
// machine has no such label.
std::string_view TextOf(const Window& window, const Row& row, const FieldName& field);

// True if the conditions about host and labels hold; an absent label counts as "".
bool HoldsOfMachine(const Selection& selection, const Window& window);
// A predicate that checks the other conditions, about a row's event and workload. Construction
// takes time linear in the window's tables. Refers to the window. Calls are thread-safe.
class RowSelection {
 public:
  RowSelection(const Selection& selection, const Window& window);
  bool operator()(const Row& row) const { return events_[row.event] && workloads_[row.workload]; }

 private:
  std::vector<bool> events_, workloads_;
};

}  // namespace profiler::fleet
