#include "src/record/sample_gate.h"

#include <utility>

namespace profiler::record {

SampleGate::SampleGate(ringbuf::EventSet& events, SampleGateOptions options,
                       std::unique_ptr<Programs> programs)
    : events_(events), options_(std::move(options)), programs_(std::move(programs)) {}

absl::Status SampleGate::Attach() {
  if (is_attached_ || !failure_.ok()) return failure_;
  failure_ = AttachNow();
  is_attached_ = failure_.ok();
  return failure_;
}

absl::Status SampleGate::AttachNow() {
  PROFILER_ASSIGN_OR_RETURN(const Programs::Gates gates, programs_->LoadGates());
  for (const size_t attr : options_.samples) {
    PROFILER_RETURN_IF_ERROR(events_.SetProgram(attr, gates.samples));
  }
  for (const size_t attr : options_.switches) {
    PROFILER_RETURN_IF_ERROR(events_.SetProgram(attr, gates.switches));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const Programs::Output>> SampleGate::Outputs() {
  PROFILER_RETURN_IF_ERROR(Attach());
  if (!is_open_) {
    PROFILER_ASSIGN_OR_RETURN(const auto opened, events_.OpenOutputs(options_.output));
    for (const ringbuf::EventSet::Output& output : opened) {
      outputs_.push_back({output.cpu, output.fd});
      options_.on_output(output.id);
    }
    is_open_ = true;
  }
  return outputs_;
}

}  // namespace profiler::record
