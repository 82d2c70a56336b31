// The sort keys of a report, in one table: name, heading, the source of a row's value, and the
// group of `--help` that lists the key. Columns, the order of rows, JSON, the columns that a
// profile must keep, `--help` and error messages follow from it.
//
// To add a key, add a value of SortKey and an entry of kSortKeys here, then list the key in
// docs/report.md and docs/json.schema.json (sort_keys_test.cc compares both with the table). A key
// of a new column of the profile also needs that column (ARCHITECTURE.md, "A dimension of rows").
//
// Names and headings are those of perf (tools/perf/util/sort.c, Linux 7.2).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  // Keys that are finer than a function; positions.h expects these three together. With one of
  // them, the table of functions has an entry for each position.
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

// The source of a row's value. It decides how the value is shown, sorted and written as JSON.
enum class KeyKind : uint8_t {
  kThread,       // the row's thread: SortKeyEntry::thread
  kImage,        // the image of the interrupted code
  kSymbol,       // the interrupted function
  kPosition,     // a position in the function (positions.h)
  kNumber,       // a column of numbers; kNoCpu: unknown
  kParallelism,  // a column of numbers of threads (profile::kNoneRan, kOthersRan)
  kTime,         // a column of time quanta
  kText,         // a column of texts
  kDataText,     // a column of texts, shown after the level of the code: "[.] table+0x40"
  kCost,         // a column of decimal numbers as texts
  kCostOfAll,    // a kCost, multiplied by the row's number of samples
  kBranch,       // SortKeyEntry::branch; samples without branches do not have it
  kTraceField,   // a column of texts whose heading is a field's name
};

// The lists in which `--help` names the keys.
enum class KeyGroup : uint8_t { kSamples, kAccesses, kBranches };

// A thread's value: an id, a name, or both ("123:worker"). A key without an id sorts by the name.
struct ThreadValue {
  uint32_t (*id)(const profile::Thread&) = nullptr;
  StringId (*name)(const profile::Thread&) = nullptr;
  // Members of the JSON. A value that has none is not written.
  std::string_view id_member, name_member;
};

// A branch's value.
struct BranchValue {
  // kImage or kSymbol: the code at an end of the branch. Otherwise `number` and `text` are set.
  KeyKind of = KeyKind::kBranch;
  bool of_source = false;                                    // True: the end is the source.
  int64_t (*number)(const profile::BranchRow&) = nullptr;    // sorts rows, from low to high
  std::string (*text)(const profile::BranchRow&) = nullptr;  // text of the cell
};

struct SortKeyEntry {
  SortKey key{};
  std::string_view name;        // the word for --sort, and the member of the JSON
  std::string_view other_name;  // another word for --sort, which is not listed
  std::string_view heading;
  KeyKind kind{};
  KeyGroup group = KeyGroup::kSamples;
  std::optional<profile::Dimension> column;  // of a kind that is a column
  ThreadValue thread;                        // of kThread
  BranchValue branch;                        // of kBranch
  size_t least_width = 0;                    // of a column of texts
  size_t fewer_digits = 0;  // of kNumber: the digits by which perf pads less than the width
  std::string_view unknown = "N/A";  // of texts: the text of an unknown value
};

