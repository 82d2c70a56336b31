#include "src/record/off_cpu_stage.h"

#include <algorithm>

#include "src/base/clock.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/format/perf_event/records.h"

namespace profiler::record {
namespace {

constexpr uint64_t kRateWindow = 20'000'000;  // length of a window in ns
// Limit for the number of sums of short times; with their chains, they take some tens of MB.
constexpr size_t kMostShortWaits = 1 << 16;

}  // namespace

OffCpuStage::OffCpuStage(OffCpuStageOptions options, std::vector<std::byte>* output)
    : options_(std::move(options)),
      output_(*output),
      off_cpu_([this](const Wait& wait) { Take(wait); }) {
  weights_[0].event = kBlockedEvent;
  weights_[1].event = kPreemptedEvent;
}

void OffCpuStage::End(uint64_t time) {
  off_cpu_.End(time);
  WriteShortWaits();
}

bool OffCpuStage::Take(perf_event::RawRecord record) {
  switch (record.type()) {
    case perf_event::kRecordSwitch:
    case perf_event::kRecordSwitchCpuWide:
      TakeSwitch(record);
      return options_.keeps_switches;
    case perf_event::kRecordFork:
    case perf_event::kRecordExit: {
      perf_event::Task task;
      if (!Decode(record, options_.sideband, &task)) return true;
      if (record.type() == perf_event::kRecordExit) {
        off_cpu_.Exit(task.tid, task.time);
      } else if (off_cpu_.has_begun()) {
        off_cpu_.Start(task.pid, task.tid, task.time);
      }
      return true;
    }
    case perf_event::kRecordComm: {
      perf_event::Comm comm;
      if (!Decode(record, options_.sideband, &comm)) return true;
      const bool is_exec = (record.misc() & perf_event::kMiscCommExec) != 0;
      if (is_exec && !off_cpu_.has_begun() && comm.pid == options_.begins_with_exec_of) {
        off_cpu_.Begin(comm.sample_id.time);
      }
      return true;
    }
    default:
      return true;
  }
}

void OffCpuStage::TakeSwitch(perf_event::RawRecord record) {
  perf_event::SampleId by;
  if (record.type() == perf_event::kRecordSwitch) {
    perf_event::Switch one;
    if (!Decode(record, options_.sideband, &one)) return;
    by = one.sample_id;
  } else {
    perf_event::SwitchCpuWide one;
    if (!Decode(record, options_.sideband, &one)) return;
    by = one.sample_id;
  }
  if (by.tid == 0) return;  // the idle thread of a CPU
  const uint16_t misc = record.misc();
  if ((misc & perf_event::kMiscSwitchOut) == 0) {
    off_cpu_.SwitchIn(by.pid, by.tid, by.cpu, by.time);
    return;
  }
  CountSwitch(by.cpu, by.time);
  off_cpu_.SwitchOut(
      by.pid, by.tid, by.cpu, by.time,
      (misc & perf_event::kMiscSwitchOutPreempt) != 0 ? WaitKind::kPreempted : WaitKind::kBlocked);
}

uint64_t OffCpuStage::switch_rate(uint64_t now) const {
  const bool is_of_now = now - std::min(now, window_began_) < 10 * kRateWindow;
  return is_of_now ? rate_ : 0;
}

void OffCpuStage::CountSwitch(uint32_t cpu, uint64_t time) {
  if (time - std::min(time, window_began_) >= kRateWindow) {
    const auto busiest = std::max_element(switches_.begin(), switches_.end());
    const uint64_t switches = busiest == switches_.end() ? 0 : *busiest;
    rate_ = window_began_ == 0 ? 0 : switches * kNanosecondsPerSecond / (time - window_began_);
    window_began_ = time;
    std::fill(switches_.begin(), switches_.end(), 0);
  }
  constexpr uint32_t kMostCpus = 1 << 16;
  if (cpu >= kMostCpus) return;
  if (cpu >= switches_.size()) switches_.resize(cpu + 1);
  ++switches_[cpu];
}

std::span<const uint64_t> OffCpuStage::WithoutScheduler(std::span<const uint64_t> chain) {
  if (chain.empty() || chain[0] != perf_event::kContextKernel) return chain;
  size_t first = 1;
  while (first < chain.size() && options_.scheduler.Has(chain[first])) ++first;
  if (first == 1 || first == chain.size() || perf_event::IsContext(chain[first])) return chain;
  chain_.assign(chain.begin() + static_cast<ptrdiff_t>(first) - 1, chain.end());
  chain_[0] = perf_event::kContextKernel;
  return chain_;
}

KernelEntry OffCpuStage::EntryOf(const Wait& wait) {
  KernelEntry entry{.system_call = wait.system_call};
  const std::span<const uint64_t> chain = wait.chain;
  if (chain.empty() || chain[0] != perf_event::kContextKernel) return entry;
  size_t end = 1;
  while (end < chain.size() && !perf_event::IsContext(chain[end])) ++end;
  for (size_t i = 0; i < entry.addresses.size() && end - i > 1; ++i) {
    entry.addresses[i] = chain[end - i - 1];
  }
  return entry;
}

void OffCpuStage::Take(const Wait& wait) {
  if (wait.kind == WaitKind::kBlocked) blocked_[EntryOf(wait)] += wait.duration;
  if (wait.duration >= options_.least_duration) return Write(wait);
  Wait& sum = short_waits_[{.kind = wait.kind,
                            .pid = wait.pid,
                            .tid = wait.tid,
                            .chain = {wait.chain.begin(), wait.chain.end()}}];
  const uint64_t before = sum.duration;
  sum = wait;
  sum.duration += before;
  if (short_waits_.size() >= kMostShortWaits) WriteShortWaits();
}

void OffCpuStage::WriteShortWaits() {
  for (auto& [waits, sum] : short_waits_) {
    sum.chain = waits.chain;
    Write(sum);
  }
  short_waits_.clear();
}

void OffCpuStage::Write(const Wait& wait) {
  const std::span<const uint64_t> chain = WithoutScheduler(wait.chain);
  perf_event::Sample sample;
  const auto leaf = std::find_if_not(chain.begin(), chain.end(), perf_event::IsContext);
  sample.ip = leaf == chain.end() ? 0 : *leaf;
  sample.pid = wait.pid;
  sample.tid = wait.tid;
  sample.time = wait.end;
  sample.id = wait.kind == WaitKind::kBlocked ? options_.blocked_id : options_.preempted_id;
  sample.cpu = wait.cpu;
  sample.period = wait.duration;
  sample.callchain = perf_event::U64Array(std::as_bytes(chain));
  const bool has_user =
      std::find(chain.begin(), chain.end(), perf_event::kContextUser) != chain.end();
  if (options_.unwinds && has_user) {
    AddWeight(chain, wait.duration, &weights_[wait.kind == WaitKind::kBlocked ? 0 : 1]);
  }
  const bool in_kernel = !chain.empty() && chain[0] == perf_event::kContextKernel;
  Encode(perf_event::kRecordSample, in_kernel ? perf_event::kMiscKernel : perf_event::kMiscUser,
         options_.written, sample, &output_);
}

}  // namespace profiler::record
