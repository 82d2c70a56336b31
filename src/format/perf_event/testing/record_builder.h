// Encodes a sequence of kernel records with the layout of one attr, for tests.
//
//   RecordBuilder records(SampleAttr(kSampleIp | kSampleTid | kSampleTime));
//   records.At(10).By(7, 7).Comm("cat", /*exec=*/true).Mmap2(0x1000, 0x2000, 0, "/bin/cat");
//   records.At(20).Sample(0x1234);
//   for (RawRecord record : records.records()) …
//
// At, By, On, Id, Period and Mode apply until they are called again. A field whose bit is missing
// in sample_type is not written.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

// Returns the attr of a sampled software clock with these fields and sample_id_all.
Attr SampleAttr(uint64_t sample_type);

class RecordBuilder {
 public:
  explicit RecordBuilder(const Attr& attr);

  // Set the time, thread, CPU, event id and period of the following records.
  RecordBuilder& At(uint64_t time);
  RecordBuilder& By(uint32_t pid, uint32_t tid);
  RecordBuilder& On(uint32_t cpu);
  RecordBuilder& Id(uint64_t id);
  RecordBuilder& Period(uint64_t period);
  // Sets the mode of samples' ip and of mappings, kMiscUser by default.
  RecordBuilder& Mode(uint16_t cpumode);

  RecordBuilder& Mmap(uint64_t addr, uint64_t len, uint64_t pgoff, std::string_view filename);
  RecordBuilder& Mmap2(uint64_t addr, uint64_t len, uint64_t pgoff, std::string_view filename);
  RecordBuilder& Mmap2(uint64_t addr, uint64_t len, uint64_t pgoff, std::string_view filename,
                       std::span<const std::byte> build_id);
  // Adds a mapping without PROT_EXEC, as attr.mmap_data records it.
  RecordBuilder& DataMmap2(uint64_t addr, uint64_t len, uint64_t pgoff, std::string_view filename);
  RecordBuilder& Comm(std::string_view comm, bool exec = false);
  // Adds a FORK; the thread of By() is the parent.
  RecordBuilder& Fork(uint32_t child_pid, uint32_t child_tid);
  RecordBuilder& Exit();
  RecordBuilder& Lost(uint64_t lost);
  RecordBuilder& LostSamples(uint64_t lost);
  RecordBuilder& Throttle();
  RecordBuilder& Ksymbol(uint64_t addr, uint32_t len, std::string_view name,
                         bool unregistered = false);
  RecordBuilder& Sample(uint64_t ip, std::initializer_list<uint64_t> callchain = {});
  RecordBuilder& Sample(uint64_t ip, std::span<const uint64_t> callchain);
  RecordBuilder& CallchainDeferred(uint64_t cookie, std::initializer_list<uint64_t> callchain);
  // Adds any record of this package, with exactly these values.
  template <class Record>
  RecordBuilder& Add(uint32_t type, uint16_t misc, const Record& record) {
    starts_.push_back(bytes_.size());
    if (!Encode(type, misc, layout_, record, &bytes_)) __builtin_trap();
    return *this;
  }

  const RecordLayout& layout() const { return layout_; }
  const Attr& attr() const { return attr_; }
  // All records so far, without gaps. Views live until the next record is added.
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<RawRecord> records() const;
  RawRecord last() const;
  void Clear();

 private:
  SampleId MakeSampleId() const;
  perf_event::Mmap2 MakeMmap2(uint64_t addr, uint64_t len, uint64_t pgoff,
                              std::string_view filename) const;

  Attr attr_;
  RecordLayout layout_;
  std::vector<std::byte> bytes_;
  std::vector<size_t> starts_;
  uint64_t time_ = 0, id_ = 0, period_ = 1;
  uint32_t pid_ = 0, tid_ = 0, cpu_ = 0;
  uint16_t cpumode_ = kMiscUser;
};

}  // namespace profiler::perf_event