// All keys except the fields of tracepoints, in the order of `--help`.
inline constexpr auto kSortKeys = [] {
  using enum KeyKind;
  using enum KeyGroup;
  using profile::BranchOutcome;
  using profile::BranchRow;
  using profile::Dimension;
  using profile::Thread;
  constexpr ThreadValue kOfThread = {.id = [](const Thread& thread) { return thread.tid; },
                                     .name = [](const Thread& thread) { return thread.last_comm; },
                                     .id_member = "tid",
                                     .name_member = "thread"};
  return std::to_array<SortKeyEntry>({
      {.key = SortKey::kPid,
       .name = "pid",
       .heading = "    Pid:Command",
       .kind = kThread,
       .thread = kOfThread},
      {.key = SortKey::kTid,
       .name = "tid",
       .heading = "    Tid:Command",
       .kind = kThread,
       .thread = kOfThread},
      {.key = SortKey::kTgid,
       .name = "tgid",
       .heading = "   Tgid:Command",
       .kind = kThread,
       .thread = {.id = [](const Thread& thread) { return thread.pid; },
                  .name = [](const Thread& thread) { return thread.process_comm; },
                  .id_member = "pid",
                  .name_member = "process"}},
      {.key = SortKey::kComm,
       .name = "comm",
       .heading = "Command",
       .kind = kThread,
       .thread = {.name = [](const Thread& thread) { return thread.comm; }, .name_member = "comm"}},
      {.key = SortKey::kCommNoDigit,
       .name = "comm_nodigit",
       .heading = "CommandNoDigit",
       .kind = kText,
       .column = Dimension::kCommNoDigit},
      {.key = SortKey::kDso, .name = "dso", .heading = "Shared Object", .kind = kImage},
      {.key = SortKey::kSymbol,
       .name = "symbol",
       .other_name = "sym",
       .heading = "Symbol",
       .kind = kSymbol},
      {.key = SortKey::kParent,
       .name = "parent",
       .heading = "Parent symbol",
       .kind = kText,
       .column = Dimension::kParent,
       .unknown = "[other]"},
      {.key = SortKey::kSrcline, .name = "srcline", .heading = "Source:Line", .kind = kPosition},
      {.key = SortKey::kSrcfile, .name = "srcfile", .heading = "Source File", .kind = kPosition},
      {.key = SortKey::kSymoff, .name = "symoff", .heading = "Symbol Offset", .kind = kPosition},
      {.key = SortKey::kCpu,
       .name = "cpu",
       .heading = "CPU",
       .kind = kNumber,
       .column = Dimension::kCpu},
      {.key = SortKey::kSocket,
       .name = "socket",
       .heading = "Socket",
       .kind = kNumber,
       .column = Dimension::kSocket,
       .fewer_digits = 3},
      {.key = SortKey::kTime,
       .name = "time",
       .heading = "Time",
       .kind = kTime,
       .column = Dimension::kTime},
      {.key = SortKey::kCgroup,
       .name = "cgroup",
       .heading = "Cgroup",
       .kind = kText,
       .column = Dimension::kCgroup},
      {.key = SortKey::kTrace,
       .name = "trace",
       .heading = "Trace output",
       .kind = kText,
       .column = Dimension::kTrace},
      {.key = SortKey::kParallelism,
       .name = "parallelism",
       .heading = "Parallelism",
       .kind = kParallelism,
       .column = Dimension::kParallelism},
      {.key = SortKey::kMemoryLevel,
       .name = "mem",
       .heading = "Memory access",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kMemoryLevel,
       .least_width = 39},
      {.key = SortKey::kDataSymbol,
       .name = "symbol_daddr",
       .heading = "Data Symbol",
       .kind = kDataText,
       .group = kAccesses,
       .column = Dimension::kDataSymbol,
       .least_width = 22},
      {.key = SortKey::kDataDso,
       .name = "dso_daddr",
       .heading = "Data Object",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kDataDso},
      {.key = SortKey::kCacheLine,
       .name = "dcacheline",
       .heading = "Data Cacheline",
       .kind = kDataText,
       .group = kAccesses,
       .column = Dimension::kCacheLine,
       .least_width = 22},
      {.key = SortKey::kPhysicalAddress,
       .name = "phys_daddr",
       .heading = "Data Physical Address",
       .kind = kDataText,
       .group = kAccesses,
       .column = Dimension::kPhysicalAddress,
       .least_width = 22},
      {.key = SortKey::kPageSize,
       .name = "data_page_size",
       .heading = "Data Page Size",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kPageSize,
       .least_width = 22},
      {.key = SortKey::kSnoop,
       .name = "snoop",
       .heading = "Snoop",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kSnoop,
       .least_width = 12},
      {.key = SortKey::kTlb,
       .name = "tlb",
       .heading = "TLB access",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kTlb,
       .least_width = 22},
      {.key = SortKey::kLocked,
       .name = "locked",
       .heading = "Locked",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kLocked},
      {.key = SortKey::kBlocked,
       .name = "blocked",
       .heading = "Blocked",
       .kind = kText,
       .group = kAccesses,
       .column = Dimension::kBlocked,
       .least_width = 10},
      {.key = SortKey::kLocalWeight,
       .name = "local_weight",
       .heading = "Local Weight",
       .kind = kCost,
       .group = kAccesses,
       .column = Dimension::kWeight,
       .least_width = 12},
      {.key = SortKey::kWeight,
       .name = "weight",
       .heading = "Weight",
       .kind = kCostOfAll,
       .group = kAccesses,
       .column = Dimension::kWeight,
       .least_width = 12},
      {.key = SortKey::kLocalInstructionLatency,
       .name = "local_ins_lat",
       .heading = "Local INSTR Latency",
       .kind = kCost,
       .group = kAccesses,
       .column = Dimension::kInstructionLatency},
      {.key = SortKey::kInstructionLatency,
       .name = "ins_lat",
       .heading = "INSTR Latency",
       .kind = kCostOfAll,
       .group = kAccesses,
       .column = Dimension::kInstructionLatency},
      {.key = SortKey::kLocalRetireLatency,
       .name = "local_retire_lat",
       .other_name = "local_p_stage_cyc",
       .heading = "Local Retire Latency",
       .kind = kCost,
       .group = kAccesses,
       .column = Dimension::kRetireLatency},
      {.key = SortKey::kRetireLatency,
       .name = "retire_lat",
       .other_name = "p_stage_cyc",
       .heading = "Retire Latency",
       .kind = kCostOfAll,
       .group = kAccesses,
       .column = Dimension::kRetireLatency},
      {.key = SortKey::kSymbolFrom,
       .name = "symbol_from",
       .heading = "Source Symbol",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.of = kSymbol, .of_source = true}},
      {.key = SortKey::kSymbolTo,
       .name = "symbol_to",
       .heading = "Target Symbol",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.of = kSymbol}},
      {.key = SortKey::kDsoFrom,
       .name = "dso_from",
       .heading = "Source Shared Object",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.of = kImage, .of_source = true}},
      {.key = SortKey::kDsoTo,
       .name = "dso_to",
       .heading = "Target Shared Object",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.of = kImage}},
      {.key = SortKey::kMispredict,
       .name = "mispredict",
       .heading = "Branch Mispredicted",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.number = [](const BranchRow& row) { return static_cast<int64_t>(row.outcome); },
                  .text =
                      [](const BranchRow& row) {
                        if (row.outcome == BranchOutcome::kUnknown) return std::string("N/A");
                        return std::string(row.outcome == BranchOutcome::kPredicted ? "N" : "Y");
                      }}},
      {.key = SortKey::kCycles,
       .name = "cycles",
       .heading = "Basic Block Cycles",
       .kind = kBranch,
       .group = kBranches,
       .branch = {.number = [](const BranchRow& row) { return -int64_t{row.cycles}; },
                  .text =
                      [](const BranchRow& row) {
                        return row.cycles == 0 ? std::string("-") : std::to_string(row.cycles);
                      }}},
  });
}();

