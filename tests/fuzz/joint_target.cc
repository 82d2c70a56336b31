// Fuzzes header, events, ids, records and features together. If these agree, readers must return
// everything. If they do not agree, readers must return the valid part.

#include <string>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/rewrite/rewrite.h"
#include "src/format/perf_event/abi.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/joint_recording.h"
#include "tests/fuzz/recording_files.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;

void CheckWhole(const JointRecording& written) {
  static MemoryFile& file = *new MemoryFile();
  file.Fill(written.bytes);
  const auto recording = Recording::Open(file.path());
  Require(recording.ok(), "a recording that agrees with itself can be read");
  uint64_t samples = 0;
  const absl::Status status =
      (*recording)->ForEach(Recording::Order::kTime, [&samples](const TimedRecord& timed) {
        samples += timed.record.type() == perf_event::kRecordSample;
      });
  Require(status.ok(), "and is read to its end");
  Require(samples == written.program.samples, "with all its samples");
  const auto& events = (*recording)->events();
  Require(events.size() == written.program.events.size(), "with all its events");
  for (size_t i = 0; i < events.size(); ++i) {
    const perf_data::EventToWrite& event = written.program.events[i];
    Require(events[i].name == event.name && events[i].ids == event.ids,
            "an event has its name and its ids");
    Require(events[i].attr.sample_type == event.attr.sample_type, "an event has its attr");
  }
  if (written.is_stream) return;  // in streams, sections are padded
  for (const auto& [bit, section] : (*recording)->features().other) {
    const auto found = written.sections.find(bit);
    Require(found == written.sections.end() || found->second == section,
            "a section is kept as it stands");
  }
}

// Reads a directory as perf record --threads writes it: a file with the header, and files with
// records.
void ReadDirectory(const JointRecording& written) {
  static const ScratchDirectory directory;
  directory.Write("recording/data", written.bytes);
  directory.Write("recording/data.0", written.program.records);
  directory.Write("recording/data.1", written.bytes);
  const auto recording = Recording::Open(directory.PathOf("recording"));
  if (!recording.ok()) return;
  uint64_t records = 0;
  for (const auto order : {Recording::Order::kFile, Recording::Order::kTime}) {
    (void)(*recording)->ForEach(order, [&records](const TimedRecord&) { ++records; });
  }
  const std::string copy = directory.PathOf("copy");
  (void)perf_data::Rewrite(directory.PathOf("recording"), copy, {});
  directory.Remove("copy");
}

void ReadJoint(std::span<const std::byte> input) {
  Choices choices(input);
  const uint8_t reader = choices.Byte();
  const JointRecording recording = MakeRecording(choices, {});
  if (!recording.is_spoilt) CheckWhole(recording);
  switch (reader % 5) {
    case 0:
      return FileTarget().run(recording.bytes);
    case 1:
      return ConvertTarget().run(recording.bytes);
    case 2:
      return DumpTarget().run(recording.bytes);
    case 3:
      return PipeTarget().run(recording.bytes);
    default:
      return ReadDirectory(recording);
  }
}

// Returns valid and spoilt seeds for each reader, layout and byte order.
std::vector<Bytes> JointSeeds() {
  std::vector<Bytes> seeds = ProgramsByChance(40, 600);
  for (size_t i = 0; i < seeds.size(); ++i) {
    seeds[i][0] = static_cast<std::byte>(i % 5);
    seeds[i][1] = static_cast<std::byte>(i / 5);
    if (i % 2 == 1) seeds[i][1] |= static_cast<std::byte>(i / 2 % 8 * 4);
  }
  return seeds;
}

}  // namespace

FuzzTarget JointTarget() {
  FuzzTarget target = {"joint", "header, events and features together", ReadJoint, JointSeeds};
  target.is_slow = true;
  return target;
}

}  // namespace profiler::fuzz
