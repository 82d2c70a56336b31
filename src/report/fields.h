// What a line of a report is made of: numbers, and what its samples have in common.
//
//   Children      Self       Samples  Command  Symbol
//   └────────weight fields─────────┘  └─sort keys───┘
//
// Facts about perf's behaviour: tools/perf/Documentation/perf-report.txt, tools/perf/util/sort.c
// and what perf 7.2 prints.

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
  kTid,   // the same under the heading "Tid:Command"
  kTgid,  // a process, shown as "pid:comm"
  kComm,
  kDso,
  kSymbol,
  // Of samples alone, in columns of a profile's rows: DimensionOf.
  kCpu,
  kParallelism,  // how many threads ran
  kSocket,
  kTime,
  kCgroup,
  kTrace,
  kCommNoDigit,
  kParent,  // a function on the stack that was asked for
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
  // The cost of accesses: kLocal… of one sample, the others of all samples of the row.
  kLocalWeight,
  kLocalInstructionLatency,
  kLocalRetireLatency,
  kWeight,
  kInstructionLatency,
  kRetireLatency,
  // Finer than a function: positions.h. With one of them the table of functions has an entry a
  // place.
  kSrcline,
  kSrcfile,
  kSymoff,
  // Of the branches of a branch stack: branches.h.
  kSymbolFrom,
  kSymbolTo,
  kDsoFrom,
  kDsoTo,
  kMispredict,
  kCycles,
  // Fields of tracepoints: this one and those behind it, by number (ParseFields).
  kTraceField,
};

// The key of the field of a tracepoint with this number, below profile::kMostTraceFields.
constexpr SortKey TraceFieldKey(size_t index) {
  return SortKey{static_cast<uint8_t>(static_cast<size_t>(SortKey::kTraceField) + index)};
}
inline bool IsTraceField(SortKey key) { return key >= SortKey::kTraceField; }
// True if the key says what an access to memory met, or where its data lie.
inline bool IsOfMemory(SortKey key) {
  return key >= SortKey::kMemoryLevel && key <= SortKey::kPageSize;
}
// True if the key says what an access to memory cost.
inline bool IsOfCost(SortKey key) {
  return key >= SortKey::kLocalWeight && key <= SortKey::kRetireLatency;
}
// True if the key's number is multiplied by the samples of a row.
inline bool IsOfAllSamples(SortKey key) {
  return key >= SortKey::kWeight && key <= SortKey::kRetireLatency;
}

// What stands above its column; "" above fields of tracepoints, which a profile names.
std::string_view Heading(SortKey key);
// Its name in --sort; "" for fields of tracepoints.
std::string_view NameOf(SortKey key);

// Whether the key is of branches alone.
inline bool IsOfBranch(SortKey key) { return key >= SortKey::kSymbolFrom && !IsTraceField(key); }
// Whether it can be one of ReportOptions::branch_sort.
inline bool TellsBranches(SortKey key) { return IsOfBranch(key) || key <= SortKey::kSymbol; }

enum class WeightField : uint8_t {
  kChildren,  // percent, of a row and all that it called
  kOverhead,  // percent, as the next four: of a row itself
  kSys,       // … in the kernel
  kUser,
  kGuestSys,  // … in the kernel of a guest
  kGuestUser,
  kSamples,
  kPeriod,
  // How far chance can have moved the samples; no row goes by these.
  kChildrenInterval,
  kOverheadInterval,
  kRank,  // by a row's own weight: rows of the same rank cannot be told apart
};

using Field = std::variant<WeightField, SortKey>;

// Whether it says how far chance can have moved a share.
inline bool IsFigure(const Field& field) {
  const auto* weight = std::get_if<WeightField>(&field);
  return weight != nullptr && *weight >= WeightField::kChildrenInterval;
}

// A list of fields as --sort and --fields take it.
struct FieldList {
  std::vector<Field> fields;  // each once
  bool is_added = false;      // "+": to those that there are without the option
};

// Tells which fields of tracepoints a word of a list stands for, each as "EVENT.FIELD" or "FIELD";
// none: the word means no field.
using TraceFieldsOf = std::function<std::vector<std::string>(std::string_view word)>;

// "overhead,comm,dso,symbol" and perf's other spellings ("sym"). kInvalidArgument names the unknown
// field, or says that there is none. With `trace_fields_of`, unknown words may be fields of
// tracepoints; they are appended to `trace_fields`, each once, and numbered by it.
absl::StatusOr<FieldList> ParseFields(std::string_view text,
                                      const TraceFieldsOf& trace_fields_of = nullptr,
                                      std::vector<std::string>* trace_fields = nullptr);

// The sort keys of a list, in their order.
std::vector<SortKey> KeysOf(const std::vector<Field>& fields);
// The sort keys of a text. kInvalidArgument also where it has none.
absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text);

// The column of a profile's rows that a key of samples is told by.
std::optional<profile::Dimension> DimensionOf(SortKey key);

// What is typed as --sort and --fields, and other options that ask for columns.
struct FieldChoice {
  std::vector<Field> sort;
  FieldList shown;  // empty: not given
  bool cpu_utilization = false;
  bool samples = false;
  bool period = false;
  bool intervals = false;  // beside the shares
};

struct FieldLayout {
  std::vector<Field> shown;
  std::vector<Field> order;  // rows are in the order of the first, then of the next …
  // Whether kOverhead stands beside kChildren, by its own name or "Self".
  bool overhead_is_self = false;
};

// As perf lays them out. Weights that are not named stand in front, and rows go by them first;
// where
// --sort names any of them, those that it does not name are left out. --fields is all that is
// shown, and what --sort names beside it; rows go by --sort first.
FieldLayout LayOutFields(const FieldChoice& choice, bool children);

}  // namespace profiler::report
