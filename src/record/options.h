// The options of a recording, and the summary of its outcome.

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

#include "src/format/perf_data/write/writer.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/proc_file.h"
#include "src/machine/target/child_command.h"
#include "src/machine/target/control.h"
#include "src/machine/target/targets.h"
#include "src/record/flight_trigger.h"
#include "src/record/python/counts.h"
#include "src/record/ring_size.h"
#include "symbolize/kept_files.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

struct RecordProgress {
  std::chrono::milliseconds elapsed{0};  // time since sampling began
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t bytes = 0;  // size of the file so far
};

// How the user part of call chains is made. The kernel's part always comes from the kernel.
enum class CallGraph : uint8_t {
  kNone,           // no call chains
  kFramePointers,  // the kernel follows frame pointers
  kDwarf,          // the kernel copies registers and stack, we unwind by call frame information
  kAuto,           // kDwarf if the targets' images lack frame pointers, else kFramePointers
};

// The recorded part of call chains.
enum class ChainPart : uint8_t { kBoth, kUser, kKernel };

// The contents of samples besides address, thread, time, CPU and period.
struct SampleContents {
  bool data_address = false;         // ADDR and DATA_SRC, and mappings of data
  bool physical_address = false;     // PHYS_ADDR
  bool weight = false;               // WEIGHT_STRUCT; before Linux 5.12 WEIGHT
  bool raw = false;                  // RAW; tracepoints always have it
  bool thread_counts = false;        // READ records at the end of threads
  bool cgroup = false;               // CGROUP, and the paths of cgroups
  uint64_t user_registers = 0;       // REGS_USER: bits of register_names.h
  uint64_t interrupt_registers = 0;  // REGS_INTR: bits of register_names.h
  uint64_t branches = 0;             // BRANCH_STACK: bits of branch_filter.h; 0: none
};

// Conditions that complete a file and begin the next one; the first one to occur counts.
struct SwitchOutput {
  bool at_signal = false;             // switch at each SIGUSR2, if signals are handled
  uint64_t bytes = 0;                 // switch at this size; 0: size causes no switch
  std::chrono::milliseconds time{0};  // switch after this time; 0: time causes no switch
  // Indices in RecordOptions::events. A pass over the rings with samples of these events switches.
  std::vector<size_t> events;
  size_t most_files = 0;         // complete files to keep, the latest ones; 0: all
  bool last_keeps_name = false;  // True if the last file keeps the name `output`.
};

// A flight recorder: the latest records stay in memory, and are written to a file when something
// happens (flight_recorder.h).
struct FlightOptions {
  std::chrono::milliseconds before{0};  // time to keep; 0: as much as fits into `bytes`
  std::chrono::milliseconds after{0};   // time to record after the moment, before it is written
  uint64_t bytes = uint64_t{64} << 20;  // room for records, at least kLeastBytes
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
  size_t most_files = 0;  // files to keep, the latest ones; 0: all
  // True if the end of the recording also writes a file, named `output`, as perf's --overwrite.
  bool writes_end = false;
  // Events of the machine that write a file, in addition to requests. A trigger that has fired is
  // ignored for `cooldown`.
  std::vector<FlightTrigger> triggers;
  std::chrono::milliseconds cooldown{60'000};
};

// A complete file of a recording that goes on in the next file, or of a flight recorder.
struct CompleteFile {
  std::string path;
  uint64_t samples = 0, bytes = 0;
  // The time that the file of a flight recorder covers, and for which reason, in words. Empty for
  // other files.
  std::string about;
  // Takes further sections, and can still be read. Any thread may use it.
  std::unique_ptr<perf_data::Writer> writer;
};

// A listener for the starts and ends of processes, in the order of their records. That is time
// order, except within one pass over the rings. Called on Run's thread, and on Create's thread for
// processes that already run. The time that a call takes delays each pass.
class ProcessListener {
 public:
  virtual ~ProcessListener() = default;
  virtual void Began(uint32_t pid, uint32_t parent) = 0;
  // The process runs a program: it has just executed it, or already ran it before the recording.
  virtual void Runs(uint32_t pid) = 0;
  // The process's first thread has ended; others may go on.
  virtual void Ended(uint32_t pid) = 0;
};

struct RecordOptions {
  // Null: no listener.
  std::shared_ptr<ProcessListener> processes;
  // Keeps image files open that may be gone when names are looked up in them. Null: this process
  // looks up no names.
  std::shared_ptr<symbolize::KeptFiles> kept;

