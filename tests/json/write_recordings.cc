// write_recordings FOLDER: writes recordings with everything that views can show. schema_test.py
// lets views print them as JSON.

#include <string>

#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler {
namespace {

using perf_event::Attr;
using perf_event::RecordBuilder;

// Writes a recording of one event.
void WriteEvent(const std::string& path, const std::string& event, const Attr& attr,
                RecordBuilder& records) {
  auto writer = perf_data::Writer::Create(path, {{attr, event, {1, 2}}}, {.id_capacity = 4});
  if (!writer.ok()) __builtin_trap();
  if (!perf_data::AppendAll(**writer, records).ok()) __builtin_trap();
  if (!(*writer)->Finish(perf_data::UsualFeatures()).ok()) __builtin_trap();
}

// Writes a recording of several functions on two CPUs, with lost samples, throttling, and a command
// name that is not UTF-8.
void WriteClock(const std::string& path) {
  constexpr int kSamples = 4000;
  const Attr attr = perf_data::UsualAttr();
  RecordBuilder records(attr);
  records.By(7, 7).Comm("caf\xe9 \"x\"").Mmap2(0x1000, 0x200000, 0x1000, "/bin/cat");
  records.Period(1'000'000);
  for (int i = 0; i < kSamples; ++i) {
    const auto cpu = static_cast<uint32_t>(i % 2);
    records.At(1000 + 1000 * static_cast<uint64_t>(i)).Id(1 + cpu).On(cpu);
    const uint64_t ip = 0x2000 + 0x1000 * static_cast<uint64_t>(i * i % 7);
    records.Sample(ip, {perf_event::kContextUser, ip, 0x1234});
    if (i % 1000 == 999) records.Lost(25).Throttle();
  }
  WriteEvent(path, "cpu-clock", attr, records);
}

// Writes a recording of page faults in which each page fault is a sample (period 1).
void WriteCounted(const std::string& path) {
  Attr attr = perf_data::UsualAttr();
  attr.sample_period = 1;
  RecordBuilder records(attr);
  records.By(7, 7).Comm("cat").Mmap2(0x1000, 0x200000, 0x1000, "/bin/cat").Period(1);
  for (uint64_t i = 0; i < 100; ++i) {
    records.At(1000 + i).Id(1).Sample(0x2000 + 16 * (i % 3));
  }
  WriteEvent(path, "page-faults", attr, records);
}

void WriteNothing(const std::string& path) {
  const Attr attr = perf_data::UsualAttr();
  RecordBuilder records(attr);
  records.By(7, 7).Comm("cat");
  WriteEvent(path, "cpu-clock", attr, records);
}

}  // namespace
}  // namespace profiler

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  profiler::perf_data::WriteUsualRecording(folder + "/usual.data");
  profiler::WriteClock(folder + "/clock.data");
  profiler::WriteCounted(folder + "/counted.data");
  profiler::WriteNothing(folder + "/nothing.data");
  return 0;
}
