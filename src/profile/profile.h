// A profile as a value: who ran what, how often. Tables with dense ids; every view is a pure
// function of it.
//
//   rows     (event, thread, dimensions) → count, period, StackId
//                                              │
//   stacks   node {parent, frame}   leaf up to root; kNoStack is the root's parent
//                                              │
//   frames   one distinct code address {dso, address, kind}; twice where some stacks have too many
//            inlined calls to show those at it
//                                              │
//   lines    its functions, innermost first; more than one where calls were inlined
//                                              │
//   symbols  {name, dso, start}     what a report groups by
//
//   branches (event, thread, from, to) → count: of branch stacks, where they are kept
//
// Samples that agree in event, thread, interrupted frame and stack, and in each dimension that is
// kept, are one row. So the size of a profile grows with the dimensions that are asked for, not
// with the number of samples.
//
// ProfileBuilder makes it of records, profile_codec.h reads it from a recording that carries it.
// Both leave it without lines and symbols, which NameProfile (name_profile.h) adds. After that
// nothing changes it any more. Reading is thread-safe.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/chain_quality.h"
#include "src/base/huge_vector.h"
#include "src/base/string_table.h"
#include "src/profile/branches.h"
#include "src/profile/ids.h"

namespace profiler::profile {

inline constexpr uint32_t kNoCpu = 0xffffffff;  // the sample does not say on which it was taken

// Where code ran.
enum class Mode : uint8_t {
  kUnknown,
  kUser,
  kKernel,
  kHypervisor,
  kGuestUser,
  kGuestKernel,
  kCut  // no code: the outermost frame of a stack whose call chain is cut, named by the reason
};

struct Event {
  StringId name{};
  uint64_t samples = 0;  // PERF_RECORD_SAMPLE of this event (before any filter)
  uint64_t period =
      0;  // their summed periods; with no PERIOD in sample_type each counts its attr's period
  bool frequency = false;
  bool callchains = false;     // its samples have them
  bool branch_stacks = false;  // its samples have them, and Profile::branches what they add up to
  double squared_periods = 0;  // their sum, where Profile::order is kept
  // With --off-cpu: how many context switches were counted and how many of them sampled, how much
  // of `period` is of the others, and how many equal samples would have as much statistical noise
  // in that.
  struct Estimate {
    uint64_t switches = 0, sampled = 0;
    uint64_t period = 0;
    double samples = 0;
    bool operator==(const Estimate&) const = default;
  };
  Estimate estimate;  // zeroes if each time off the CPU has its own stack
};

// A thread under one of its names: exec and prctl(PR_SET_NAME) start another entry. A thread has
// its first name from its first sample on, if it had none before.
struct Thread {
  uint32_t pid = 0, tid = 0;
  StringId comm{};
  // At the recording's end, and then of the thread whose tid is the pid; empty where threads of one
  // name are one.
  StringId last_comm{}, process_comm{};
};

// As symbolize::ImageKind; kUnknown where nothing is known to be mapped.
enum class DsoKind : uint8_t {
  kUser,
  kVdso,
  kKernel,
  kModule,
  kBpf,
  kJit,      // generated code, of which a perf-PID.map may have the names
  kJitDump,  // generated code that is in a dump
  kAnonymous,
  kUnknown,
  kNoCode  // of frames that stand for what a thread did; never of a recording
};

// Whether frames of such a DSO are at offsets in a file, else at runtime addresses.
constexpr bool IsInFile(DsoKind kind) {
  return kind == DsoKind::kUser || kind == DsoKind::kVdso || kind == DsoKind::kJitDump;
}

struct Dso {
  StringId name{};       // as perf's `dso` sort shows it: base name; "[kernel.kallsyms]", "[vdso]",
                         // "[unknown]"
  StringId long_name{};  // path
  DsoKind kind = DsoKind::kUnknown;
  std::vector<std::byte> build_id;
  // The (first) process that had it, as symbolize::ProcessKey; 0: the kernel's, and the vdso.
  uint32_t pid = 0;
};

struct Symbol {
  StringId name{};  // demangled; or made of where it starts (Frame::unnamed)
  DsoId dso{};
  ElfAddress start;
  uint64_t size = 0;
};

// One function at a frame's address.
struct Line {
  SymbolId symbol = kNoSymbol;
  bool inlined = false;
  StringId file{};  // empty: unknown
  uint32_t line = 0;
};

// Why a frame has no symbol; kNamed when it has one.
enum class Unnamed : uint8_t {
  kNamed,
  kNoMapping,
  kNoImageFile,
  kBuildIdMismatch,
  kNotElf,
  kNoSymbol,
  kRestricted
};

struct Frame {
  // Where the DSO has it. The four small members that follow lie in its padding.
  [[no_unique_address]] CodePlace place;
  Mode mode = Mode::kUnknown;
  bool return_address = false;  // a caller: looked up one byte before
  // kNoSymbol with a line: what is known is where its function starts, and the line's symbol,
  // called "image+0xSTART", stands in for it.
  Unnamed unnamed = Unnamed::kNoSymbol;
  DsoId dso{};              // the DSO called "[unknown]" where nothing was mapped
  RuntimeAddress ip;        // as in the (first) sample that had it; the place too, if not in a file
  uint32_t first_line = 0;  // lines()[first_line, first_line + line_count); 0 lines: no symbol
  uint32_t line_count = 0;
  // From the start of the last line's symbol to the address; without a line, from where the image's
  // own addresses start, or where they are not known, its file.
  uint64_t symbol_offset = 0;
};
static_assert(sizeof(Frame) == 40);  // there are many

struct StackNode {
  StackId parent = kNoStack;  // the caller: its id is lower
  FrameId frame{};
  uint32_t depth = 1;  // frames from here to the root
};

// Samples that agree in all that is told apart.
struct Row {
  EventId event{};
  ThreadId thread{};
  FrameId self{};  // of the sample's ip
  // The leaf of the stack has frame `self`, unless the call chain began elsewhere (skid). A sample
  // without a call chain is a stack of one frame. Never kNoStack.
  StackId stack = kNoStack;
  uint64_t count = 0;
  uint64_t period = 0;
};
static_assert(sizeof(Row) == 32);  // there are many

// What may tell rows apart besides their fields, where it is asked for. To add one: extend this
// list, and say in row_table.cc what a sample has in it.
enum class Dimension : uint8_t {
  kCpu,
  kSlice,
  kParallelism,
  kTime,    // which of Profile::quanta
  kCgroup,  // its path, as a StringId; empty: the sample does not say
  kTrace,   // what the record of a tracepoint says, as a StringId
  kAccess,  // which of Profile::accesses
  kData,    // which of Profile::data
  // Not of samples: query/derived_columns.h makes them of what a profile has.
  kSocket,       // kNoCpu where it is not known
  kCommNoDigit,  // a StringId
  kParent,       // a StringId
  // Texts (StringId) about accesses to memory, made of kAccess …
  kMemoryLevel,
  kSnoop,
  kTlb,
  kLocked,
  kBlocked,
  kWeight,  // numbers in decimal, as the next two
  kInstructionLatency,
  kRetireLatency,
  // … and of kData.
  kDataSymbol,
  kDataDso,
  kCacheLine,
  kPhysicalAddress,
  kPageSize,
  // Texts of fields of a tracepoint's record, made of kTrace: this one and those behind it, in the
  // order of Profile::trace_fields.
  kTraceField,
};
inline constexpr size_t kMostTraceFields = 32;
inline constexpr size_t kDimensions =
    static_cast<size_t>(Dimension::kTraceField) + kMostTraceFields;
inline constexpr size_t kDimensionsOfSamples = 8;  // the first so many
using DimensionSet = std::array<bool, kDimensions>;

// An access to memory as the processor describes it, without the place of the data. Texts are those
// of perf_event/data_source.h.
struct MemoryAccess {
  StringId level{}, snoop{}, tlb{}, locked{}, blocked{};
  uint64_t weight = 0;                                   // what it cost, mostly in cycles
  uint32_t instruction_latency = 0, retire_latency = 0;  // cycles
};

// The data of an access to memory.
struct DataPlace {
  uint64_t address = 0;
  uint64_t physical = 0;     // address; 0: not known
  uint64_t page_size = 0;    // bytes; 0: not known
  FrameId frame = kNoFrame;  // of `address`; kNoFrame: the sample has no address
};

// Values of kParallelism: how many of the recorded threads ran when the sample was taken, 1 at
// least. A sample of a time off the CPU is two rows: of the thread's share of the time in which no
// thread ran, and of the rest, which has a count of 0.
inline constexpr uint32_t kNoneRan = 0;
inline constexpr uint32_t kOthersRan = 0xffffffff;

// Equal pieces of the time that was recorded, so that a part of it can be shown without its
// records.
struct TimeSlices {
  struct Slice {
    // Of the samples in it, in nanoseconds; first > last: there is none.
    uint64_t first = UINT64_MAX, last = 0;
    bool operator==(const Slice&) const = default;
  };
  uint64_t begin = 0;   // of the first slice
  uint64_t length = 1;  // of each, in nanoseconds; at least 1
  std::vector<Slice> slices;

