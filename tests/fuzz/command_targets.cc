// Fuzzes recordings as `convert` and `dump` read them. The last byte of an input chooses the
// options, so any recording is an input.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_data/dump/dump.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/rewrite/rewrite.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/recording_files.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

using perf_data::Recording;
using perf_data::RewriteOptions;
using perf_data::TimedRecord;

// --- convert -----------------------------------------------------------------------------------

enum ConvertForm : uint8_t {
  kAsStream = 1 << 0,
  kInflated = 1 << 1,
  kZstd = 1 << 2,  // has no effect with kInflated
  kCutByTime = 1 << 3,
  kCutByThread = 1 << 4,
  kInPlace = 1 << 5,  // the output replaces the input
};

RewriteOptions OptionsOf(uint8_t form) {
  RewriteOptions options;
  options.as_stream = (form & kAsStream) != 0;
  if ((form & kZstd) != 0) options.compression = RewriteOptions::Compression::kZstd;
  if ((form & kInflated) != 0) options.compression = RewriteOptions::Compression::kNone;
  if ((form & kCutByTime) != 0) options.time = perf_data::TimeRange{115, 145, {}, {}};
  if ((form & kCutByThread) != 0) options.tids = {7};
  return options;
}

uint64_t CountSamples(const std::string& path) {
  auto recording = Recording::Open(path);
  Require(recording.ok(), "a recording that was written anew can be read");
  uint64_t samples = 0;
  (void)(*recording)->ForEach(Recording::Order::kFile, [&samples](const TimedRecord& timed) {
    samples += timed.record.type() == perf_event::kRecordSample;
  });
  return samples;
}

// Converts a recording in place. The output replaces the input, which is kept under another name.
void ConvertInPlace(std::span<const std::byte> input, const RewriteOptions& options) {
  static const ScratchDirectory directory;
  directory.Write("recording", input);
  const std::string path = directory.PathOf("recording");
  const auto summary = perf_data::Rewrite(path, path, options);
  Require(!summary.ok() || Recording::Open(path).ok(), "a recording written anew can be read");
  Require(perf_data::ReadFile(summary.ok() ? path + ".old" : path) ==
              std::vector<std::byte>(input.begin(), input.end()),
          "what was read is still there");
  directory.Remove("recording.old");
}

// Converts a recording. The input is { recording; u8 form }, and the form is also read as the
// recording's last byte.
void Convert(std::span<const std::byte> input) {
  if (input.empty()) return;
  static MemoryFile& before = *new MemoryFile();
  static MemoryFile& after = *new MemoryFile();
  static MemoryFile& copy = *new MemoryFile();
  before.Fill(input);
  after.Fill({});
  copy.Fill({});
  const auto form = std::to_integer<uint8_t>(input.back());
  const RewriteOptions options = OptionsOf(form);
  if ((form & kInPlace) != 0) return ConvertInPlace(input, options);
  const auto summary = perf_data::Rewrite(before.path(), after.path(), options);
  if (!summary.ok()) return;
  const uint64_t samples = CountSamples(after.path());
  Require(!summary->counted || samples == summary->samples, "what is written has the samples kept");
  const auto again =
      perf_data::Rewrite(after.path(), copy.path(), {.as_stream = options.as_stream});
  Require(again.ok(), "what was written anew can be written once more");
  Require(CountSamples(copy.path()) == samples, "with all its samples");
  Require(!summary->reading.ok() || !again->reading.ok() || after.Contents() == copy.Contents(),
          "a copy of what was written has the same bytes");
}

// Returns each seed of FileSeeds() with each form appended. The appended byte damages neither files
// nor streams.
std::vector<Bytes> SeedsOfEachForm() {
  std::vector<Bytes> seeds;
  for (const Bytes& file : FileSeeds()) {
    for (const uint8_t form : {0, 1, 2, 4, 5, 8, 9, 16, 24, 28, 32, 36, 40, 33}) {
      seeds.push_back(file);
      seeds.back().push_back(std::byte{form});
    }
  }
  return seeds;
}

// --- dump --------------------------------------------------------------------------------------

enum DumpForm : uint8_t { kHex = 1 << 0, kSamplesOnly = 1 << 1 };

// Dumps a recording. The input is { recording; u8 form }, and the form is also read as the
// recording's last byte.
void DumpRecords(std::span<const std::byte> input) {
  if (input.empty()) return;
  static MemoryFile& file = *new MemoryFile();
  file.Fill(input);
  auto recording = Recording::Open(file.path());
  if (!recording.ok()) return;
  const auto form = std::to_integer<uint8_t>(input.back());
  // A few compressed bytes can contain very many records.
  perf_data::DumpOptions options = {.max_records = 2000, .hex = (form & kHex) != 0};
  if ((form & kSamplesOnly) != 0) options.types = {perf_event::kRecordSample};
  (void)perf_data::Dump(**recording, options, [](std::string_view text) {
    Require(std::none_of(text.begin(), text.end(),
                         [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; }),
            "a terminal takes nothing of a dump for a command");
  });
}

}  // namespace

FuzzTarget ConvertTarget() {
  return {"convert", "a recording to write anew", Convert, SeedsOfEachForm,
          /*reads_recordings=*/true};
}
FuzzTarget DumpTarget() {
  return {"dump", "a recording to show", DumpRecords, SeedsOfEachForm, /*reads_recordings=*/true};
}

}  // namespace profiler::fuzz
