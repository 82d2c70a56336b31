// perf_event_attr: how an event was opened, and therefore how its records are laid out.

#pragma once

#include <cstddef>
#include <cstdint>

namespace profiler::perf_event {

// Bits of Attr::flags, as the kernel's bit-field lays them out on a little-endian machine.
enum AttrFlag : uint64_t {
  kAttrDisabled = 1ull << 0,
  kAttrInherit = 1ull << 1,
  kAttrPinned = 1ull << 2,
  kAttrExclusive = 1ull << 3,
  kAttrExcludeUser = 1ull << 4,
  kAttrExcludeKernel = 1ull << 5,
  kAttrExcludeHv = 1ull << 6,
  kAttrExcludeIdle = 1ull << 7,
  kAttrMmap = 1ull << 8,
  kAttrComm = 1ull << 9,
  kAttrFreq = 1ull << 10,
  kAttrInheritStat = 1ull << 11,
  kAttrEnableOnExec = 1ull << 12,
  kAttrTask = 1ull << 13,
  kAttrWatermark = 1ull << 14,
  // Bits 15 and 16 are a number, precise_ip.
  kAttrMmapData = 1ull << 17,
  kAttrSampleIdAll = 1ull << 18,
  kAttrExcludeHost = 1ull << 19,
  kAttrExcludeGuest = 1ull << 20,
  kAttrExcludeCallchainKernel = 1ull << 21,
  kAttrExcludeCallchainUser = 1ull << 22,
  kAttrMmap2 = 1ull << 23,
  kAttrCommExec = 1ull << 24,
  kAttrUseClockid = 1ull << 25,
  kAttrContextSwitch = 1ull << 26,
  kAttrWriteBackward = 1ull << 27,
  kAttrNamespaces = 1ull << 28,
  kAttrKsymbol = 1ull << 29,
  kAttrBpfEvent = 1ull << 30,
  kAttrAuxOutput = 1ull << 31,
  kAttrCgroup = 1ull << 32,
  kAttrTextPoke = 1ull << 33,
  kAttrBuildId = 1ull << 34,
  kAttrInheritThread = 1ull << 35,
  kAttrRemoveOnExec = 1ull << 36,
  kAttrSigtrap = 1ull << 37,
  kAttrDeferCallchain = 1ull << 38,
  kAttrDeferOutput = 1ull << 39,
};

// An attr with the same bytes as the kernel's struct perf_event_attr (Linux 7.2). If `size` is set,
// it can be passed to perf_event_open(2). If a file has a shorter struct, the missing fields are
// zero.
struct Attr {
  uint32_t type = 0;
  uint32_t size = 0;
  uint64_t config = 0;
  uint64_t sample_period = 0;  // with kAttrFreq: sample_freq
  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t flags = 0;
  uint32_t wakeup_events = 0;  // with kAttrWatermark: wakeup_watermark, in bytes
  uint32_t bp_type = 0;
  uint64_t config1 = 0;  // or bp_addr, kprobe_func, uprobe_path
  uint64_t config2 = 0;  // or bp_len, kprobe_addr, probe_offset
  uint64_t branch_sample_type = 0;
  uint64_t sample_regs_user = 0;
  uint32_t sample_stack_user = 0;
  int32_t clockid = 0;
  uint64_t sample_regs_intr = 0;
  uint32_t aux_watermark = 0;
  uint16_t sample_max_stack = 0;
  uint16_t reserved_2 = 0;
  uint32_t aux_sample_size = 0;
  uint32_t aux_action = 0;
  uint64_t sig_data = 0;
  uint64_t config3 = 0;
  uint64_t config4 = 0;

  bool has(AttrFlag flag) const { return (flags & flag) != 0; }
  bool operator==(const Attr&) const = default;
};
static_assert(sizeof(Attr) == 144);
inline constexpr size_t kAttrSizeVer0 = 64;

// precise_ip, the allowed skid: 0 arbitrary … 3 none.
inline constexpr int kAttrPreciseIpShift = 15;
inline constexpr uint64_t kAttrPreciseIpMask = 3ull << kAttrPreciseIpShift;

// Returns the smallest published size (64, 72, 80, 96, 104, 112, 120, 128, 136, 144) that includes
// every non-zero field.
uint32_t SmallestSize(const Attr& attr);

}  // namespace profiler::perf_event
