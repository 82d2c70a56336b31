// Recordings for tests: written, taken apart again, and told as text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/perf_data/format/features.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/write/writer.h"
#include "src/perf_event/record_builder.h"

namespace profiler::perf_data {

// A path in the test's own directory.
std::string TestPath(std::string_view name);

std::vector<std::byte> ReadFile(const std::string& path);
void WriteFile(const std::string& path, std::span<const std::byte> bytes);

// IP, TID, TIME, CPU, PERIOD, CALLCHAIN, ID and IDENTIFIER, as the recorder asks for them.
perf_event::Attr UsualAttr();

// What a small recording has for features.
Features UsualFeatures();

// One event "cpu-clock" with ids 1 and 2, three rounds on two CPUs, and UsualFeatures. Its samples
// are at 110, 120, … 190, each ip a thousand times its time. Its writer has finished.
std::unique_ptr<Writer> WriteUsualRecording(const std::string& path, StreamListener listener = {});
inline constexpr int kUsualSamples = 9;

// Appends the builder's records and starts it anew.
absl::Status AppendAll(Writer& writer, perf_event::RecordBuilder& records);

// What ForEach visits: "110 SAMPLE, 120 SAMPLE/1, COMM"; time 0 and event 0 are left out. Then " !"
// and the message of what stopped it.
std::string Told(Recording& recording, Recording::Order order);

// The same of a file, or what Open says. Warnings follow, each after " # ".
std::string ToldFile(const std::string& path, Recording::Order order);

// The same of `bytes` that come through a pipe, `step` of them at a time.
std::string ToldPipe(std::span<const std::byte> bytes, Recording::Order order, size_t step);

// A stream (pipe layout) as bytes: its 16-byte header, HEADER_ATTR for each event with `ids`, an
// EVENT_UPDATE with its name, a HEADER_FEATURE with a host name, then `records`.
std::vector<std::byte> StreamOf(const std::vector<EventToWrite>& events,
                                std::span<const std::byte> records);

// A recording of these records, in one event without ids, as a machine of the other byte order
// writes it.
std::vector<std::byte> FileInOtherOrder(const perf_event::RecordBuilder& records);

// A file of one round marker and no events, whose header says this of its attr entries.
std::vector<std::byte> FileWithoutEvents(uint64_t attr_entry_size, uint64_t attrs_offset);

// Puts a whole record of `type` with this body, size padded to 8 or not, at the end of `*out`.
void AddRecord(uint32_t type, std::string_view body, std::vector<std::byte>* out);

}  // namespace profiler::perf_data
