// What to record, and what came of it.

#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/events/find_events.h"
#include "src/perf_data/write/writer.h"
#include "src/procfs/proc_file.h"
#include "src/record/ring_size.h"
#include "src/target/command.h"
#include "src/target/control.h"
#include "src/target/targets.h"
#include "symbolize/kept_files.h"

namespace profiler::record {

struct RecordProgress {
  std::chrono::milliseconds elapsed{0};  // since sampling began
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t bytes = 0;  // of the file so far
};

// How the user part of call chains is found; the kernel's part comes from the kernel.
enum class CallGraph : uint8_t {
  kNone,           // no call chains
  kFramePointers,  // by the kernel, which follows frame pointers
  kDwarf,          // by call frame information: the kernel copies registers and stack, we unwind
  kAuto,           // kDwarf where the targets' images lack frame pointers, else kFramePointers
};

// What samples have beside address, thread, time, CPU and period.
struct SampleContents {
  bool data_address = false;      // ADDR and DATA_SRC, and mappings of data
  bool physical_address = false;  // PHYS_ADDR
  bool weight = false;            // WEIGHT_STRUCT, or WEIGHT of kernels before 5.12
  bool raw = false;               // RAW, which tracepoints have in any case
  bool thread_counts = false;     // READ records at the end of threads
  uint64_t user_registers = 0;    // REGS_USER, bits of registers.h
  uint64_t interrupt_registers = 0;
  uint64_t branches = 0;  // BRANCH_STACK of these (branch_filter.h); 0: none
};

// When the file at hand is complete and the next one begins, what comes first.
struct SwitchOutput {
  bool at_signal = false;             // at each SIGUSR2, as far as signals are handled
  uint64_t bytes = 0;                 // when it has so many; 0: any number
  std::chrono::milliseconds time{0};  // after so long; 0: any time
  size_t most_files = 0;              // complete ones that are kept, the latest; 0: all
  bool last_keeps_name = false;       // that of the option `output`
};

// A file of a recording that goes on in the next one.
struct CompleteFile {
  std::string path;
  uint64_t samples = 0, bytes = 0;
  std::unique_ptr<perf_data::Writer> writer;  // takes sections and can be read still; any thread
};

// Is told of processes in the order in which their records come, which is that of time but for
// those of one pass over the rings. Called on Run's thread, and on that of Create for what runs
// already; what a call costs comes on top of each pass.
class ProcessListener {
 public:
  virtual ~ProcessListener() = default;
  virtual void Began(uint32_t pid, uint32_t parent) = 0;
  // A program runs there, since now (exec) or since before the recording.
  virtual void Runs(uint32_t pid) = 0;
  // Its first thread has ended; others may run on.
  virtual void Ended(uint32_t pid) = 0;
};

struct RecordOptions {
  // Null: nobody listens.
  std::shared_ptr<ProcessListener> processes;
  // Gets the images that may be gone when they are to be named; null: nobody will name them here.
  std::shared_ptr<symbolize::KeptFiles> kept;

  target::Targets targets;

  // At least one; of their attrs what events::FoundEvent says, the session adds the rest.
  std::vector<events::FoundEvent> events;
  // Nobody asked for them by name: what this machine has instead needs no note.
  bool events_are_default = false;
  static constexpr uint64_t kMaxFrequency = UINT64_MAX;
  uint64_t frequency = 999;  // Hz; kMaxFrequency: as high as the kernel permits
  uint64_t period = 0;       // if not 0: a sample every so many events, instead of `frequency`
  // Frequency or period were asked for, and hold for tracepoints, breakpoints and probes as well.
  bool rate_is_asked_for = false;
  CallGraph call_graph = CallGraph::kNone;
  // Of stack copied a sample with kDwarf: a multiple of 8, at most kMostStackBytes. 0:
  // DefaultStackBytes decides (ring_size.h), or kModestStackBytes with post_unwind.
  uint32_t stack_bytes = 0;
  // With kDwarf: registers and stack bytes go into the file as they are, for others to unwind.
  bool post_unwind = false;
  bool inherit = true;  // follow new threads and children
  SampleContents contents;
  bool all_user = false, all_kernel = false;  // events that do not say leave out the other one
  bool switch_events = false;                 // SWITCH records
  bool off_cpu = false;  // times off the CPU, as samples of two events more (off_cpu_stage.h)
  std::chrono::nanoseconds off_cpu_threshold{0};  // shorter ones are summed up by thread and chain
  bool bpf_events = true;                         // KSYMBOL and BPF_EVENT records

  // Of all times. Chains are unwound while recording with CLOCK_MONOTONIC alone.
  clockid_t clock = CLOCK_MONOTONIC;
  uint64_t max_bytes = 0;  // of the file: the recording ends when it has so many; 0: any number