  // `count` slices of the time from `first` to `last`.
  static TimeSlices Of(uint64_t first, uint64_t last, size_t count) {
    return {
        .begin = first, .length = (last - first) / count + 1, .slices = std::vector<Slice>(count)};
  }
  // What lies before the first slice counts there, and what lies behind the last one in that.
  uint32_t SliceOf(uint64_t time) const {
    const uint64_t slice = time < begin ? 0 : (time - begin) / length;
    return static_cast<uint32_t>(slice < slices.size() ? slice : slices.size() - 1);
  }
};

// The times at which samples were taken, rounded down to a multiple of `length`, each once.
struct TimeQuanta {
  uint64_t length = 100'000'000;  // nanoseconds; at least 1
  std::vector<uint64_t> begins;   // nanoseconds of the samples' clock, in order of appearance
};

// What the recording itself says of the kernel's code.
struct KernelFacts {
  struct Symbol {
    RuntimeAddress start;
    uint64_t size = 0;
    StringId name{};
  };
  StringId reference{};  // a symbol of the kernel; empty: none
  RuntimeAddress reference_address;
  std::vector<Symbol> symbols;
};

// One sample, for views that show each.
struct SampleRow : Row {
  uint32_t cpu = kNoCpu;
  uint32_t parallelism = 0;  // 0 where the profile does not keep it
  uint64_t time = 0;         // nanoseconds; 0: none
  bool has_chain = false;    // else `stack` is only where it was taken: no call chain was recorded,
                             // or unwound, that has an entry and can be believed
  StringId cgroup{};         // empty unless the profile keeps it; the next likewise
  StringId trace{};
  uint32_t access = 0, data = 0;  // indexes of Profile's; 0 unless kept
};

// A sample as one of the samples that a counter took one after another. How often they change from
// one function to another says how far chance can have moved a function's share.
struct OrderedSample {
  uint32_t row = 0;     // of Profile::rows
  uint32_t stream = 0;  // equal for samples of one CPU; where that is unknown, of one thread
  // For how many samples it stands: itself, and its part of those that are missing near it, because
  // they were lost or their event was throttled.
  float weight = 1;
  float gap = 0;  // how many are missing there in one piece, on average; 0: none
};

// What was lost, cut or could not be named.
struct Losses {
  uint64_t lost_records = 0;  // PERF_RECORD_LOST
  uint64_t lost_samples = 0;  // PERF_RECORD_LOST_SAMPLES
  uint64_t lost_events = 0;   // how many LOST records said so ("chunks")
  uint64_t throttled = 0;
  uint64_t undecodable = 0;     // records too short for their layout
  uint64_t corrupt_chains = 0;  // call chains that were not believed; their samples count
  uint64_t unknown_records = 0;
  std::vector<std::string> warnings;  // lines for a person
};

// A function of the kernel that records of tracepoints name by its address.
struct TraceFunction {
  uint64_t address = 0;
  FrameId frame{};
};

struct Profile {
  StringTable strings;
  std::vector<Event> events;
  std::vector<Thread> threads;
  std::vector<Dso> dsos;
  std::vector<Symbol> symbols;
  std::vector<Line> lines;
  HugeVector<Frame> frames;
  HugeVector<StackNode> stacks;
  HugeVector<Row> rows;
  // By Dimension, by row; empty unless the dimension is kept.
  std::array<HugeVector<uint32_t>, kDimensions> columns;
  TimeSlices slices;                   // that Dimension::kSlice numbers
  TimeQuanta quanta;                   // that Dimension::kTime numbers
  std::vector<MemoryAccess> accesses;  // that Dimension::kAccess numbers
  std::vector<DataPlace> data;         // that Dimension::kData numbers
  // Headings of the columns from Dimension::kTraceField on.
  std::vector<StringId> trace_fields;
  std::vector<TraceFunction> trace_functions;  // in texts of Dimension::kTrace, each once
  HugeVector<OrderedSample> order;             // every sample, by time; empty unless kept
  KernelFacts kernel;
  HugeVector<BranchRow> branches;  // empty unless kept
  Losses losses;
  // Of those that were unwound, while recording or now, and of those that the kernel made.
  ChainQuality chains;
  // Bytes of the stack that each sample had, where chains were unwound while recording; 0: not
  // known.
  uint64_t copied_stack = 0;

