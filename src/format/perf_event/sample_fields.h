// The layouts of PERF_RECORD_SAMPLE and of the sample_id at the end of every other record, each
// written once for reading, writing, measuring and byte-swapping (record_io.h).
//
// Source: perf_output_sample() and __perf_event__output_id_sample() in kernel/events/core.c, Linux
// 7.2. Their order is right; the comment in include/uapi/linux/perf_event.h has AUX and the page
// sizes in the wrong order.
//
// Private to this package: include codec.h.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/record_io.h"
#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

// struct sample_id, only with attr.sample_id_all
//
//   u32 pid, tid     TID
//   u64 time         TIME
//   u64 id           ID
//   u64 stream_id    STREAM_ID
//   u32 cpu, res     CPU
//   u64 id           IDENTIFIER: last, so that its distance from the record's end is fixed
template <class Io, class R>
void SampleIdFields(Io& io, const RecordLayout& layout, R& id) {
  const uint64_t type = layout.sample_type;
  if (type & kSampleTid) {
    io.Value("pid", id.pid);
    io.Value("tid", id.tid);
  }
  if (type & kSampleTime) io.Value("time", id.time);
  if (type & kSampleId) io.Value(Hex("id"), id.id);
  if (type & kSampleStreamId) io.Value(Hex("stream_id"), id.stream_id);
  if (type & kSampleCpu) {
    io.Value("cpu", id.cpu);
    io.Value("cpu_reserved", id.cpu_reserved);
  }
  if (type & kSampleIdentifier) io.Value(Hex("id"), id.id);
}

// struct read_format, in READ records and in samples with READ
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
  if (!(format & kFormatGroup))
    return io.Words({"read", Shown::kReadFormat}, times + entry, values);
  const uint64_t entries = SaturatingProduct(io.PeekWord(values), entry);
  io.Words({"read", Shown::kReadFormat}, std::max(entries, 1 + times + entries),
           values);  // max: the sum may overflow
}

struct RegisterNames {
  FieldName abi, values;
};
inline constexpr RegisterNames kUserRegisterNames = {"user_regs_abi",
                                                     {"user_regs", Shown::kUserRegisters}};
inline constexpr RegisterNames kIntrRegisterNames = {"intr_regs_abi",
                                                     {"intr_regs", Shown::kIntrRegisters}};

// u64 abi; u64 regs[popcount(mask)] unless abi is NONE
template <class Io, class R>
void RegisterFields(Io& io, const RegisterNames& names, uint64_t mask, R& registers) {
  io.Value(names.abi, registers.abi);
  if constexpr (Io::kReads) registers.mask = mask;
  if (registers.abi == kRegsAbiNone) return;
  U64Array values(registers.values);
  io.Words(names.values, std::popcount(mask), values);
  if constexpr (Io::kReads) registers.values = values.bytes();
}

// u64 nr; u64 hw_idx with BRANCH_HW_INDEX; struct perf_branch_entry entries[nr] (from, to, flags);
// u64 counters[nr] with BRANCH_COUNTERS
template <class Io, class R>
void BranchStackFields(Io& io, const RecordLayout& layout, R& sample) {
  const uint64_t nr = io.Count("branch_nr", uint64_t{sample.branches.size() / kBranchEntrySize});
  if (layout.branch_sample_type & kBranchHwIndex)
    io.Value(Hex("branch_hw_index"), sample.branch_hw_index);
  io.Branches("branches", nr, sample.branches);
  if (layout.branch_sample_type & kBranchCounters)
    io.Words(Hex("branch_counters"), nr, sample.branch_counters);
}

// u32 size; char data[size]. The kernel chooses size so that both together are a multiple of 8.
template <class Io, class R>
void RawFields(Io& io, R& sample) {
  const uint32_t padded = static_cast<uint32_t>(FieldSizer::RoundUp(4 + sample.raw.size()) - 4);
  io.Bytes("raw", io.Count("raw_size", padded), sample.raw);
}

