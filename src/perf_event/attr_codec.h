// perf_event_attr as bytes: in files of other sizes and of the other byte order.
//
// A struct perf_event_attr grows at its end; its `size` says how much of it there is, and what is
// missing is zero. In the other byte order the flags are not just turned: the kernel declares them
// once as a bit-field, which a big-endian compiler numbers from the most significant bit on.
//
//   native     bit 0 disabled, bit 1 inherit, … bits 15–16 precise_ip …
//   foreign    bit 63 disabled, bit 62 inherit, … bits 48–47 precise_ip, high bit still first …
//
// Source: include/uapi/linux/perf_event.h, Linux 7.2.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/status.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_event {

struct DecodedAttr {
  Attr attr;         // native; attr.size as it stands in the bytes, 64 where that is 0 (Linux 2.6)
  size_t bytes = 0;  // how many bytes the attr takes: attr.size
  std::span<const std::byte> unknown_tail;  // beyond sizeof(Attr), as it stands; a view of `bytes`
};

// Reads an attr from the start of `bytes`. `foreign_order`: they are in the other byte order.
// kDataLoss when its size is under 64 or over what there is.
absl::StatusOr<DecodedAttr> ReadAttr(std::span<const std::byte> bytes, bool foreign_order);

// Appends attr.size bytes of it (of SmallestSize when that is 0), what is unknown being zero.
void WriteAttr(const Attr& attr, std::vector<std::byte>* out);

// The same attr in the other byte order, and back.
Attr SwapAttrToNative(const Attr& foreign);
Attr SwapAttrToForeign(const Attr& native);

// For perf_event_open(2): the same bytes, with the smallest size that holds them. What is newer
// than this build's header stays behind.
perf_event_attr ToKernelAttr(const Attr& attr);

}  // namespace profiler::perf_event
