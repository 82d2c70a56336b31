// A recording's samples, and other records that were asked for, as text while they are read: what
// stays in memory are the names, not the samples.

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

#include "src/annotate/instruction_bytes.h"
#include "src/base/status.h"
#include "src/naming/naming.h"
#include "src/perf_data/read/recording.h"
#include "src/profile/profile_builder.h"
#include "src/profile/sample_reader.h"
#include "src/report/script.h"
#include "symbolize/names/name_store.h"

namespace profiler::script {

// Which records other than samples are shown.
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

// The CPU that a tracepoint's record was taken on, and its raw data.
using TracepointRecord = std::pair<uint32_t, std::string>;
// The name of the kernel's function at an address, with its distance from the function's start if
// that is asked for. Empty: unknown.
using FunctionName = std::function<std::string(uint64_t address, bool with_offset)>;

struct ScriptPlan {
  report::ScriptOptions options;
  report::ScriptFieldChoice fields;
  ShownRecords records;
  profile::SampleSelection samples;  // that are shown
  naming::NamingOptions naming;
  // The texts of records of tracepoints, one each; may be empty.
  std::function<void(std::span<const TracepointRecord>, const FunctionName&,
                     std::vector<std::string>*)>
      describe_tracepoints;
  // Gets the samples, one by one, and who is given to ScriptPrinter only the other records; may be
  // empty.
  std::function<void(profile::EventId, std::string_view)> write_sample;
};

// Not thread-safe. The recording must outlive it.
class ScriptPrinter {
 public:
  // `write` gets the text in pieces, whole lines each.
  ScriptPrinter(perf_data::Recording& recording, const ScriptPlan& plan,
                std::function<void(std::string_view)> write);

  // Fields that are not shown because no sample has them, a line each.
  std::vector<std::string> SkippedFields() const;

  // Prints it all. Returns what stopped the reading early, like Recording::ForEach, or
  // kInvalidArgument when an event does not record a field that was asked for.
  absl::Status Print();

  // Once printed: true if any sample is one of ScriptPlan::samples, whatever the filter says.
  bool any_selected() const { return any_selected_; }

  // Once printed: files that no names were taken from, as naming::RefusedFiles, what was left out
  // of call chains, and why the filter leaves no sample.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  report::ScriptOptions Options() const;
  // Of events that have fields of their own.
  report::ScriptFields FieldsOf(const perf_data::EventDescription& event) const;
  absl::Status CheckRecorded() const;
  void Take(const perf_data::TimedRecord& timed);
  void TakeSamples(std::span<const profile::SampleRow> rows, const perf_event::Sample* sample);
  const profile::SampleDetails& DetailsOf(const profile::SampleRow& row,
                                          const perf_event::Sample* sample);
  profile::SampleDetails WithInstruction(const profile::SampleRow& row,
                                         profile::SampleDetails details);
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
  std::optional<annotate::InstructionBytes> instructions_;  // where they are shown
  std::unique_ptr<report::ScriptFormatter> formatter_;
  report::ScriptFields fields_;  // of samples of most events
  size_t events_ = 0;            // that the builder knows
  std::string text_;
  std::string sample_text_;  // where samples are written one by one
  // Records of tracepoints whose texts are still to come, in the order of their places in text_.
  std::vector<TracepointRecord> traces_;
  size_t trace_bytes_ = 0;
  std::vector<std::string> warnings_;
  bool any_selected_ = false;
  bool can_name_ = true;  // False once the builder has given away its profile.
};

}  // namespace profiler::script
