// The fields of a report's line: weights, and sort keys (sort_keys.h) that its samples have in
// common.
//
//   Children      Self       Samples  Command  Symbol
//   └────────weight fields─────────┘  └─sort keys───┘
//
// Facts about perf's behaviour come from tools/perf/Documentation/perf-report.txt,
// tools/perf/util/sort.c, and output of perf 7.2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "src/views/report/sort_keys.h"

namespace profiler::report {

enum class WeightField : uint8_t {
  kChildren,  // percent, of a row and its callees
  kOverhead,  // percent, of a row itself; the next four are parts of it
  kSys,       // percent, in the kernel
  kUser,
  kGuestSys,  // percent, in the kernel of a guest
  kGuestUser,
  kSamples,
  kPeriod,
  // Statistical margins of the weights. Rows are never sorted by them.
  kChildrenInterval,
  kOverheadInterval,
  kRank,  // rank by own weight; rows whose order is uncertain share a rank
};

using Field = std::variant<WeightField, SortKey>;

// True if the field is a statistical margin.
inline bool IsFigure(const Field& field) {
  const auto* weight = std::get_if<WeightField>(&field);
  return weight != nullptr && *weight >= WeightField::kChildrenInterval;
}

// A list of fields as given to --sort and --fields.
struct FieldList {
  std::vector<Field> fields;  // the fields, without duplicates
  bool is_added = false;      // True if the text begins with "+": adds to the default fields.
};

// Returns the fields of tracepoints that a word of a list names, each as "EVENT.FIELD" or "FIELD";
// none if the word is no field.
using TraceFieldsOf = std::function<std::vector<std::string>(std::string_view word)>;

// Parses "overhead,comm,dso,symbol" and perf's other spellings ("sym"). Returns kInvalidArgument,
// which names the unknown field, or says that there is none. With `trace_fields_of`, unknown words
// may be fields of tracepoints. Each of these fields is added to `trace_fields` once. The index of
// a field in `trace_fields` is the index for TraceFieldKey.
absl::StatusOr<FieldList> ParseFields(std::string_view text,
                                      const TraceFieldsOf& trace_fields_of = nullptr,
                                      std::vector<std::string>* trace_fields = nullptr);

// Returns the sort keys of a list, in order.
std::vector<SortKey> KeysOf(const std::vector<Field>& fields);

// The options that ask for columns: --sort, --fields and others.
struct FieldChoice {
  std::vector<Field> sort;
  FieldList shown;  // fields of --fields; empty: not given
  bool cpu_utilization = false;
  bool samples = false;
  bool period = false;
  bool intervals = false;  // True: an interval follows each share.
};

// The columns of a report, and the order of its rows.
struct FieldLayout {
  std::vector<Field> shown;
  std::vector<Field> order;  // rows are sorted by the first field, then by the second …
  // True if kOverhead is next to kChildren, and so has the heading "Self".
  bool overhead_is_self = false;
};

// Lays out the fields as perf does. Default weights come first, and rows are sorted by them. If
// --sort names some of the default weights, the others are left out. --fields replaces the default
// weights; then rows are sorted by the fields of --sort first. --sort also adds its fields to the
// columns.
FieldLayout LayOutFields(const FieldChoice& choice, bool children);

}  // namespace profiler::report
