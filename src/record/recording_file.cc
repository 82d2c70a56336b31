#include "src/record/recording_file.h"

#include <time.h>

#include <cstdint>
#include <string>
#include <utility>

#include "src/base/clock.h"
#include "src/base/shown_url.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/machine/procfs/machine.h"

namespace profiler::record {
namespace {

uint64_t ClockResolution(clockid_t clock) {
  timespec resolution{};
  clock_getres(clock, &resolution);
  return static_cast<uint64_t>(resolution.tv_nsec);
}

// Returns the groups of more than one event.
std::vector<perf_data::EventGroup> GroupsOf(const EventPlan& plan) {
  std::vector<perf_data::EventGroup> groups;
  for (size_t i = 0; i < plan.sampling.size(); ++i) {
    const PlannedEvent& event = plan.sampling[i];
    if (event.leader == i) continue;
    if (groups.empty() || groups.back().leader != event.leader) {
      groups.push_back(
          {.name = event.group_name, .leader = static_cast<uint32_t>(event.leader), .members = 1});
    }
    ++groups.back().members;
  }
  return groups;
}

void AddEstimates(const OffCpu::Estimates& estimates, perf_data::RecorderFacts* recorder) {
  for (const WaitKind kind : {WaitKind::kBlocked, WaitKind::kPreempted}) {
    const OffCpu::Estimate& estimate = estimates[static_cast<size_t>(kind)];
    if (estimate.time == 0) continue;
    const auto time = static_cast<double>(estimate.time);
    recorder->estimates.push_back(
        {.event = std::string(kind == WaitKind::kBlocked ? kBlockedEvent : kPreemptedEvent),
         .switches = estimate.switches,
         .sampled = estimate.sampled,
         .time = estimate.time,
         .placeholders = time * time / estimate.squares});
  }
}

}  // namespace

perf_data::Features FeaturesKnownBefore(const RecordOptions& options, const EventPlan& plan,
                                        const std::string& tracing_data) {
  perf_data::Features features;
  features.clock_data = perf_data::ClockData{static_cast<uint32_t>(options.clock),
                                             static_cast<uint64_t>(ReadClock(CLOCK_REALTIME)),
                                             static_cast<uint64_t>(ReadClock(options.clock))};
  features.clockid_resolution_ns = ClockResolution(options.clock);
  const procfs::MachineFacts machine = procfs::ReadMachineFacts(options.roots);
  features.hostname = machine.hostname;
  features.osrelease = machine.osrelease;
  features.arch = machine.arch;
  features.cpudesc = machine.cpudesc;
  features.cpuid = machine.cpuid;
  if (machine.cpus_available != 0) {
    features.nrcpus = perf_data::CpuCount{machine.cpus_available, machine.cpus_online};
  }
  if (machine.total_mem_kb != 0) features.total_mem_kb = machine.total_mem_kb;
  features.version = options.version;
  for (const std::string& word : options.cmdline) features.cmdline.push_back(WithShownUrls(word));
  if (!tracing_data.empty()) features.other[perf_data::kFeatureTracingData] = tracing_data;
  if (const auto groups = GroupsOf(plan); !groups.empty()) {
    perf_data::SetGroups(groups, &features);
  }
  return features;
}

absl::StatusOr<std::unique_ptr<RecordingFile>> RecordingFile::Begin(
    const std::string& path, const RecordingFacts& facts, std::span<const std::byte> start) {
  perf_data::WriterOptions options = facts.writer;
  options.start = start;
  PROFILER_ASSIGN_OR_RETURN(std::unique_ptr<perf_data::Writer> writer,
                            perf_data::Writer::Create(path, facts.events, options));
  return std::unique_ptr<RecordingFile>(new RecordingFile(facts, std::move(writer)));
}

absl::Status RecordingFile::Append(std::span<const std::span<const std::byte>> pieces) {
  absl::Status status = writer_->Append(pieces);
  status.Update(writer_->FinishRound());
  return status;
}

absl::Status RecordingFile::Finish(const RecordTally& tally, const Contents& contents) {
  perf_data::Features features = facts_.features;
  features.sample_time = tally.sample_time();
  features.build_ids = tally.images().Entries(facts_.kernel);
  if (contents.chains != nullptr) perf_data::SetChainQuality(*contents.chains, &features);
  perf_data::RecorderFacts recorder =
      perf_data::ReadRecorder(features).value_or(perf_data::RecorderFacts());
  if (contents.estimates != nullptr) AddEstimates(*contents.estimates, &recorder);
  if (contents.moment != nullptr) recorder.moment = *contents.moment;
  if (recorder != perf_data::RecorderFacts()) perf_data::SetRecorder(recorder, &features);
  return writer_->Finish(features);
}

}  // namespace profiler::record
