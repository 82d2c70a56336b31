// The flight recorder: keeps the latest records in memory, and writes them to a file when something
// happens.
//
//                        moment
//   ──────┬────────────────┼──────────┬─────▶ time
//         │◀─── before ───▶│◀─ after ─▶│ the file is written, slice by slice, while recording goes on
//
//   perf.data.part               the file that is being written
//   perf.data.2026112307450240   a complete file: perf.data.part, renamed
//
// A moment that comes while another one waits for its `after` belongs to the same file. A moment
// that comes while a file is written gets the next file. What was written stays in memory, so files
// of close moments overlap.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/record/flight_buffer.h"
#include "src/record/off_cpu.h"
#include "src/record/options.h"
#include "src/record/output_files.h"
#include "src/record/record_tally.h"
#include "src/record/recording_file.h"
#include "src/record/recording_output.h"
#include "src/record/session_setup.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

// The recorder. Use it from the thread of the io_context.
class FlightRecorder final : public RecordingOutput {
 public:
  // `io`, `options` and `setup` must outlive this object. `read_rings` makes a pass over the rings,
  // which calls Append. Error: kResourceExhausted if there is no memory for the records.
  static absl::StatusOr<std::unique_ptr<FlightRecorder>> Create(
      boost::asio::io_context& io, const RecordOptions& options, SessionSetup& setup,
      std::function<absl::Status()> read_rings);

  // Writes a file for this moment, after FlightOptions::after. `reason` is for the user: what has
  // happened. `done` is called when the file is written, or has failed; it may be empty.
  void Trigger(std::string reason, std::function<void()> done = {});

  // Writes a file because a trigger of FlightOptions has fired, except during its cool-down.
  // `time` is when it happened, in ns of the samples' clock; nullopt: now.
  void Trigger(const FlightTrigger& trigger, std::string reason,
               std::optional<uint64_t> time = std::nullopt);
  // Ignores triggers in samples from now on. The last samples of a recording end the waits of
  // threads that still wait, and sum up short waits.
  void IgnoreSamples() { ignores_samples_ = true; }

  // Keeps the records, and looks for the triggers in samples. Never fails.
  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override;
  absl::Status Next(std::vector<std::string>* /*notes*/) override { return absl::OkStatus(); }
  // Writes the files that are not complete yet at once, without waiting for their `after`. Errors
  // while a file is written are not returned: a message names them.
  absl::Status Finish(bool with_features, std::vector<std::string>* notes) override;

  uint64_t file_bytes() const override { return 0; }  // no file grows with each round
  uint64_t bytes() const override { return bytes_; }
  uint64_t count() const override { return files_; }
  perf_data::Writer* last_file() override { return nullptr; }
  const std::string& path() const override { return path_; }
  ChainQuality chains() const override;

 private:
  using Time = FlightBuffer::Time;
  struct Moment {
    std::string reason;
    Time when;
    uint64_t time = 0;  // in ns of the samples' clock
    std::vector<std::function<void()>> done;
    bool is_end = false;  // True for the end of the recording (FlightOptions::writes_end).
  };
  // Sums over the records of slices up to `number`, since the sums before.
  struct Sums {
    uint64_t number = 0;
    ChainQuality chains;
    OffCpu::Estimates estimates;
  };
  // A trigger that fires at samples with this id.
  struct SampleTrigger {
    uint64_t id = 0;
    perf_event::RecordLayout layout;
    const FlightTrigger* trigger = nullptr;
  };
  // The file that is being written.
  struct Writing {
    Moment moment;
    Sums sums;
    Time since, until;  // the time that the file covers
    FlightBuffer::Dropped dropped;
    std::unique_ptr<RecordingFile> file;
    RecordTally tally;
    uint64_t next = 0, end = 0;  // numbers of the next slice, and of the slice behind the last one
  };

  FlightRecorder(boost::asio::io_context& io, const RecordOptions& options, SessionSetup& setup,
                 std::function<absl::Status()> read_rings, std::unique_ptr<FlightBuffer> buffer);

  Moment MakeMoment(std::string reason) const;
  Time KeepFrom(Time now) const;
  void AwaitMoment();
  void WriteMoment();
  void Begin();
  void ScheduleStep();
  void Step();
  void WriteSlice(const FlightBuffer::Slice& slice);
  void Complete();
  absl::StatusOr<std::string> GiveName(const Moment& moment);
  void Failed(const absl::Status& status);
  void Unnamed(const absl::Status& status);
  void GiveUp(const std::string& message);
  void Done(const Moment& moment);
  void KeepSums();
  void LookForTriggers();
  void TakeSample(perf_event::RawRecord record);
  std::string About(const Writing& writing) const;

  const RecordOptions& options_;
  const FlightOptions flight_;
  const SessionSetup& setup_;
  const std::function<absl::Status()> read_rings_;
  const std::string part_;  // path of the file that is being written
  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<FlightBuffer> buffer_;
  std::vector<SampleTrigger> sample_triggers_;
  bool ignores_samples_ = false;
  absl::flat_hash_map<std::string, Time> fired_;  // by the trigger's text, the last time
  std::optional<Moment> waiting_;
  std::optional<Writing> writing_;
  OutputFiles names_;
  const Time began_;
  bool has_dropped_ = false;  // True once a slice was dropped.
  std::deque<Sums> sums_;
  ChainQuality all_chains_;       // of all sums
  std::vector<std::byte> start_;  // scratch: first records of a file
  std::vector<std::string> messages_;
  uint64_t files_ = 0, bytes_ = 0;
  std::string path_;
};

}  // namespace profiler::record
