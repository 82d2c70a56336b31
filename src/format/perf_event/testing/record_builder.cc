#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::perf_event {

Attr SampleAttr(uint64_t sample_type) {
  return Attr{.type = kTypeSoftware,
              .size = sizeof(Attr),
              .sample_period = 1,
              .sample_type = sample_type,
              .flags = kAttrSampleIdAll};
}

RecordBuilder::RecordBuilder(const Attr& attr) : attr_(attr), layout_(attr) {}

RecordBuilder& RecordBuilder::At(uint64_t time) {
  time_ = time;
  return *this;
}

RecordBuilder& RecordBuilder::By(uint32_t pid, uint32_t tid) {
  pid_ = pid;
  tid_ = tid;
  return *this;
}

RecordBuilder& RecordBuilder::On(uint32_t cpu) {
  cpu_ = cpu;
  return *this;
}

RecordBuilder& RecordBuilder::Id(uint64_t id) {
  id_ = id;
  return *this;
}

RecordBuilder& RecordBuilder::Period(uint64_t period) {
  period_ = period;
  return *this;
}

RecordBuilder& RecordBuilder::Mode(uint16_t cpumode) {
  cpumode_ = cpumode;
  return *this;
}

SampleId RecordBuilder::MakeSampleId() const {
  return {.pid = pid_, .tid = tid_, .time = time_, .id = id_, .cpu = cpu_};
}

RecordBuilder& RecordBuilder::Mmap(uint64_t addr, uint64_t len, uint64_t pgoff,
                                   std::string_view filename) {
  return Add(kRecordMmap, cpumode_,
             perf_event::Mmap{.pid = pid_,
                              .tid = tid_,
                              .addr = addr,
                              .len = len,
                              .pgoff = pgoff,
                              .filename = filename,
                              .sample_id = MakeSampleId()});
}

Mmap2 RecordBuilder::MakeMmap2(uint64_t addr, uint64_t len, uint64_t pgoff,
                               std::string_view filename) const {
  constexpr uint32_t kReadExecute = 5;
  return {.pid = pid_,
          .tid = tid_,
          .addr = addr,
          .len = len,
          .pgoff = pgoff,
          .prot = kReadExecute,
          .filename = filename,
          .sample_id = MakeSampleId()};
}

RecordBuilder& RecordBuilder::Mmap2(uint64_t addr, uint64_t len, uint64_t pgoff,
                                    std::string_view filename) {
  return Add(kRecordMmap2, cpumode_, MakeMmap2(addr, len, pgoff, filename));
}

RecordBuilder& RecordBuilder::Mmap2(uint64_t addr, uint64_t len, uint64_t pgoff,
                                    std::string_view filename,
                                    std::span<const std::byte> build_id) {
  perf_event::Mmap2 mmap = MakeMmap2(addr, len, pgoff, filename);
  mmap.build_id = build_id;
  return Add(kRecordMmap2, cpumode_ | kMiscMmapBuildId, mmap);
}

RecordBuilder& RecordBuilder::DataMmap2(uint64_t addr, uint64_t len, uint64_t pgoff,
                                        std::string_view filename) {
  perf_event::Mmap2 mmap = MakeMmap2(addr, len, pgoff, filename);
  mmap.prot = 1;
  return Add(kRecordMmap2, cpumode_ | kMiscMmapData, mmap);
}

RecordBuilder& RecordBuilder::Comm(std::string_view comm, bool exec) {
  return Add(kRecordComm, exec ? kMiscCommExec : 0,
             perf_event::Comm{.pid = pid_, .tid = tid_, .comm = comm, .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Fork(uint32_t child_pid, uint32_t child_tid) {
  return Add(kRecordFork, 0,
             Task{.pid = child_pid,
                  .ppid = pid_,
                  .tid = child_tid,
                  .ptid = tid_,
                  .time = time_,
                  .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Exit() {
  return Add(kRecordExit, 0,
             Task{.pid = pid_,
                  .ppid = pid_,
                  .tid = tid_,
                  .ptid = tid_,
                  .time = time_,
                  .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Lost(uint64_t lost) {
  return Add(kRecordLost, 0,
             perf_event::Lost{.id = id_, .lost = lost, .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::LostSamples(uint64_t lost) {
  return Add(kRecordLostSamples, 0,
             perf_event::LostSamples{.lost = lost, .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Throttle() {
  return Add(kRecordThrottle, 0,
             perf_event::Throttle{.time = time_, .id = id_, .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Ksymbol(uint64_t addr, uint32_t len, std::string_view name,
                                      bool unregistered) {
  return Add(kRecordKsymbol, 0,
             perf_event::Ksymbol{.addr = addr,
                                 .len = len,
                                 .ksym_type = 1,
                                 .flags = static_cast<uint16_t>(unregistered),
                                 .name = name,
                                 .sample_id = MakeSampleId()});
}

RecordBuilder& RecordBuilder::Sample(uint64_t ip, std::initializer_list<uint64_t> callchain) {
  return Sample(ip, std::span(callchain.begin(), callchain.size()));
}

RecordBuilder& RecordBuilder::Sample(uint64_t ip, std::span<const uint64_t> callchain) {
  return Add(kRecordSample, cpumode_,
             perf_event::Sample{.ip = ip,
                                .pid = pid_,
                                .tid = tid_,
                                .time = time_,
                                .id = id_,
                                .cpu = cpu_,
                                .period = period_,
                                .callchain = U64Array(std::as_bytes(callchain))});
}

RecordBuilder& RecordBuilder::CallchainDeferred(uint64_t cookie,
                                                std::initializer_list<uint64_t> callchain) {
  const std::span<const uint64_t> words(callchain.begin(), callchain.size());
  return Add(kRecordCallchainDeferred, 0,
             perf_event::CallchainDeferred{.cookie = cookie,
                                           .callchain = U64Array(std::as_bytes(words)),
                                           .sample_id = MakeSampleId()});
}

std::vector<RawRecord> RecordBuilder::records() const {
  std::vector<RawRecord> records;
  for (size_t i = 0; i < starts_.size(); ++i) {
    const size_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
    records.emplace_back(std::span(bytes_).subspan(starts_[i], end - starts_[i]));
  }
  return records;
}

RawRecord RecordBuilder::last() const {
  return RawRecord(std::span(bytes_).subspan(starts_.back()));
}

void RecordBuilder::Clear() {
  bytes_.clear();
  starts_.clear();
}

}  // namespace profiler::perf_event
