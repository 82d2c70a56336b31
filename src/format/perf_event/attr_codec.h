// Reads and writes perf_event_attr structs of any size and either byte order.
//
// A struct perf_event_attr grows at its end; its `size` says how much of it is stored, and missing
// fields are zero. Flags in the other byte order need more than a byte swap: the kernel declares
// them as a bit-field, which a big-endian compiler numbers from the most significant bit on.
//
//   native   bit 0 disabled, bit 1 inherit, … bits 15–16 precise_ip …
//   foreign  bit 63 disabled, bit 62 inherit, … bits 48–47 precise_ip (its high bit is bit 48) …
//
// Source: include/uapi/linux/perf_event.h, Linux 7.2.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_event {

struct DecodedAttr {
  // The attr in native byte order. attr.size is the stored size, or 64 if the stored size is 0
  // (Linux 2.6).
  Attr attr;
  size_t bytes = 0;                         // size of the attr in bytes: attr.size
  std::span<const std::byte> unknown_tail;  // stored bytes beyond sizeof(Attr), a view
};

// Reads an attr from the start of `bytes`. `foreign_order`: they are in the other byte order.
// Error: kDataLoss if its size is below 64 or beyond the end of `bytes`.
absl::StatusOr<DecodedAttr> ReadAttr(std::span<const std::byte> bytes, bool foreign_order);

// Appends attr.size bytes, or SmallestSize if that is 0. Bytes beyond sizeof(Attr) are zero.
void WriteAttr(const Attr& attr, std::vector<std::byte>* out);

// Convert an attr from and to the other byte order.
Attr SwapAttrToNative(const Attr& foreign);
Attr SwapAttrToForeign(const Attr& native);

// Converts for perf_event_open(2), with the smallest size that includes all non-zero fields. Fields
// that this build's kernel header lacks are dropped.
perf_event_attr ToKernelAttr(const Attr& attr);

}  // namespace profiler::perf_event