  target::Targets targets;

  // The events, at least one. Their attrs have only the settings that events::FoundEvent describes;
  // the session adds the other settings.
  std::vector<events::FoundEvent> events;
  // True if the user named no event. Then replacing an event needs no note.
  bool events_are_default = false;
  static constexpr uint64_t kMaxFrequency = UINT64_MAX;
  uint64_t frequency = 999;  // Hz; kMaxFrequency: the kernel's limit
  uint64_t period = 0;       // events per sample; 0: `frequency` decides
  // True if the user gave a frequency or period. Then this rate also holds for tracepoints,
  // breakpoints and probes.
  bool rate_is_asked_for = false;
  bool takes_samples = true;      // false: events only count; see SampleContents::thread_counts
  bool strict_frequency = false;  // True: a frequency above the kernel's limit is an error.
  CallGraph call_graph = CallGraph::kNone;
  ChainPart chain_part = ChainPart::kBoth;
  // Bytes of stack that each sample copies with kDwarf: a multiple of 8, at most kMostStackBytes.
  // 0: DefaultStackBytes decides (ring_size.h), or kModestStackBytes with post_unwind.
  uint32_t stack_bytes = 0;
  // With kDwarf: write registers and stack bytes to the file unchanged, for another program to
  // unwind.
  bool post_unwind = false;
  bool inherit = true;  // follow new threads and children
  SampleContents contents;
  bool all_user = false,
       all_kernel = false;     // sample only user or only kernel code, unless an event differs
  bool switch_events = false;  // write SWITCH records
  bool off_cpu = false;        // sample times off the CPU as two more events (off_cpu_stage.h)
  // Times off the CPU that are shorter than this are summed up for each thread and chain.
  std::chrono::nanoseconds off_cpu_threshold{0};
  // Show the functions of interpreters in unwound chains: a BPF program walks Python's frames.
  bool interpreters = false;
  bool bpf_events = true;      // write KSYMBOL and BPF_EVENT records
  bool namespaces = false;     // write NAMESPACES records
  bool data_mappings = false;  // write MMAP2 records of data, too

  // The clock of all times. Unwinding while recording needs CLOCK_MONOTONIC.
  clockid_t clock = CLOCK_MONOTONIC;
  uint64_t max_bytes = 0;  // end the recording at this file size; 0: no limit

  // Priority from 1 to 99 under SCHED_FIFO while recording. Unset: normal scheduling. Then the
  // recorder still takes the highest normal priority, if permitted, while it unwinds stacks or
  // keeps times off the CPU (priority.h).
  std::optional<int> realtime;

  // Data bytes of each CPU's ring, rounded up to a power of two of pages. 0: DefaultRing decides,
  // and shrinks it if the limits demand that.
  size_t ring_bytes = 0;
  std::chrono::milliseconds delay{0};  // time to wait before sampling begins
  bool starts_disabled = false;        // wait for `control` to begin sampling
  // The source of commands to begin, pause and end the recording.
  std::optional<target::ControlPlaces> control;
  std::optional<std::chrono::milliseconds> duration;  // how long to sample
  // An existing file is renamed to output + ".old". "-": standard output.
  std::string output = "perf.data";
  // Append the time to the names of complete files (output_files.h). Needs regular files.
  bool timestamp_filename = false;
  std::optional<SwitchOutput> switch_output;  // implies timestamp_filename
  // Replaces the file by files that are written on request. Goes with neither switch_output,
  // timestamp_filename, max_bytes nor a stream.
  std::optional<FlightOptions> flight;
  // Keep the files in memory, without names, each as long as its writer exists; the recording then
  // needs no disk. With switch_output, `on_file` and last_file() hand the files out; nothing is
  // renamed, and most_files is ignored.
  bool in_memory = false;
  // 0: uncompressed; 1 to 22: zstd level, which costs CPU time.
  int compression_level = 0;
  std::vector<std::string> cmdline;     // command line of this program, for the file's header
  std::string version;                  // version of this program, for the file's header
  std::chrono::milliseconds tick{100};  // longest time that records stay unread
  // True if SIGINT, SIGTERM and SIGHUP stop the recording while Run runs. The whole process must
  // ignore SIGPIPE and SIGXFSZ, which failed writes send: write_signals.h.
  bool handle_signals = true;

