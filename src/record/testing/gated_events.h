// Tests with events of a fake kernel behind a SampleGate with fake programs.

#pragma once

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ringbuf/event_set.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/record/sample_gate.h"
#include "src/record/testing/fake_programs.h"

namespace profiler::record {

// Has thread 7 with the sideband (config 9) and a sampling event (config 0) on each CPU. If asked
// for, it also has context switches (config 3).
class GatedEventsTest : public ::testing::Test {
 protected:
  enum class Switches : bool { kNo, kYes };

  explicit GatedEventsTest(std::vector<int> cpus, Switches switches = Switches::kNo) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    ringbuf::EventSetOptions options;
    options.cpus = std::move(cpus);
    const auto add = [&](uint64_t config) {
      attr.config = config;
      options.attrs.push_back(attr);
    };
    add(PERF_COUNT_SW_DUMMY);
    add(PERF_COUNT_SW_CPU_CLOCK);
    if (switches == Switches::kYes) add(PERF_COUNT_SW_CONTEXT_SWITCHES);
    events_ = *ringbuf::EventSet::Create(kernel_, std::move(options));
    EXPECT_TRUE(events_->AddThread(7).ok());

    SampleGateOptions gate{.samples = {1},
                           .on_output = [this](uint64_t id) { outputs_.push_back(id); }};
    if (switches == Switches::kYes) gate.switches = {2};
    attr.config = PERF_COUNT_SW_BPF_OUTPUT;
    gate.output = attr;
    gate_ = std::make_unique<SampleGate>(*events_, std::move(gate),
                                         std::make_unique<FakePrograms>(state_));
  }

  ringbuf::FakeKernel kernel_;
  std::unique_ptr<ringbuf::EventSet> events_;
  FakePrograms::State state_;
  std::vector<uint64_t> outputs_;  // ids of the gate's output events
  std::unique_ptr<SampleGate> gate_;
};

}  // namespace profiler::record
