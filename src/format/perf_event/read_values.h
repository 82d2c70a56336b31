// Names the words of a read_format, which READ records and samples with PERF_SAMPLE_READ contain.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

// The count of one event.
struct CounterValue {
  uint64_t value = 0;
  uint64_t id = 0;    // 0 without PERF_FORMAT_ID
  uint64_t lost = 0;  // samples lost; 0 without PERF_FORMAT_LOST
  bool operator==(const CounterValue&) const = default;
};

// A view of the words that Decode returned; sample_fields.h draws their layout. Missing words read
// as zero.
class ReadValues {
 public:
  ReadValues(U64Array words, uint64_t read_format) : words_(words), format_(read_format) {}

  // Returns the number of events: those of the group, or 1.
  size_t size() const {
    if (words_.empty()) return 0;
    return has(kFormatGroup) ? (words_.size() - FirstValue()) / Stride() : 1;
  }

  // Return the nanoseconds that the event or group was enabled and on the PMU; 0 if not recorded.
  uint64_t time_enabled() const { return has(kFormatTotalTimeEnabled) ? Word(BeforeTimes()) : 0; }
  uint64_t time_running() const {
    if (!has(kFormatTotalTimeRunning)) return 0;
    return Word(BeforeTimes() + (has(kFormatTotalTimeEnabled) ? 1 : 0));
  }

  CounterValue operator[](size_t i) const {
    // Without a group, the times are between the value and its id.
    const size_t value = has(kFormatGroup) ? FirstValue() + i * Stride() : 0;
    size_t next = has(kFormatGroup) ? value + 1 : 1 + Times();
    CounterValue counter{.value = Word(value)};
    if (has(kFormatId)) counter.id = Word(next++);
    if (has(kFormatLost)) counter.lost = Word(next);
    return counter;
  }

 private:
  bool has(uint64_t bit) const { return (format_ & bit) != 0; }
  // Words before the times: the value, or the group's size.
  static constexpr size_t BeforeTimes() { return 1; }
  size_t Times() const {
    return std::popcount(format_ & (kFormatTotalTimeEnabled | kFormatTotalTimeRunning));
  }
  size_t FirstValue() const { return BeforeTimes() + Times(); }
  size_t Stride() const { return 1 + std::popcount(format_ & (kFormatId | kFormatLost)); }
  uint64_t Word(size_t i) const { return i < words_.size() ? words_[i] : 0; }

  U64Array words_;
  uint64_t format_;
};

}  // namespace profiler::perf_event