  // Called with the written bytes if `output` is a stream: on Run's thread, and on Create's thread
  // for the beginning. The time that a call takes delays each pass over the rings. May be empty.
  perf_data::StreamListener on_stream;
  // Called on Run's thread with each file except the last one; with `flight` also with the last
  // one. May be empty.
  std::function<void(CompleteFile)> on_file;
  // Called on Run's thread with a message about a failure that does not end the recording. Empty:
  // such messages are among the notes of the summary.
  std::function<void(const std::string&)> on_failure;
  // Called once per second while recording, on Run's thread. May be empty.
  std::function<void(const RecordProgress&)> on_progress;
  procfs::Roots roots;
};

// How the threads spent a recording with off_cpu: times in ns, summed up over all threads. A thread
// counts from its start to its end, as far as the recording saw it.
struct ThreadStates {
  uint64_t threads = 0;
  uint64_t running = 0;
  uint64_t preempted = 0;  // waited for a CPU that the kernel gave to another thread
  uint64_t blocked = 0;    // waited for something else, and then for a CPU
  // Part of `blocked` in which the thread only waited for a CPU. Counts only threads that lived at
  // the end of the recording.
  uint64_t awakened = 0;
  uint64_t unknown = 0;        // before a thread's first switch, or around lost records
  uint64_t without_stack = 0;  // part of preempted and blocked that has no stack
  // Part of preempted and blocked that was added to stacks of other switches of the thread.
  uint64_t estimated = 0;
  // Number of times off the CPU, and of those with a sampled stack.
  uint64_t switches = 0, sampled = 0;
  // Names of system calls, each with the time that threads were blocked in it; the longest first.
  std::vector<std::pair<std::string, uint64_t>> calls;
};

enum class StopReason {
  kTargetsExited,
  kCommandExited,
  kDuration,
  kSignal,
  kRequested,   // RequestStop was called
  kMaxSize,     // the file has reached max_bytes
  kReaderLeft,  // the reader of the output pipe has closed it
  kError,       // Run returned an error
};

struct RecordSummary {
  uint64_t samples = 0;
  uint64_t lost = 0;         // records for which the rings had no room, by the kernel's count
  uint64_t lost_chunks = 0;  // number of records that report losses
  uint64_t bytes = 0;        // size of all files
  uint64_t files = 0;
  std::string last_file;                 // path of the last file; empty if there is none
  uint64_t last_file_samples = 0;        // number of samples in `last_file`
  std::chrono::nanoseconds duration{0};  // how long sampling lasted
  // CPU time of the recorder, including attaching and writing the header, excluding the command.
  std::chrono::microseconds user_time{0}, system_time{0};
  uint64_t wakeups = 0;
  ChainQuality chains;                      // quality of the chains unwound while recording
  std::vector<ChainWeights> chain_weights;  // weights of these chains, one entry per event
  // Samples of Python in the last file, if the kernel walks its frames.
  std::optional<python::Counts> python;
  std::optional<ThreadStates> states;
  // Number of passes that did not wait for records of other rings, because their own ring was
  // filling up.
  uint64_t hurried_passes = 0;
  // The choice of kAuto and its reason, in words; empty without kAuto.
  std::string call_graph;
  size_t ring_bytes = 0;  // final size of each CPU's ring
  std::string priority;   // recorder's priority, in the words of PriorityInWords
  StopReason stop_reason = StopReason::kError;
  int stop_signal = 0;  // number of the signal if stop_reason is kSignal

  // How the command ended; unset without a command, and while it runs on.
  std::optional<target::Command::End> command;
  bool command_runs_on = false;    // True if the command ignores the request to end.
  bool python_is_refused = false;  // True if a note says why Python's functions have no names.

  // Lines for the user: what was recorded differently than requested, why, and how to change that.
  std::vector<std::string> notes;
};

}  // namespace profiler::record
