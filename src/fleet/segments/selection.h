// Selections of a fleet's samples, by time and by conditions such as "service=web", "release!=1.2"
// and "host~db*". The functions here apply selections to segments; clickhouse/statements.h
// translates them to SQL.

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

// Returns "host", "service", "program", "container", "pod", "build-id" or "event"; "" for kLabel.
std::string_view NameOf(Field field);

// A field; for kLabel, `label` is the key.
struct FieldName {
  Field field = Field::kHost;
  std::string label;
  bool operator==(const FieldName&) const = default;
};
// Parses a name. A name that is no field's is the key of a label. Returns kInvalidArgument if the
// name is empty.
absl::StatusOr<FieldName> ParseField(std::string_view text);

struct Condition {
  FieldName field;
  std::string value;
  bool is_pattern = false;  // True if '*' in `value` matches any characters.
  bool negated = false;
  bool operator==(const Condition&) const = default;

  bool Holds(std::string_view text) const;
};
// Parses NAME=VALUE, NAME!=VALUE, NAME~PATTERN or NAME!~PATTERN. Returns kInvalidArgument, which
// says what is expected, for any other text.
absl::StatusOr<Condition> ParseCondition(std::string_view text);

// A selection; all conditions must hold.
struct Selection {
  UnixTime since = 0, until = INT64_MAX;  // selects begins in [since, until)
  std::vector<Condition> conditions;
};

// Parses "now", or a time such as "2026-11-26T08:00:00Z" (UTC even without the Z), or an age such
// as "90s", "15m", "1h", "7d" and "2w". An age means a time before `now`, rounded down to whole
// seconds. The message of kInvalidArgument says what is expected.
absl::StatusOr<UnixTime> ParseTime(std::string_view text, UnixTime now);

// Returns "2026-11-26T08:00:00Z", in whole seconds.
std::string TextOfTime(UnixTime time);

// Returns the value of a field of a row. Empty if it is unknown, or if the machine has no such
// label.
std::string_view TextOf(const Window& window, const Row& row, const FieldName& field);

// True if the window satisfies the conditions about host and labels. An absent label counts as "".
bool HoldsOfMachine(const Selection& selection, const Window& window);
// A predicate for rows. It checks the conditions about event and workload. Construction takes time
// linear in the window's tables. Refers to the window. Calls are thread-safe.
class RowSelection {
 public:
  RowSelection(const Selection& selection, const Window& window);
  bool operator()(const Row& row) const { return events_[row.event] && workloads_[row.workload]; }

 private:
  std::vector<bool> events_, workloads_;
};

}  // namespace profiler::fleet
