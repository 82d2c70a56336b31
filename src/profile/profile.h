// A profile as a value: which threads ran which code, and how often. It consists of tables with
// dense ids; every view is a pure function of it.
//
//   rows     (event, thread, dimensions) → count, period, StackId
//                                              │
//   stacks   node {parent, frame}   leaf up to root; kNoStack is the root's parent
//                                              │
//   frames   one distinct code address {image, address, kind}. A second frame, without the inlined
//            calls at the address, serves stacks that have too many of them (inlined_calls.h)
//                                              │
//   lines    its functions, innermost first; more than one if calls were inlined
//                                              │
//   symbols  {name, image, start}   the unit by which a report groups
//
//   branches (event, thread, from, to) → count     taken branches, if the profile keeps them
//
// Samples with the same event, thread, interrupted frame, stack and kept dimensions are one row. So
// the size of a profile grows with the kept dimensions, not with the number of samples.
//
// ProfileBuilder makes a profile from records; profile_codec.h reads it from a recording that
// carries it. Both leave it without lines and symbols, which Named (name_profile.h) adds. After
// that the profile does not change any more. Reading is thread-safe.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/huge_vector.h"
#include "src/base/string_table.h"
#include "src/profile/branches.h"
#include "src/profile/ids.h"
#include "symbolize/image_kind.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::profile {

inline constexpr uint32_t kNoCpu = 0xffffffff;  // the sample has no CPU

// The processor mode of code.
enum class Mode : uint8_t {
  kUnknown,
  kUser,
  kKernel,
  kHypervisor,
  kGuestUser,
  kGuestKernel,
  // Not code: the outermost frame of a stack whose call chain is cut, named after the reason.
  kCut
};

struct Event {
  StringId name{};
  uint64_t samples = 0;  // number of PERF_RECORD_SAMPLE of this event (before any filter)
  // Sum of the samples' periods. Without PERIOD in sample_type, each sample has the attr's period.
  uint64_t period = 0;
  bool frequency = false;
  bool callchains = false;  // True if the event's samples have call chains.
  // True if the event's samples have branch stacks, which Profile::branches sums up.
  bool branch_stacks = false;
  double squared_periods = 0;  // sum of the squared periods, if Profile::order is kept
  // With --off-cpu: the numbers of counted and of sampled context switches. `period` is the part of
  // the event's period that belongs to switches without a stack. `samples` is the number of equal
  // samples that would have as much statistical noise as that part.
  struct Estimate {
    uint64_t switches = 0, sampled = 0;
    uint64_t period = 0;
    double samples = 0;
    bool operator==(const Estimate&) const = default;
  };
  Estimate estimate;  // zeroes if each time off the CPU has its own stack
};

// A thread under one of its names. An exec or prctl(PR_SET_NAME) starts another entry. A thread
// that had no name at its first sample gets its first name for all its samples.
struct Thread {
  uint32_t pid = 0, tid = 0;
  StringId comm{};
  // The last name of the thread, and the last name of its process's first thread (tid = pid). Empty
  // if threads with the same name are merged.
  StringId last_comm{}, process_comm{};
};

// Code that is mapped as one piece, which perf calls a DSO. A symbolizer has ids of its own for the
// same images (symbolize::ImageId).
struct Image {
  // Name that perf's sort key `dso` shows: a base name, or "[kernel.kallsyms]", "[vdso]" or
  // "[unknown]".
  StringId name{};
  StringId long_name{};  // path
  symbolize::ImageKind kind = symbolize::ImageKind::kUnknown;
  std::vector<std::byte> build_id;
  // The first process that mapped it, as symbolize::ProcessKey; 0 for the kernel and the vdso.
  uint32_t pid = 0;
};

struct Symbol {
  StringId name{};  // demangled, or derived from its start (Frame::unnamed)
  ImageId image{};
  ElfAddress start;
  uint64_t size = 0;
};

// One function at a frame's address.
struct Line {
  SymbolId symbol = kNoSymbol;
  bool inlined = false;
  StringId file{};  // path of the source file; empty: unknown
  uint32_t line = 0;
};

// The reason why a frame has no symbol; kNamed if it has one.
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
  // The frame's place in its image. The four small members that follow lie in its padding.
  [[no_unique_address]] CodePlace place;
  Mode mode = Mode::kUnknown;
  bool return_address = false;  // True for a caller; looked up at the byte before the address.
  // kNoSymbol, but with a line, if only the start of the function is known. The line's symbol is
  // then called "image+0xSTART".
  Unnamed unnamed = Unnamed::kNoSymbol;
  ImageId image{};  // if nothing is mapped, the image called "[unknown]"
  // The runtime address in the first sample that had the frame. Outside of files, equal to the
  // place.
  RuntimeAddress ip;
  uint32_t first_line = 0;  // lines()[first_line, first_line + line_count); 0 lines: no symbol
  uint32_t line_count = 0;
  // Distance in bytes from the start of the last line's symbol. Without a line: the frame's address
  // in the image, or its file offset if the image's addresses are unknown.
  uint64_t symbol_offset = 0;
};
static_assert(sizeof(Frame) == 40);  // small, because there are many frames

