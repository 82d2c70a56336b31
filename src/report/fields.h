// The fields of a report's line: weights, and sort keys that its samples have in common.
//
//   Children      Self       Samples  Command  Symbol
//   └────────weight fields─────────┘  └─sort keys───┘
//
// Facts about perf's behaviour come from tools/perf/Documentation/perf-report.txt,
// tools/perf/util/sort.c, and output of perf 7.2.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "src/profile/profile.h"

namespace profiler::report {

// Samples that agree in all sort keys form one row.
enum class SortKey : uint8_t {
  kPid,   // a thread, shown as "tid:comm" under perf's heading "Pid:Command"
  kTid,   // a thread, with the heading "Tid:Command"
  kTgid,  // a process, shown as "pid:comm"
  kComm,
  kDso,
  kSymbol,
  // Keys of samples, from columns of the profile's rows: DimensionOf.
  kCpu,
  kParallelism,  // number of threads that ran
  kSocket,
  kTime,
  kCgroup,
  kTrace,
  kCommNoDigit,
  kParent,  // the function on the stack that matches --parent
  // Keys finer than a function: positions.h. With one of them the table of functions has an entry
  // per position.
  kSrcline,
  kSrcfile,
  kSymoff,
  // Keys of a branch stack's branches: branches.h.
  kSymbolFrom,
  kSymbolTo,
  kDsoFrom,
  kDsoTo,
  kMispredict,
  kCycles,
};

// Returns the heading of the key's column.
std::string_view Heading(SortKey key);

// True if only branches have the key.
inline bool IsOfBranch(SortKey key) { return key >= SortKey::kSymbolFrom; }
// True if the key can be in ReportOptions::branch_sort.
inline bool TellsBranches(SortKey key) { return IsOfBranch(key) || key <= SortKey::kSymbol; }

enum class WeightField : uint8_t {
  kChildren,  // percent, of a row and its callees
  kOverhead,  // percent, of a row itself, as are the next four
  kSys,       // … in the kernel
  kUser,
  kGuestSys,  // … in the kernel of a guest
  kGuestUser,
  kSamples,
  kPeriod,
  // Statistical margins of the weights. Rows are never sorted by them.
  kChildrenInterval,
  kOverheadInterval,
  kRank,  // by own weight; rows whose order is uncertain share a rank
};

using Field = std::variant<WeightField, SortKey>;

// True if the field is a statistical margin.
inline bool IsFigure(const Field& field) {
  const auto* weight = std::get_if<WeightField>(&field);
  return weight != nullptr && *weight >= WeightField::kChildrenInterval;
}

// A list of fields as given to --sort and --fields.
struct FieldList {
  std::vector<Field> fields;  // without duplicates
  bool is_added = false;      // text began with "+": adds to the default fields
};

// Parses "overhead,comm,dso,symbol" and perf's other spellings ("sym"). Returns kInvalidArgument,
// which names the unknown field, or says that there is none.
absl::StatusOr<FieldList> ParseFields(std::string_view text);

// Returns the sort keys of a list, in order.
std::vector<SortKey> KeysOf(const std::vector<Field>& fields);
// Parses sort keys. Returns kInvalidArgument also if there are none.
absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text);

// Returns the column of the profile's rows that contains a key of samples; nothing for other keys.
std::optional<profile::Dimension> DimensionOf(SortKey key);

// The options that ask for columns: --sort, --fields and others.
struct FieldChoice {
  std::vector<Field> sort;
  FieldList shown;  // empty: not given
  bool cpu_utilization = false;
  bool samples = false;
  bool period = false;
  bool intervals = false;  // next to the shares
};

// The columns of a report, and the order of its rows.
struct FieldLayout {
  std::vector<Field> shown;
  std::vector<Field> order;  // sort rows by the first of these, then by the next …
  // True if kOverhead is next to kChildren, and so has the heading "Self".
  bool overhead_is_self = false;
};

// Lays out the fields as perf does. Default weights come first, and rows are sorted by them. If
// --sort names any of them, the others are left out. --fields replaces the defaults, and --sort
// adds its fields; then rows are sorted by --sort first.
FieldLayout LayOutFields(const FieldChoice& choice, bool children);

}  // namespace profiler::report
