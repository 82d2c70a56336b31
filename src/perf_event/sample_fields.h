// How PERF_RECORD_SAMPLE and the sample_id behind every other record are laid out, written once for
// reading, writing, measuring and byte-swapping (record_io.h).
//
// Source: perf_output_sample() and __perf_event__output_id_sample() in kernel/events/core.c,
// Linux 7.2. The order there is the truth; the comment in include/uapi/linux/perf_event.h has AUX
// and the page sizes the wrong way round.
//
// Private to this package: include codec.h.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "src/perf_event/abi.h"
#include "src/perf_event/codec.h"
#include "src/perf_event/record_io.h"
#include "src/perf_event/records.h"

namespace profiler::perf_event {

// struct sample_id, only with attr.sample_id_all
//
//   u32 pid, tid     TID
//   u64 time         TIME
//   u64 id           ID
//   u64 stream_id    STREAM_ID
//   u32 cpu, res     CPU
//   u64 id           IDENTIFIER: last, so that it is found from the end whatever else there is
template <class Io, class R>
void SampleIdFields(Io& io, const RecordLayout& layout, R& id) {
  const uint64_t type = layout.sample_type;
  if (type & kSampleTid) {
    io.Value(id.pid);
    io.Value(id.tid);
  }
  if (type & kSampleTime) io.Value(id.time);
  if (type & kSampleId) io.Value(id.id);
  if (type & kSampleStreamId) io.Value(id.stream_id);
  if (type & kSampleCpu) {
    io.Value(id.cpu);
    io.Value(id.cpu_reserved);
  }
  if (type & kSampleIdentifier) io.Value(id.id);
}

// struct read_format, of READ records and of samples with READ
//
//   without PERF_FORMAT_GROUP          with PERF_FORMAT_GROUP
//   u64 value                          u64 nr
//   u64 time_enabled  TOTAL_TIME_E…    u64 time_enabled  TOTAL_TIME_ENABLED
//   u64 time_running  TOTAL_TIME_R…    u64 time_running  TOTAL_TIME_RUNNING
//   u64 id            ID               { u64 value
//   u64 lost          LOST               u64 id          ID
//                                        u64 lost        LOST } [nr]
template <class Io, class Array>
void ReadFormatFields(Io& io, uint64_t format, Array& values) {
  const uint64_t times =
      std::popcount(format & (kFormatTotalTimeEnabled | kFormatTotalTimeRunning));
  const uint64_t entry = 1 + std::popcount(format & (kFormatId | kFormatLost));
  if (!(format & kFormatGroup)) return io.Words(times + entry, values);
  const uint64_t entries = SaturatingProduct(io.PeekWord(values), entry);
  io.Words(std::max(entries, 1 + times + entries), values);  // the larger one unless it wrapped
}

// u64 abi; u64 regs[popcount(mask)] unless abi is NONE
template <class Io, class R>
void RegisterFields(Io& io, uint64_t mask, R& registers) {
  io.Value(registers.abi);
  if constexpr (Io::kReads) registers.mask = mask;
  if (registers.abi == kRegsAbiNone) return;
  U64Array values(registers.values);
  io.Words(std::popcount(mask), values);
  if constexpr (Io::kReads) registers.values = values.bytes();
}

// u64 nr; u64 hw_idx with BRANCH_HW_INDEX; struct perf_branch_entry entries[nr] (from, to, flags);
// u64 counters[nr] with BRANCH_COUNTERS
template <class Io, class R>
void BranchStackFields(Io& io, const RecordLayout& layout, R& sample) {
  const uint64_t nr = io.Count(uint64_t{sample.branches.size() / kBranchEntrySize});
  if (layout.branch_sample_type & kBranchHwIndex) io.Value(sample.branch_hw_index);
  io.Branches(nr, sample.branches);
  if (layout.branch_sample_type & kBranchCounters) io.Words(nr, sample.branch_counters);
}

// u32 size; char data[size]. The kernel chooses size so that both together are a multiple of 8.
template <class Io, class R>
void RawFields(Io& io, R& sample) {
  const uint32_t padded = static_cast<uint32_t>(FieldSizer::RoundUp(4 + sample.raw.size()) - 4);
  io.Bytes(io.Count(padded), sample.raw);
}

// u64 size; char data[size] and u64 dyn_size unless size is 0. dyn_size bytes of data are stack.
template <class Io, class R>
void UserStackFields(Io& io, R& sample) {
  const uint64_t least = FieldSizer::RoundUp(sample.user_stack.size());
  const uint64_t size = io.Count(std::max(uint64_t{sample.user_stack_size}, least));
  if constexpr (Io::kReads) sample.user_stack_size = size;
  if (size == 0) return;
  std::span<const std::byte> reserved = sample.user_stack;
  io.Bytes(size, reserved);
  const uint64_t used = io.Count(uint64_t{sample.user_stack.size()});
  if constexpr (Io::kReads) {
    sample.user_stack = reserved.first(std::min<uint64_t>(used, reserved.size()));
  }
}

// u64 size; char data[size]
template <class Io, class R>
void AuxFields(Io& io, R& sample) {
  io.Bytes(io.Count(uint64_t{FieldSizer::RoundUp(sample.aux.size())}), sample.aux);
}

// PERF_RECORD_SAMPLE
//
//   u64 id          IDENTIFIER          u64 nr, ips[nr]             CALLCHAIN
//   u64 ip          IP                  u32 size, char data[size]   RAW
//   u32 pid, tid    TID                 branch stack                BRANCH_STACK
//   u64 time        TIME                registers                   REGS_USER
//   u64 addr        ADDR                user stack                  STACK_USER
//   u64 id          ID                  u64 weight                  WEIGHT or WEIGHT_STRUCT
//   u64 stream_id   STREAM_ID           u64 data_src                DATA_SRC
//   u32 cpu, res    CPU                 u64 transaction             TRANSACTION
//   u64 period      PERIOD              registers                   REGS_INTR
//   read_format     READ                u64 phys_addr               PHYS_ADDR
//   (continues right)                   u64 cgroup                  CGROUP
//                                       u64 data_page_size          DATA_PAGE_SIZE
//                                       u64 code_page_size          CODE_PAGE_SIZE
//                                       u64 size, char data[size]   AUX
//
// data_src and the three weights are declared for both byte orders, so as one u64 each they have
// the same value everywhere.
template <class Io, class R>
void SampleFields(Io& io, const RecordLayout& layout, R& sample) {
  const uint64_t type = layout.sample_type;
  if (type & kSampleIdentifier) io.Value(sample.id);
  if (type & kSampleIp) io.Value(sample.ip);
  if (type & kSampleTid) {
    io.Value(sample.pid);
    io.Value(sample.tid);
  }
  if (type & kSampleTime) io.Value(sample.time);
  if (type & kSampleAddr) io.Value(sample.addr);
  if (type & kSampleId) io.Value(sample.id);
  if (type & kSampleStreamId) io.Value(sample.stream_id);
  if (type & kSampleCpu) {
    io.Value(sample.cpu);
    io.Value(sample.cpu_reserved);
  }
  if (type & kSamplePeriod) io.Value(sample.period);
  if (type & kSampleRead) ReadFormatFields(io, layout.read_format, sample.read);
  if (type & kSampleCallchain) {
    io.Words(io.Count(uint64_t{sample.callchain.size()}), sample.callchain);
  }
  constexpr uint64_t kUpToCallchain = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                                      kSampleAddr | kSampleId | kSampleStreamId | kSampleCpu |
                                      kSamplePeriod | kSampleRead | kSampleCallchain;
  if ((type & ~kUpToCallchain) == 0) return;  // most recordings: saves the look at the other bits
  if (type & kSampleRaw) RawFields(io, sample);
  if (type & kSampleBranchStack) BranchStackFields(io, layout, sample);
  if (type & kSampleRegsUser) RegisterFields(io, layout.user_regs_mask, sample.user_regs);
  if (type & kSampleStackUser) UserStackFields(io, sample);
  if (type & (kSampleWeight | kSampleWeightStruct)) io.Value(sample.weight);
  if (type & kSampleDataSrc) io.Value(sample.data_src);
  if (type & kSampleTransaction) io.Value(sample.transaction);
  if (type & kSampleRegsIntr) RegisterFields(io, layout.intr_regs_mask, sample.intr_regs);
  if (type & kSamplePhysAddr) io.Value(sample.phys_addr);
  if (type & kSampleCgroup) io.Value(sample.cgroup);
  if (type & kSampleDataPageSize) io.Value(sample.data_page_size);
  if (type & kSampleCodePageSize) io.Value(sample.code_page_size);
  if (type & kSampleAux) AuxFields(io, sample);
}

}  // namespace profiler::perf_event