// Returns the key's entry. All fields of tracepoints share one, without a name.
const SortKeyEntry& EntryOf(SortKey key);

// Returns the heading of the key's column; "" for fields of tracepoints, which a profile names.
inline std::string_view Heading(SortKey key) { return EntryOf(key).heading; }
// Returns the column of the profile's rows that contains a key of samples; nothing for other keys.
std::optional<profile::Dimension> DimensionOf(SortKey key);

// Returns the key of a field of tracepoints. `index` is below profile::kMostTraceFields.
constexpr SortKey TraceFieldKey(size_t index) {
  return SortKey{static_cast<uint8_t>(static_cast<size_t>(SortKey::kTraceField) + index)};
}
constexpr bool IsTraceField(SortKey key) { return key >= SortKey::kTraceField; }
// Returns the index of a field of tracepoints, for which IsTraceField is true.
constexpr size_t TraceFieldIndex(SortKey key) {
  return static_cast<size_t>(key) - static_cast<size_t>(SortKey::kTraceField);
}

// True if the key describes the result of an access to memory, or the location of its data.
bool IsOfMemory(SortKey key);
// True if only branches have the key.
bool IsOfBranch(SortKey key);
// True if the key can be in ReportOptions::branch_sort.
bool TellsBranches(SortKey key);

// Returns the names of keys as a list: "pid,tid" or "pid, tid or tgid". `between` separates two
// names, and `last` separates the last one.
std::string SortKeyNames(KeyGroup group, std::string_view between, std::string_view last);
// Returns the names of the keys for which TellsBranches is true: "pid, tid and cycles".
std::string BranchKeyNames();

}  // namespace profiler::report
