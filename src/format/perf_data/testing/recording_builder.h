// Writes recordings for tests, reads them again, and formats their records as text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::perf_data {

// Returns a path in the test's own directory.
std::string TestPath(std::string_view name);

std::vector<std::byte> ReadFile(const std::string& path);
void WriteFile(const std::string& path, std::span<const std::byte> bytes);

// Returns an attr with IP, TID, TIME, CPU, PERIOD, CALLCHAIN, ID and IDENTIFIER, like those of the
// recorder.
perf_event::Attr UsualAttr();

// Returns the features of a small recording.
Features UsualFeatures();

// Writes one event "cpu-clock" with ids 1 and 2, three rounds on two CPUs, and UsualFeatures. The
// samples are at 110, 120, … 190; each ip is a thousand times the sample's time. Finishes the
// writer and returns it.
std::unique_ptr<Writer> WriteUsualRecording(const std::string& path, StreamListener listener = {});
inline constexpr int kUsualSamples = 9;

// Appends the builder's records and clears the builder.
absl::Status AppendAll(Writer& writer, perf_event::RecordBuilder& records);

// Returns the time, type and event of each record that ForEach visits: "110 SAMPLE, 120 SAMPLE/1,
// COMM". Time 0 and event 0 are not shown. An error follows as " !" and its message.
std::string Told(Recording& recording, Recording::Order order,
                 const Recording::Window& window = {});

// Like Told, for a file. Returns the error if Open fails. Warnings follow, each after " # ".
std::string ToldFile(const std::string& path, Recording::Order order);

// Like Told, for `bytes` that come through a pipe, `step` bytes at a time.
std::string ToldPipe(std::span<const std::byte> bytes, Recording::Order order, size_t step);

// Returns a stream (pipe layout): its 16-byte header, for each event a HEADER_ATTR with its `ids`
// and an EVENT_UPDATE with its name, a HEADER_FEATURE with a host name, then `records`.
std::vector<std::byte> StreamOf(const std::vector<EventToWrite>& events,
                                std::span<const std::byte> records);

// Returns a recording of these records, in one event without ids, as a machine of the other byte
// order writes it.
std::vector<std::byte> FileInOtherOrder(const perf_event::RecordBuilder& records);

// Returns a file with one round marker and no events, whose header claims these attr entries.
std::vector<std::byte> FileWithoutEvents(uint64_t attr_entry_size, uint64_t attrs_offset);

// Appends a whole record of `type` with this body. Does not require a size that is a multiple of 8.
void AddRecord(uint32_t type, std::string_view body, std::vector<std::byte>* out);

}  // namespace profiler::perf_data