// u64 size; char data[size] and u64 dyn_size unless size is 0. dyn_size bytes of data are stack.
template <class Io, class R>
void UserStackFields(Io& io, R& sample) {
  const uint64_t least = FieldSizer::RoundUp(sample.user_stack.size());
  const uint64_t size =
      io.Count("user_stack_size", std::max(uint64_t{sample.user_stack_size}, least));
  if constexpr (Io::kReads) sample.user_stack_size = size;
  if (size == 0) return;
  std::span<const std::byte> reserved = sample.user_stack;
  io.Bytes("user_stack", size, reserved);
  const uint64_t used = io.Count("user_stack_dyn_size", uint64_t{sample.user_stack.size()});
  if constexpr (Io::kReads) {
    sample.user_stack = reserved.first(std::min<uint64_t>(used, reserved.size()));
  }
}

// u64 size; char data[size]
template <class Io, class R>
void AuxFields(Io& io, R& sample) {
  io.Bytes("aux", io.Count("aux_size", uint64_t{FieldSizer::RoundUp(sample.aux.size())}),
           sample.aux);
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
// The kernel declares data_src and the three weights for each byte order. Therefore, read as one
// u64 each, they have the same value on every machine.
//
// The fields above READ have a fixed size, RecordLayout::sample_fixed_size.
template <class Io, class R>
void FixedSampleFields(Io& io, const RecordLayout& layout, R& sample) {
  const uint64_t type = layout.sample_type;
  if (type & kSampleIdentifier) io.Value(Hex("id"), sample.id);
  if (type & kSampleIp) io.Value(Hex("ip"), sample.ip);
  if (type & kSampleTid) {
    io.Value("pid", sample.pid);
    io.Value("tid", sample.tid);
  }
  if (type & kSampleTime) io.Value("time", sample.time);
  if (type & kSampleAddr) io.Value(Hex("addr"), sample.addr);
  if (type & kSampleId) io.Value(Hex("id"), sample.id);
  if (type & kSampleStreamId) io.Value(Hex("stream_id"), sample.stream_id);
  if (type & kSampleCpu) {
    io.Value("cpu", sample.cpu);
    io.Value("cpu_reserved", sample.cpu_reserved);
  }
  if (type & kSamplePeriod) io.Value("period", sample.period);
}

template <class Io, class R>
void VariableSampleFields(Io& io, const RecordLayout& layout, R& sample) {
  const uint64_t type = layout.sample_type;
  if (type & kSampleRead) ReadFormatFields(io, layout.read_format, sample.read);
  if (type & kSampleCallchain) {
    io.Words({"callchain", Shown::kCallchain},
             io.Count("callchain_nr", uint64_t{sample.callchain.size()}), sample.callchain);
  }
  constexpr uint64_t kUpToCallchain = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                                      kSampleAddr | kSampleId | kSampleStreamId | kSampleCpu |
                                      kSamplePeriod | kSampleRead | kSampleCallchain;
  if ((type & ~kUpToCallchain) == 0) return;  // most recordings need no more checks
  if (type & kSampleRaw) RawFields(io, sample);
  if (type & kSampleBranchStack) BranchStackFields(io, layout, sample);
  if (type & kSampleRegsUser)
    RegisterFields(io, kUserRegisterNames, layout.user_regs_mask, sample.user_regs);
  if (type & kSampleStackUser) UserStackFields(io, sample);
  if (type & (kSampleWeight | kSampleWeightStruct))
    io.Value({"weight", Shown::kWeight}, sample.weight);
  if (type & kSampleDataSrc) io.Value({"data_src", Shown::kDataSource}, sample.data_src);
  if (type & kSampleTransaction) io.Value(Hex("transaction"), sample.transaction);
  if (type & kSampleRegsIntr)
    RegisterFields(io, kIntrRegisterNames, layout.intr_regs_mask, sample.intr_regs);
  if (type & kSamplePhysAddr) io.Value(Hex("phys_addr"), sample.phys_addr);
  if (type & kSampleCgroup) io.Value("cgroup", sample.cgroup);
  if (type & kSampleDataPageSize) io.Value(Hex("data_page_size"), sample.data_page_size);
  if (type & kSampleCodePageSize) io.Value(Hex("code_page_size"), sample.code_page_size);
  if (type & kSampleAux) AuxFields(io, sample);
}

template <class Io, class R>
void SampleFields(Io& io, const RecordLayout& layout, R& sample) {
  FixedSampleFields(io, layout, sample);
  VariableSampleFields(io, layout, sample);
}

}  // namespace profiler::perf_event
