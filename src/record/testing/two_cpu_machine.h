// A machine with two CPUs and one process, for tests of recording sessions: its files in a fake
// tree, and its samples in the rings of a fake kernel.

#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::record {

// Writes the machine's files. `paranoid` is the contents of perf_event_paranoid.
inline void WriteTwoCpuMachine(procfs::FakeTree& tree, const std::string& paranoid) {
  tree.Write("sys/devices/system/cpu/online", "0-1\n")
      .Write("sys/devices/system/cpu/present", "0-1\n")
      .Write("proc/sys/kernel/perf_event_paranoid", paranoid + "\n")
      .Write("proc/sys/kernel/perf_event_mlock_kb", "516\n")
      .Write("proc/sys/kernel/perf_event_max_sample_rate", "100000\n")
      .Write("proc/sys/kernel/hostname", "box\n")
      .Process(1, 0, "init", "1000-2000 r-xp 00000000 00:01 5 /sbin/none\n");
}

// Returns the id of the first open event that takes samples; 0 if there is none.
inline uint64_t SamplingId(ringbuf::FakeKernel& kernel) {
  std::istringstream lines(kernel.Describe());
  for (std::string line; std::getline(lines, line);) {
    constexpr char kDummy[] = " config 9 ";
    uint64_t id = 0;
    if (line.find(kDummy) != std::string::npos) continue;
    if (sscanf(line.c_str(), "id %" SCNu64, &id) == 1) return id;
  }
  return 0;
}

// Returns the attr of the samples and other records that PublishSample and tests add.
inline perf_event::Attr SampledAttr() {
  return perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                perf_event::kSampleTid | perf_event::kSampleTime |
                                perf_event::kSampleCpu | perf_event::kSamplePeriod);
}

// Adds a sample of process 1 to the ring of `cpu`. `time` is in nanoseconds.
inline void PublishSample(ringbuf::FakeKernel& kernel, int cpu, uint64_t time, uint64_t id = 2) {
  perf_event::RecordBuilder records(SampledAttr());
  records.At(time).By(1, 1).On(cpu).Id(id).Sample(0x1234);
  for (const auto record : records.records()) ASSERT_TRUE(kernel.Publish(cpu, record.bytes()));
}

}  // namespace profiler::record
