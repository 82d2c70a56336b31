// replicate_recording IN OUT SAMPLES
//
// Writes a recording of exactly SAMPLES samples. It repeats the samples of IN in copies, each later
// than the copy before. Records before IN's first sample (processes that already ran) are written
// once, at the beginning of OUT. All later records (forks, execs, mappings, exits) are repeated in
// each copy, so processes that end in one copy exist again in the next copy.
//
//   IN    ┌ sideband ┐┌ samples and sideband ┐
//   OUT   ┌ sideband ┐┌ copy 0 ┐┌ copy 1 ┐┌ copy 2 …
//                     └ period ┘
//
// The copies add samples, but no distinct stacks. So tools/bench can separate a report's cost per
// sample from its cost per stack.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;
using perf_data::Writer;

constexpr uint32_t kFirstTypeOfPerf = 64;     // first of perf's own types: rounds, features, …
constexpr size_t kPiece = size_t{1} << 20;    // size of a write in bytes
constexpr uint64_t kBetweenCopies = 100'000;  // gap between two copies, in nanoseconds

struct StoredRecord {
  size_t offset = 0;  // offset in Input::bytes
  uint16_t size = 0;
  bool sample = false;
  int time_offset = -1;
};

struct Input {
  std::vector<std::byte> bytes;
  std::vector<StoredRecord> records;  // sorted by time
  size_t first_sample = 0;            // index in `records`
  uint64_t first_time = 0, last_time = 0;
};

int TimeOffset(const TimedRecord& record, const perf_event::RecordLayout& layout) {
  if (record.record.type() == perf_event::kRecordSample) return layout.sample_time_offset;
  if (layout.trailer_time_offset < 0) return -1;
  return static_cast<int>(record.record.size()) - layout.trailer_time_offset;
}

absl::StatusOr<Input> Load(Recording& recording) {
  Input input;
  bool sampled = false;
  const absl::Status status =
      recording.ForEach(Recording::Order::kTime, [&](const TimedRecord& record) {
        const uint32_t type = record.record.type();
        if (type >= kFirstTypeOfPerf || record.event >= recording.events().size()) return;
        const auto& layout = recording.events()[record.event].layout;
        const std::vector<std::byte> bytes = CopyInOnePiece(record.record, layout);
        if (type == perf_event::kRecordSample && !std::exchange(sampled, true)) {
          input.first_sample = input.records.size();
          input.first_time = record.time;
        }
        if (sampled) input.last_time = record.time;
        input.records.push_back({input.bytes.size(), static_cast<uint16_t>(bytes.size()),
                                 type == perf_event::kRecordSample, TimeOffset(record, layout)});
        input.bytes.insert(input.bytes.end(), bytes.begin(), bytes.end());
      });
  if (!status.ok()) return status;
  if (!sampled) return absl::InvalidArgumentError("there is no sample in it");
  return input;
}

// A buffer that appends records to a recording in large pieces. Each piece is a round.
class Output {
 public:
  explicit Output(Writer& writer) : writer_(writer) {}

  absl::Status Add(const Input& input, const StoredRecord& record, uint64_t shift) {
    const size_t at = piece_.size();
    const auto begin = input.bytes.begin() + static_cast<ptrdiff_t>(record.offset);
    piece_.insert(piece_.end(), begin, begin + record.size);
    const auto time_at = static_cast<size_t>(record.time_offset);
    if (record.time_offset >= 0 && time_at + sizeof(uint64_t) <= record.size) {
      uint64_t time = 0;
      std::memcpy(&time, piece_.data() + at + time_at, sizeof time);
      time += shift;
      std::memcpy(piece_.data() + at + time_at, &time, sizeof time);
    }
    return piece_.size() < kPiece ? absl::OkStatus() : Flush();
  }

  absl::Status Flush() {
    const std::span<const std::byte> piece(piece_);
    const absl::Status status = writer_.Append(std::span(&piece, 1));
    piece_.clear();
    return status.ok() ? writer_.FinishRound() : status;
  }

 private:
  Writer& writer_;
  std::vector<std::byte> piece_;
};

// Repeats the samples of `input`. Returns the time of the last record.
absl::StatusOr<uint64_t> Repeat(const Input& input, uint64_t samples, Writer& writer) {
  Output output(writer);
  for (size_t i = 0; i < input.first_sample; ++i) {
    if (auto status = output.Add(input, input.records[i], 0); !status.ok()) return status;
  }
  const uint64_t period = input.last_time - input.first_time + kBetweenCopies;
  uint64_t shift = 0;
  for (size_t at = input.first_sample; samples != 0; ++at) {
    if (at == input.records.size()) {
      at = input.first_sample;
      shift += period;
    }
    samples -= input.records[at].sample;
    if (auto status = output.Add(input, input.records[at], shift); !status.ok()) return status;
  }
  if (auto status = output.Flush(); !status.ok()) return status;
  return input.last_time + shift;
}

absl::Status Replicate(const std::string& in, const std::string& out, uint64_t samples) {
  auto recording = Recording::Open(in);
  if (!recording.ok()) return recording.status();
  auto input = Load(**recording);
  if (!input.ok()) return input.status();
  std::vector<perf_data::EventToWrite> events;
  for (const auto& event : (*recording)->events()) {
    events.push_back({event.attr, event.name, event.ids});
  }
  auto writer = Writer::Create(out, std::move(events), 0);
  if (!writer.ok()) return writer.status();
  const auto last_time = Repeat(*input, samples, **writer);
  if (!last_time.ok()) return last_time.status();
  perf_data::Features features = (*recording)->features();
  if (features.sample_time.has_value()) features.sample_time->last = *last_time;
  return (*writer)->Finish(features);
}

}  // namespace
}  // namespace profiler

int main(int argc, char** argv) {
  const uint64_t samples = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (samples == 0) {
    std::fputs("usage: replicate_recording IN OUT SAMPLES\n", stderr);
    return 2;
  }
  const absl::Status status = profiler::Replicate(argv[1], argv[2], samples);
  if (status.ok()) return 0;
  std::fprintf(stderr, "replicate_recording: %s\n", status.ToString().c_str());
  return 1;
}
