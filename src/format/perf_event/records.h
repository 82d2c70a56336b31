// Structs for every PERF_RECORD_*, decoded. Views (string_view, span) point into the bytes that the
// record was decoded from. The layouts are in record_fields.h.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {

// An unaligned array of u64 in the record's bytes.
class U64Array {
 public:
  U64Array() = default;
  explicit U64Array(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / 8; }
  bool empty() const { return bytes_.size() < 8; }
  uint64_t operator[](size_t i) const {
    uint64_t value;
    __builtin_memcpy(&value, bytes_.data() + i * 8, 8);
    return value;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// Returns the part of a call chain before its user part: the kernel's frames and their markers.
inline U64Array WithoutUserPart(U64Array chain) {
  size_t size = 0;
  while (size < chain.size() && chain[size] != kContextUser &&
         chain[size] != kContextUserDeferred) {
    ++size;
  }
  return U64Array(chain.bytes().first(size * 8));
}

// The fields that sample_id_all adds to the end of every record except SAMPLE. Fields whose bit is
// missing in sample_type are zero.
struct SampleId {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time = 0;
  uint64_t id = 0;  // from ID or IDENTIFIER
  uint64_t stream_id = 0;
  uint32_t cpu = 0;
  uint32_t cpu_reserved = 0;
};

struct Mmap {
  uint32_t pid = 0, tid = 0;
  uint64_t addr = 0, len = 0, pgoff = 0;
  std::string_view filename;
  SampleId sample_id;
};

struct Mmap2 {
  uint32_t pid = 0, tid = 0;
  uint64_t addr = 0, len = 0, pgoff = 0;
  // If misc has kMiscMmapBuildId, `build_id` is set, and the four numbers are zero. Otherwise the
  // four numbers are set, and `build_id` is empty.
  uint32_t maj = 0, min = 0;
  uint64_t ino = 0, ino_generation = 0;
  std::span<const std::byte> build_id;  // at most 20 bytes; empty if there is none
  uint32_t prot = 0, flags = 0;
  std::string_view filename;
  SampleId sample_id;
};

struct Comm {
  uint32_t pid = 0, tid = 0;
  std::string_view comm;
  SampleId sample_id;
};

// FORK and EXIT
struct Task {
  uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  uint64_t time = 0;
  SampleId sample_id;
};

struct Lost {
  uint64_t id = 0, lost = 0;
  SampleId sample_id;
};

struct LostSamples {
  uint64_t lost = 0;
  SampleId sample_id;
};

// THROTTLE and UNTHROTTLE
struct Throttle {
  uint64_t time = 0, id = 0, stream_id = 0;
  SampleId sample_id;
};

struct Ksymbol {
  uint64_t addr = 0;
  uint32_t len = 0;
  uint16_t ksym_type = 0;  // 1 BPF, 2 out of line (trampolines)
  uint16_t flags = 0;      // bit 0: the symbol was removed
  std::string_view name;
  SampleId sample_id;
};

// READ: the counts of an event whose thread has ended (inherit_stat).
struct Read {
  uint32_t pid = 0, tid = 0;
  U64Array values;  // read_values.h names them
  SampleId sample_id;
};

// AUX: new data in the AUX area, written by a tracing unit (Intel PT, CoreSight, SPE …).
struct Aux {
  uint64_t aux_offset = 0, aux_size = 0;  // bytes
  uint64_t flags = 0;  // PERF_AUX_FLAG_*: 1 truncated, 2 overwrite, 4 partial …
  SampleId sample_id;
};

// ITRACE_START: instruction tracing of a thread began.
struct ItraceStart {
  uint32_t pid = 0, tid = 0;
  SampleId sample_id;
};

// SWITCH: the thread of sample_id was switched in, or switched out if misc has kMiscSwitchOut.
struct Switch {
  SampleId sample_id;
};

// SWITCH_CPU_WIDE: like SWITCH, but it also names the thread that ran before this one, or that runs
// after it.
struct SwitchCpuWide {
  uint32_t next_prev_pid = 0, next_prev_tid = 0;
  SampleId sample_id;
};

// NAMESPACES: the namespaces of a thread.
struct Namespaces {
  uint32_t pid = 0, tid = 0;
  U64Array links;  // pairs of dev and inode of: net, uts, ipc, pid, user, mnt, cgroup
  SampleId sample_id;
};

struct BpfEvent {
  uint16_t event_type = 0;  // 1 program loaded, 2 unloaded
  uint16_t flags = 0;
  uint32_t id = 0;
  uint64_t tag = 0;  // eight bytes, never byte-swapped
  SampleId sample_id;
};

// CGROUP: the path of a cgroup, whose id samples contain.
struct Cgroup {
  uint64_t id = 0;
  std::string_view path;
  SampleId sample_id;
};

// TEXT_POKE: the kernel changed its own code.
struct TextPoke {
  uint64_t addr = 0;
  uint16_t old_len = 0, new_len = 0;
  std::span<const std::byte> bytes;  // old_len old bytes, then new_len new bytes
  SampleId sample_id;
};

struct AuxOutputHwId {
  uint64_t hw_id = 0;
  SampleId sample_id;
};

// CALLCHAIN_DEFERRED (6.19): the user part of earlier call chains that end in kContextUserDeferred
// and this cookie, recorded when the thread returned to user space.
struct CallchainDeferred {
  uint64_t cookie = 0;
  U64Array callchain;  // with PERF_CONTEXT_* markers
  SampleId sample_id;
};

// One register set of a sample. Values are in the order of the set bits of `mask`.
struct Registers {
  uint64_t abi = 0;  // PERF_SAMPLE_REGS_ABI_*: 0 none, 1 32-bit, 2 64-bit
  uint64_t mask = 0;
  std::span<const std::byte> values;  // unaligned u64s
};

// A taken branch. `flags` has the bit-field as little-endian machines lay it out: mispredicted:1,
// predicted:1, in_tx:1, abort:1, cycles:16, type:4, spec:2, new_type:4, priv:3.
struct BranchEntry {
  uint64_t from = 0, to = 0, flags = 0;
};

// SAMPLE. Fields whose bit is missing in sample_type are zero or empty.
struct Sample {
  uint64_t ip = 0;
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0;
  uint64_t addr = 0;
  uint64_t id = 0;  // from ID or IDENTIFIER
  uint64_t stream_id = 0;
  uint32_t cpu = 0;
  uint32_t cpu_reserved = 0;
  uint64_t period = 0;
  U64Array read;       // the words of READ; read_values.h names them
  U64Array callchain;  // with PERF_CONTEXT_* markers
  std::span<const std::byte> raw;
  uint64_t branch_hw_index = 0;
  std::span<const std::byte> branches;  // 24 bytes per entry, see BranchEntry
  U64Array branch_counters;             // one word per entry
  Registers user_regs;
  std::span<const std::byte> user_stack;  // the dyn_size bytes that the kernel copied
  uint64_t user_stack_size = 0;           // size that the kernel reserved; at least dyn_size
  uint64_t weight = 0;  // WEIGHT, or the three numbers of WEIGHT_STRUCT in one word
  uint64_t data_src = 0;
  uint64_t transaction = 0;
  Registers intr_regs;
  uint64_t phys_addr = 0;
  uint64_t cgroup = 0;
  uint64_t data_page_size = 0, code_page_size = 0;
  std::span<const std::byte> aux;
  uint16_t misc = 0;  // misc of the record's header; set by Decode
};

}  // namespace profiler::perf_event
