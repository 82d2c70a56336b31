#include "src/format/perf_event/attr_codec.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/format/perf_event/record_io.h"

namespace profiler::perf_event {
namespace {

// Swaps all fields except the flags.
void SwapPlainFields(Attr& attr) {
  const auto swap = [](auto&... fields) { ((fields = SwapBytes(fields)), ...); };
  swap(attr.type, attr.size, attr.config, attr.sample_period, attr.sample_type, attr.read_format,
       attr.wakeup_events, attr.bp_type, attr.config1, attr.config2, attr.branch_sample_type,
       attr.sample_regs_user, attr.sample_stack_user, attr.sample_regs_intr, attr.aux_watermark,
       attr.sample_max_stack, attr.reserved_2, attr.aux_sample_size, attr.aux_action, attr.sig_data,
       attr.config3, attr.config4);
  attr.clockid = static_cast<int32_t>(SwapBytes(static_cast<uint32_t>(attr.clockid)));
}

uint64_t ReverseBits(uint64_t value) {
  uint64_t reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= ((value >> bit) & 1) << (63 - bit);
  return reversed;
}

// Swaps the two bits of precise_ip back, because they are a number and keep their order.
uint64_t SwapPreciseIpBits(uint64_t flags) {
  const uint64_t low = (flags >> kAttrPreciseIpShift) & 1;
  const uint64_t high = (flags >> (kAttrPreciseIpShift + 1)) & 1;
  return (flags & ~kAttrPreciseIpMask) | (low << (kAttrPreciseIpShift + 1)) |
         (high << kAttrPreciseIpShift);
}

}  // namespace

uint32_t SmallestSize(const Attr& attr) {
  constexpr uint32_t kSizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
  const std::span<const std::byte> bytes = BytesOf(attr);
  size_t used = bytes.size();
  while (used > kAttrSizeVer0 && bytes[used - 1] == std::byte{0}) --used;
  for (uint32_t size : kSizes) {
    if (size >= used) return size;
  }
  return sizeof(Attr);
}

Attr SwapAttrToNative(const Attr& foreign) {
  Attr attr = foreign;
  SwapPlainFields(attr);
  attr.flags = SwapPreciseIpBits(ReverseBits(SwapBytes(foreign.flags)));
  return attr;
}

Attr SwapAttrToForeign(const Attr& native) {
  Attr attr = native;
  SwapPlainFields(attr);
  attr.flags = SwapBytes(ReverseBits(SwapPreciseIpBits(native.flags)));
  return attr;
}

absl::StatusOr<DecodedAttr> ReadAttr(std::span<const std::byte> bytes, bool foreign_order) {
  Attr attr;
  if (bytes.size() < kAttrSizeVer0) {
    return absl::DataLossError(
        absl::StrCat("perf_event_attr: ", bytes.size(), " bytes are left, at least 64 are needed"));
  }
  uint32_t size;
  std::memcpy(&size, bytes.data() + offsetof(Attr, size), sizeof(size));
  if (foreign_order) size = SwapBytes(size);
  if (size == 0) size = kAttrSizeVer0;
  if (size < kAttrSizeVer0 || size > bytes.size()) {
    return absl::DataLossError(absl::StrCat("perf_event_attr: size ", size, " where 64 to ",
                                            bytes.size(), " are possible"));
  }
  const size_t known = std::min<size_t>(size, sizeof(Attr));
  std::memcpy(&attr, bytes.data(), known);
  if (foreign_order) attr = SwapAttrToNative(attr);
  attr.size = size;
  return DecodedAttr{attr, size, bytes.subspan(known, size - known)};
}

void WriteAttr(const Attr& attr, std::vector<std::byte>* out) {
  Attr sized = attr;
  if (sized.size == 0) sized.size = SmallestSize(attr);
  const size_t start = out->size();
  out->resize(start + sized.size);
  std::memcpy(out->data() + start, &sized, std::min<size_t>(sized.size, sizeof(Attr)));
}

perf_event_attr ToKernelAttr(const Attr& attr) {
  constexpr size_t kKnown = std::min(sizeof(perf_event_attr), sizeof(Attr));
  perf_event_attr out{};
  std::memcpy(&out, &attr, kKnown);
  out.size = std::min<uint32_t>(SmallestSize(attr), kKnown);
  return out;
}

}  // namespace profiler::perf_event