struct StackNode {
  StackId parent = kNoStack;  // the caller's node, which has a lower id
  FrameId frame{};
  uint32_t depth = 1;  // number of frames from here to the root
};

// The sum of samples with the same event, thread, interrupted frame, stack and kept dimensions.
struct Row {
  EventId event{};
  ThreadId thread{};
  FrameId self{};  // frame of the sample's ip
  // The stack. Its leaf is `self`, unless the call chain began elsewhere (skid). A sample without a
  // call chain has a stack of one frame. Never kNoStack.
  StackId stack = kNoStack;
  uint64_t count = 0;
  uint64_t period = 0;
};
static_assert(sizeof(Row) == 32);  // small, because there are many rows

// Optional properties that distinguish rows. To add one, extend this list and add the sample's
// value in row_table.cc.
enum class Dimension : uint8_t {
  kCpu,
  kSlice,
  kParallelism,
  kTime,    // index in Profile::quanta
  kCgroup,  // path as a StringId; empty: unknown
  kTrace,   // text of a tracepoint's record as a StringId
  kAccess,  // index in Profile::accesses
  kData,    // index in Profile::data
  // The others are not read from samples: analysis/derived_columns.h derives them from a profile.
  kSocket,       // kNoCpu if unknown
  kCommNoDigit,  // a text as a StringId
  kParent,       // a text as a StringId
  // Texts (StringId) about accesses to memory, derived from kAccess …
  kMemoryLevel,
  kSnoop,
  kTlb,
  kLocked,
  kBlocked,
  kWeight,  // this value and the next two: decimal numbers
  kInstructionLatency,
  kRetireLatency,
  // … and from kData.
  kDataSymbol,
  kDataDso,
  kCacheLine,
  kPhysicalAddress,
  kPageSize,
  // Texts of fields of a tracepoint's record, derived from kTrace. This value is for the first
  // field of Profile::trace_fields, and the values after it are for the next fields.
  kTraceField,
};
inline constexpr size_t kMostTraceFields = 32;
inline constexpr size_t kDimensions =
    static_cast<size_t>(Dimension::kTraceField) + kMostTraceFields;
// Number of dimensions that are read from samples; they come first.
inline constexpr size_t kDimensionsOfSamples = 8;
using DimensionSet = std::array<bool, kDimensions>;

// The processor's description of an access to memory, except for the address. Its texts are those
// of perf_event/data_source.h.
struct MemoryAccess {
  StringId level{}, snoop{}, tlb{}, locked{}, blocked{};
  uint64_t weight = 0;                                   // cost, mostly in cycles
  uint32_t instruction_latency = 0, retire_latency = 0;  // in cycles
};

// The data of an access to memory.
struct DataPlace {
  uint64_t address = 0;
  uint64_t physical = 0;     // physical address; 0: unknown
  uint64_t page_size = 0;    // size of its page in bytes; 0: unknown
  FrameId frame = kNoFrame;  // frame of `address`; kNoFrame: the sample has no address
};

// Values of kParallelism: the number of recorded threads that ran when the sample was taken, at
// least 1. A sample of a time off the CPU is two rows: kNoneRan has the thread's share of the time
// in which no thread ran; kOthersRan has the remaining time, with a count of 0.
inline constexpr uint32_t kNoneRan = 0;
inline constexpr uint32_t kOthersRan = 0xffffffff;

// Equal pieces of the recorded time, so that a part of that time can be shown without the records.
struct TimeSlices {
  struct Slice {
    // Times of its first and last sample, in ns; first > last: no samples.
    uint64_t first = UINT64_MAX, last = 0;
    bool operator==(const Slice&) const = default;
  };
  uint64_t begin = 0;   // time at which the first slice begins
  uint64_t length = 1;  // length of each slice, in ns; at least 1
  std::vector<Slice> slices;

  // Returns `count` slices of the time from `first` to `last`.
  static TimeSlices Of(uint64_t first, uint64_t last, size_t count) {
    return {
        .begin = first, .length = (last - first) / count + 1, .slices = std::vector<Slice>(count)};
  }
  // Returns the slice of a time; times outside of all slices belong to the first or the last one.
  uint32_t SliceOf(uint64_t time) const {
    const uint64_t slice = time < begin ? 0 : (time - begin) / length;
    return static_cast<uint32_t>(slice < slices.size() ? slice : slices.size() - 1);
  }
};

// The distinct times of samples, rounded down to a multiple of `length`.
struct TimeQuanta {
  uint64_t length = 100'000'000;  // ns; at least 1
  std::vector<uint64_t> begins;   // ns of the samples' clock, in order of appearance
};

