#include "src/record/off_cpu_driver.h"

#include <boost/system/error_code.hpp>
#include <utility>

#include "src/record/waiting_thread.h"

namespace profiler::record {
namespace {

// Interval between two looks for threads that wait without a stack.
constexpr std::chrono::milliseconds kWaitingInterval{20};
// Interval if the only threads without a stack were already blocked when recording began.
constexpr std::chrono::milliseconds kLongWaitingInterval{100};
// How long context switches have to be few, in ns, before more of them are sampled again.
constexpr uint64_t kCalm = 1'000'000'000;

}  // namespace

OffCpuDriver::OffCpuDriver(boost::asio::io_context& io, const procfs::Roots& roots,
                           SessionSetup& setup)
    : roots_(roots), setup_(setup), timer_(io) {}

std::optional<size_t> OffCpuDriver::switches_attr() const {
  return samples_switches() ? std::optional(SwitchesAttr(switches_)) : std::nullopt;
}

void OffCpuDriver::Begin() {
  const bool is_first = !stage().threads().has_begun();
  stage().Begin(Now());
  if (is_first) FindWaiting();
  LeaveOut(paused_delays_, ReadRunDelays(roots_, stage().threads().times()), &run_delays_);
}

// Asks /proc for the state of threads that have no record yet.
void OffCpuDriver::FindWaiting() const {
  for (const target::Thread& thread : setup_.threads) {
    const auto pid = static_cast<uint32_t>(thread.pid), tid = static_cast<uint32_t>(thread.tid);
    if (ReadWaitingThread(roots_, pid, tid)) {
      stage().threads().FoundWaiting(pid, tid);
    } else {
      stage().threads().FoundRunning(pid, tid);
    }
  }
}

void OffCpuDriver::Pause() {
  if (!stage().threads().is_counting()) return;
  stage().Pause(Now());
  paused_delays_ = ReadRunDelays(roots_, stage().threads().times());
}

void OffCpuDriver::ReadWaitingStacks(ringbuf::DrainLoop& drain,
                                     std::function<void(const absl::Status&)> on_error) {
  drain_ = &drain;
  on_error_ = std::move(on_error);
  ScheduleReading(std::chrono::milliseconds(0));
}

// Needs a timer, because the rings may stay empty while threads wait.
void OffCpuDriver::ScheduleReading(std::chrono::milliseconds after) {
  timer_.expires_after(after);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    if (failed) return;
    const uint64_t began = Now();
    if (const absl::Status passed = drain_->PassNow(); !passed.ok()) return on_error_(passed);
    const bool has_more = setup_.unwinding->ReadWaitingStacks(began, [this] { return Now(); });
    ScheduleReading(has_more || !samples_switches() ? kWaitingInterval : kLongWaitingInterval);
  });
}

// If switches become too many, samples fewer of them at once. Samples more of them only after they
// have been few for a while, because each change costs as much as some hundred samples.
absl::Status OffCpuDriver::AdaptToSwitches() {
  if (!samples_switches()) return absl::OkStatus();
  const uint64_t now = Now();
  const uint64_t rate = stage().switch_rate(now);
  size_t wanted = 0;
  while (wanted + 1 < kSwitchSampling.size() && rate > kSwitchSampling[wanted + 1].above) {
    ++wanted;
  }
  if (wanted >= switches_) last_many_ = now;
  if (wanted == switches_ || (wanted < switches_ && now - last_many_ < kCalm)) {
    return absl::OkStatus();
  }
  PROFILER_RETURN_IF_ERROR(setup_.events->Disable(SwitchesAttr(switches_)));
  switches_ = wanted;
  return setup_.events->Enable(SwitchesAttr(switches_));
}

void OffCpuDriver::End() {
  Pause();
  setup_.unwinding->EndOffCpu(Now());
}

ThreadStates OffCpuDriver::SumStates() const {
  return record::SumStates(
      stage(), run_delays_, paused_delays_,
      setup_.kernel.table().symbols().empty() ? nullptr : &setup_.kernel.table());
}

}  // namespace profiler::record
