// Prints a recording's samples, and other records on request, as text while they are read. Names
// stay in memory, and samples only until their frames have names: names are requested for up to
// 16,384 samples at once, because a request costs more than most of its names.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/read/recording.h"
#include "src/profile/naming/naming.h"
#include "src/profile/profile_builder.h"
#include "src/profile/sample_reader.h"
#include "src/views/annotate/instruction_bytes.h"
#include "src/views/script/script_formatter.h"
#include "src/views/script/shown_frames.h"
#include "src/views/script/waiting_samples.h"
#include "symbolize/names/name_store.h"

namespace profiler::script {

// Records other than samples that are printed.
struct ShownRecords {
  bool tasks = false;  // COMM, FORK, EXIT
  bool mappings = false;
  bool switches = false;
  bool lost = false;  // LOST
  bool namespaces = false;
  bool cgroups = false;
  bool bpf = false;  // KSYMBOL, BPF_EVENT

  bool Includes(uint32_t type) const;
};

// The CPU on which a tracepoint's record was taken, and its raw data.
using TracepointRecord = std::pair<uint32_t, std::string>;
// Returns the name of the kernel function at an address, with its offset if `with_offset`. Empty if
// unknown.
using FunctionName = std::function<std::string(uint64_t address, bool with_offset)>;

// Options of `script`.
struct ScriptPlan {
  ScriptOptions options;
  ScriptFieldChoice fields;
  ShownRecords records;
  profile::SampleSelection samples;  // selected samples
  std::string event;                 // name of the only event to print, as EventsNamed; empty: all
  naming::NamingOptions naming;
  // Fills in the text of each tracepoint record; may be null.
  std::function<void(std::span<const TracepointRecord>, const FunctionName&,
                     std::vector<std::string>*)>
      describe_tracepoints;
  // Receives the samples, one by one; then `write` gets only the other records. May be null.
  std::function<void(profile::EventId, std::string_view)> write_sample;
};

// A printer of one recording, which must outlive it. Not thread-safe.
class ScriptPrinter {
 public:
  // `write` receives the text in pieces of whole lines.
  ScriptPrinter(perf_data::Recording& recording, const ScriptPlan& plan,
                std::function<void(std::string_view)> write);

  // Returns a message for each field that is not printed because no sample has it.
  std::vector<std::string> SkippedFields() const;

  // Prints the recording. Returns the error that stopped the reading early, like
  // Recording::ForEach, or kInvalidArgument if an event does not record a field that the user
  // named. Returns kNotFound if no event has the name of ScriptPlan::event.
  absl::Status Print();

  // After Print(): true if any sample is in ScriptPlan::samples, before the filter.
  bool any_selected() const { return any_selected_; }

  // After Print(): messages about files that were not used for names (naming::RefusedFiles), about
  // omitted parts of call chains, and about a filter that leaves no sample.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  ScriptOptions Options() const;
  // Returns the fields for an event whose fields may differ from `fields_`: a tracepoint or a raw
  // event.
  ScriptFields FieldsOf(const perf_data::EventDescription& event) const;
  absl::Status CheckRecorded() const;
  absl::Status CheckEvent();
  bool IsShown(const profile::Profile& profile, profile::EventId event);
  void Take(const perf_data::TimedRecord& timed);
  void TakeSamples(const profile::Profile& profile, std::span<const profile::SampleRow> rows,
                   const perf_event::Sample* sample);
  const profile::SampleDetails& DetailsOf(const profile::SampleRow& row,
                                          const perf_event::Sample& sample);
  void PrintAll();
  void PrintWaiting();
  void FormatWaiting(const WaitingSamples& samples, size_t i, std::string* out);
  void PrintRecord(const perf_data::TimedRecord& timed);
  void Flush(size_t least);
  profile::SampleReader::DescribeTracepoint TraceKeeper();
  void FillInTraces(std::string* text);
  std::string KernelFunctionAt(uint64_t address, bool with_offset);

  perf_data::Recording& recording_;
  const ScriptPlan& plan_;
  const std::function<void(std::string_view)> write_;
  const std::unique_ptr<symbolize::NameStore> names_;
  profile::ProfileBuilder builder_;
  profile::SampleReader reader_;
  std::optional<annotate::InstructionBytes> instructions_;  // only if instructions are printed
  std::unique_ptr<ScriptFormatter> formatter_;
  ScriptFields fields_;  // for samples of most events
  size_t events_ = 0;    // number of events that the builder has
  // The events of ScriptPlan::event among the first `shown_of_` events.
  std::vector<profile::EventId> shown_;
  size_t shown_of_ = 0;
  std::string text_;
  std::optional<ShownFrames> shown_frames_;
  WaitingSamples waiting_;
  // Empty, but with memory: the kernel takes longer to clear new memory than a view to fill it.
  WaitingSamples spare_;
  std::string spare_text_, filled_;
  size_t most_waiting_;  // number of samples that may wait
  // Records of tracepoints whose text is still missing, in the order of their marks in text_.
  std::vector<TracepointRecord> traces_;
  size_t trace_bytes_ = 0;
  std::vector<std::string> warnings_;
  bool any_selected_ = false;
  bool can_name_ = true;  // false after Finish() has taken the builder's profile
};

}  // namespace profiler::script