  const Event& operator[](EventId id) const { return events[static_cast<uint32_t>(id)]; }
  const Thread& operator[](ThreadId id) const { return threads[static_cast<uint32_t>(id)]; }
  const Dso& operator[](DsoId id) const { return dsos[static_cast<uint32_t>(id)]; }
  const Symbol& operator[](SymbolId id) const { return symbols[static_cast<uint32_t>(id)]; }
  const Frame& operator[](FrameId id) const { return frames[static_cast<uint32_t>(id)]; }
  const StackNode& operator[](StackId id) const { return stacks[static_cast<uint32_t>(id)]; }
  std::string_view text(StringId id) const { return strings[id]; }
  const HugeVector<uint32_t>& column(Dimension dimension) const {
    return columns[static_cast<size_t>(dimension)];
  }
  HugeVector<uint32_t>& column(Dimension dimension) {
    return columns[static_cast<size_t>(dimension)];
  }
  // kNoCpu unless kept.
  uint32_t CpuOf(size_t row) const {
    const HugeVector<uint32_t>& cpus = column(Dimension::kCpu);
    return cpus.empty() ? kNoCpu : cpus[row];
  }
  std::span<const Line> LinesOf(const Frame& frame) const {
    return std::span(lines).subspan(frame.first_line, frame.line_count);
  }
  // 0 unless kept.
  uint32_t ParallelismOf(size_t row) const {
    const HugeVector<uint32_t>& values = column(Dimension::kParallelism);
    return values.empty() ? 0 : values[row];
  }
  // What the frame's image calls the address, as `addr2line -e IMAGE` takes it; the offset in a
  // file that could not be read; the runtime address of code that is in no file.
  uint64_t AddressOf(const Frame& frame) const {
    if (!frame.place.in_file) return frame.place.value;
    const std::span<const Line> functions = LinesOf(frame);
    const bool named = !functions.empty() && functions.back().symbol != kNoSymbol;
    return (named ? (*this)[functions.back().symbol].start.value : 0) + frame.symbol_offset;
  }
};

}  // namespace profiler::profile