// The recording's own facts about the kernel's code.
struct KernelFacts {
  struct Symbol {
    RuntimeAddress start;
    uint64_t size = 0;
    StringId name{};
  };
  StringId reference{};  // name of a symbol of the kernel; empty: none
  RuntimeAddress reference_address;
  std::vector<Symbol> symbols;
};

// One sample, for views that show each sample.
struct SampleRow : Row {
  uint32_t cpu = kNoCpu;
  uint32_t parallelism = 0;  // 0 unless the profile keeps it
  uint64_t time = 0;         // ns; 0: none
  // False if `stack` consists only of the ip, because the sample has no call chain with an entry,
  // or a corrupt one.
  bool has_chain = false;
  StringId cgroup{};  // empty unless the profile keeps it
  StringId trace{};
  // Indices in Profile::accesses and Profile::data; 0 unless the profile keeps them.
  uint32_t access = 0, data = 0;
};

// A sample in time order. How often consecutive samples change from one function to another shows
// the statistical error of the functions' shares.
struct OrderedSample {
  uint32_t row = 0;     // index in Profile::rows
  uint32_t stream = 0;  // the sample's CPU, or its thread if the CPU is unknown
  // Number of samples that this sample stands for: itself, and its part of nearby samples that are
  // missing because they were lost or their event was throttled.
  float weight = 1;
  float gap = 0;  // mean number of missing samples in a gap that it stands for; 0: none
};

// Losses of the recording, in records, samples and names.
struct Losses {
  uint64_t lost_records = 0;  // PERF_RECORD_LOST
  uint64_t lost_samples = 0;  // PERF_RECORD_LOST_SAMPLES
  uint64_t lost_events = 0;   // number of LOST records ("chunks")
  uint64_t throttled = 0;
  uint64_t undecodable = 0;     // records too short for their layout
  uint64_t corrupt_chains = 0;  // corrupt call chains; their samples count
  uint64_t unknown_records = 0;
  bool is_incomplete = false;         // True if the end of the recording is missing or unreadable.
  std::vector<std::string> warnings;  // lines to show to the user
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
  std::vector<Image> images;
  std::vector<Symbol> symbols;
  HugeVector<Line> lines;
  HugeVector<Frame> frames;
  HugeVector<StackNode> stacks;
  HugeVector<Row> rows;
  // columns[dimension][row]: the row's value of that dimension. A column is empty unless the
  // profile keeps its dimension.
  std::array<HugeVector<uint32_t>, kDimensions> columns;
  TimeSlices slices;                           // the slices to which Dimension::kSlice refers
  TimeQuanta quanta;                           // the times to which Dimension::kTime refers
  std::vector<MemoryAccess> accesses;          // the accesses to which Dimension::kAccess refers
  std::vector<DataPlace> data;                 // the places to which Dimension::kData refers
  std::vector<StringId> trace_fields;          // headings of columns from Dimension::kTraceField on
  std::vector<TraceFunction> trace_functions;  // functions named in texts of Dimension::kTrace
  HugeVector<OrderedSample> order;             // all samples in time order; empty unless kept
  KernelFacts kernel;
  HugeVector<BranchRow> branches;  // empty unless the builder keeps branches
  Losses losses;
  // Quality of the chains unwound while recording or reading, and of those that the kernel made.
  ChainQuality chains;
  // Bytes of stack that each sample had, if chains were unwound while recording; 0: unknown.
  uint64_t copied_stack = 0;

  const Event& operator[](EventId id) const { return events[static_cast<uint32_t>(id)]; }
  const Thread& operator[](ThreadId id) const { return threads[static_cast<uint32_t>(id)]; }
  const Image& operator[](ImageId id) const { return images[static_cast<uint32_t>(id)]; }
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
  // Returns the CPU of a row; kNoCpu unless kept.
  uint32_t CpuOf(size_t row) const {
    const HugeVector<uint32_t>& cpus = column(Dimension::kCpu);
    return cpus.empty() ? kNoCpu : cpus[row];
  }
  std::span<const Line> LinesOf(const Frame& frame) const {
    return std::span(lines).subspan(frame.first_line, frame.line_count);
  }
  // Returns the parallelism of a row; 0 unless kept.
  uint32_t ParallelismOf(size_t row) const {
    const HugeVector<uint32_t>& values = column(Dimension::kParallelism);
    return values.empty() ? 0 : values[row];
  }
  // Returns the frame's address in its image, which `addr2line -e IMAGE` accepts. If the file could
  // not be read, returns the file offset. For code outside of files, returns the runtime address.
  uint64_t AddressOf(const Frame& frame) const {
    if (!frame.place.in_file) return frame.place.value;
    const std::span<const Line> functions = LinesOf(frame);
    const bool named = !functions.empty() && functions.back().symbol != kNoSymbol;
    return (named ? (*this)[functions.back().symbol].start.value : 0) + frame.symbol_offset;
  }
};

}  // namespace profiler::profile
