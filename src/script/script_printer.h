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

struct ScriptPlan {
  report::ScriptOptions options;
  report::ScriptFieldChoice fields;
  ShownRecords records;
  profile::SampleSelection samples;  // that are shown
  naming::NamingOptions naming;
  profile::SampleReader::DescribeTracepoint describe_tracepoint;  // may be empty
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

  // Once printed: files that no names were taken from, as naming::RefusedFiles, and what was left
  // out of call chains.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  report::ScriptOptions Options() const;
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

  perf_data::Recording& recording_;
  const ScriptPlan& plan_;
  const std::function<void(std::string_view)> write_;
  const std::unique_ptr<symbolize::NameStore> names_;
  profile::ProfileBuilder builder_;
  profile::SampleReader reader_;
  std::optional<annotate::InstructionBytes> instructions_;  // where they are shown
  std::unique_ptr<report::ScriptFormatter> formatter_;
  report::ScriptFields fields_;  // but of tracepoints
  size_t events_ = 0;            // that the builder knows
  std::string text_;
  std::string sample_text_;  // where samples are written one by one
  std::vector<std::string> warnings_;
};

}  // namespace profiler::script
