// The fields of a report's line: weights, and sort keys that its samples have in common.
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
  // Keys whose values are in columns of the profile's rows (DimensionOf).
  kCpu,
  kParallelism,  // number of threads that ran
  kSocket,
  kTime,
  kCgroup,
  kTrace,
  kCommNoDigit,
  kParent,  // the function on the stack that matches --parent
  // Keys of accesses to memory.
  kMemoryLevel,
  kSnoop,
  kTlb,
  kLocked,
  kBlocked,
  kDataSymbol,
  kDataDso,
  kCacheLine,
  kPhysicalAddress,
  kPageSize,
  // Costs of accesses. kLocal… is the cost of one sample; the other keys are sums over the samples
  // of the row.
  kLocalWeight,
  kLocalInstructionLatency,
  kLocalRetireLatency,
  kWeight,
  kInstructionLatency,
  kRetireLatency,
  // Keys that are finer than a function (positions.h). With one of these keys, the table of
  // functions has an entry for each position.
  kSrcline,
  kSrcfile,
  kSymoff,
  // Keys of the branches in branch stacks (branch_rows.h).
  kSymbolFrom,
  kSymbolTo,
  kDsoFrom,
  kDsoTo,
  kMispredict,
  kCycles,
  // Fields of tracepoints' records. This value is element 0 of `trace_fields` of ParseFields; the
  // values after it are elements 1, 2, …
  kTraceField,
};

// Returns the key of a field of tracepoints. `index` is below profile::kMostTraceFields.
constexpr SortKey TraceFieldKey(size_t index) {
  return SortKey{static_cast<uint8_t>(static_cast<size_t>(SortKey::kTraceField) + index)};
}
inline bool IsTraceField(SortKey key) { return key >= SortKey::kTraceField; }
// True if the key describes the result of an access to memory, or the location of its data.
inline bool IsOfMemory(SortKey key) {
  return key >= SortKey::kMemoryLevel && key <= SortKey::kPageSize;
}
// True if the key is a cost of an access to memory.
inline bool IsOfCost(SortKey key) {
  return key >= SortKey::kLocalWeight && key <= SortKey::kRetireLatency;
}
// True if the key's cost of one sample is multiplied by the row's number of samples.
inline bool IsOfAllSamples(SortKey key) {
  return key >= SortKey::kWeight && key <= SortKey::kRetireLatency;
}

// Returns the heading of the key's column; "" for fields of tracepoints, which a profile names.
std::string_view Heading(SortKey key);
// Returns the word for --sort; "" for fields of tracepoints.
std::string_view NameOf(SortKey key);

// True if only branches have the key.
inline bool IsOfBranch(SortKey key) { return key >= SortKey::kSymbolFrom && !IsTraceField(key); }
// True if the key can be in ReportOptions::branch_sort.
inline bool TellsBranches(SortKey key) { return IsOfBranch(key) || key <= SortKey::kSymbol; }

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

// Returns the column of the profile's rows that contains a key of samples; nothing for other keys.
std::optional<profile::Dimension> DimensionOf(SortKey key);

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