  // SCHED_FIFO with this priority, from 1 to 99, while recording. Unset: an ordinary program; but
  // the highest ordinary priority where stacks are unwound meanwhile, or times off the CPU kept, if
  // that is permitted (priority.h).
  std::optional<int> realtime;

  size_t ring_bytes = 0;  // data of a ring, one a CPU; rounded up to a power of two of pages. 0:
                          // DefaultRing decides, and shrinks it where the limits ask for that
  std::chrono::milliseconds delay{0};                 // before sampling begins
  bool starts_disabled = false;                       // sampling begins when `control` says so
  std::optional<target::ControlPlaces> control;       // who else may begin, interrupt and end it
  std::optional<std::chrono::milliseconds> duration;  // of sampling
  std::string output = "perf.data";  // an old one becomes output + ".old"; "-": standard output
  // Complete files have the time behind their name (output_files.h). For regular files alone.
  bool timestamp_filename = false;
  std::optional<SwitchOutput> switch_output;  // implies timestamp_filename
  // Files have no names but are in memory, each as long as its writer, so a recording needs no room
  // on any disk. With switch_output, for `on_file` and last_file() to hand out; nothing is put
  // aside, and most_files has no meaning.
  bool in_memory = false;
  // 0: records as they are; 1 to 22: compressed by zstd, for some CPU.
  int compression_level = 0;
  std::vector<std::string> cmdline;     // of this program, for the file's header
  std::string version;                  // likewise
  std::chrono::milliseconds tick{100};  // longest that records lie unread
  // SIGINT, SIGTERM and SIGHUP stop the recording while Run runs. (What a failed write sends is to
  // be ignored by the whole process: write_signals.h.)
  bool handle_signals = true;

  // Called on Run's thread, and on that of Create for what is in front, where `output` is a stream.
  // What it costs comes on top of each pass over the rings. May be empty.
  perf_data::StreamListener on_stream;
  // Called on Run's thread with each file but the last one. May be empty.
  std::function<void(CompleteFile)> on_file;
  // Called once a second while recording, on Run's thread. May be empty.
  std::function<void(const RecordProgress&)> on_progress;
  procfs::Roots roots;
};

// How the threads of a recording with off_cpu spent it, in ns; a thread counts from its start to
// its end, as far as the recording saw it.
struct ThreadStates {
  uint64_t threads = 0;
  uint64_t running = 0;
  uint64_t preempted = 0;      // waited for a CPU, as another thread was given theirs
  uint64_t blocked = 0;        // waited for something else, and then for a CPU
  uint64_t awakened = 0;       // of blocked: for a CPU; of threads that were there at the end
  uint64_t unknown = 0;        // before their first switch, or where records were lost
  uint64_t without_stack = 0;  // of preempted and blocked
  uint64_t estimated = 0;      // likewise: by the stacks of other switches of the thread
  uint64_t switches = 0, sampled = 0;
  // Of blocked: in which system calls, the longest first.
  std::vector<std::pair<std::string, uint64_t>> calls;
};

enum class StopReason {
  kTargetsExited,
  kCommandExited,
  kDuration,
  kSignal,
  kRequested,   // RequestStop
  kMaxSize,     // the file has max_bytes
  kReaderLeft,  // of the pipe that is written to
  kError,       // what Run returned
};

struct RecordSummary {
  uint64_t samples = 0;
  uint64_t lost = 0;         // records that the kernel had no room for, as it counted them
  uint64_t lost_chunks = 0;  // how often that happened
  uint64_t bytes = 0;        // of all files
  uint64_t files = 0;
  std::string last_file;                 // its path
  uint64_t last_file_samples = 0;        // in it
  std::chrono::nanoseconds duration{0};  // of sampling
  // What recording itself cost, attaching and writing the header included; the command's not.
  std::chrono::microseconds user_time{0}, system_time{0};
  uint64_t wakeups = 0;
  ChainQuality chains;                      // of those unwound while recording
  std::vector<ChainWeights> chain_weights;  // their weight, by event
  std::optional<ThreadStates> states;
  // Passes that did not wait for records of other rings, because their own was filling up.
  uint64_t hurried_passes = 0;
  // How kAuto was decided, and why, in words; empty otherwise.
  std::string call_graph;
  size_t ring_bytes = 0;  // a CPU, as it was in the end
  std::string priority;   // of the recorder, as PriorityInWords has it (priority.h)
  StopReason stop_reason = StopReason::kError;
  int stop_signal = 0;  // with kSignal

  // How the command ended; absent without one, and as long as it runs on.
  std::optional<target::Command::End> command;
  bool command_runs_on = false;  // though it was asked to end

  // Lines for the user: what was recorded otherwise than asked for, why, and what would lift it.
  std::vector<std::string> notes;
};

}  // namespace profiler::record
