#include "symbolize/unwind/fde_index.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "symbolize/unwind/dwarf_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint8_t kHeaderVersion = 1;

// Largest number of entries that Scan reads: ten times as many as the largest programs have.
constexpr uint64_t kMostScanned = uint64_t{1} << 24;

bool FitsInt32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

}  // namespace

// The header has: u8 version, u8 encoding of the pointer, u8 encoding of the count, u8 encoding of
// the table, pointer to .eh_frame, count, table.
std::optional<FdeIndex> FdeIndex::FromHeader(std::span<const std::byte> header, uint64_t address,
                                             const FrameSection& section) {
  DwarfReader reader(header, section.address_size());
  if (reader.Read<uint8_t>() != kHeaderVersion) return std::nullopt;
  const auto pointer_encoding = reader.Read<uint8_t>();
  const auto count_encoding = reader.Read<uint8_t>();
  const auto table_encoding = reader.Read<uint8_t>();
  if (table_encoding != (kPointerDataRelative | kPointerSigned4)) return std::nullopt;
  if (pointer_encoding != kPointerOmitted) reader.Pointer(pointer_encoding, address, address);
  if (count_encoding == kPointerOmitted) return std::nullopt;
  const uint64_t count = reader.Pointer(count_encoding, address, address);
  if (!reader.ok() || count == 0 || count > reader.remaining() / sizeof(Entry)) return std::nullopt;
  FdeIndex index;
  index.in_file_ = reader.ReadBytes(count * sizeof(Entry));
  index.count_ = count;
  index.base_ = address;
  index.fde_base_ = address - section.address();
  return index;
}

FdeIndex FdeIndex::Scan(const FrameSection& section, uint64_t most) {
  FdeIndex index;
  std::optional<uint64_t> base;
  for (uint64_t offset = 0;
       FitsInt32(static_cast<int64_t>(offset)) && index.scanned_ < std::min(most, kMostScanned);) {
    ++index.scanned_;
    if (const std::optional<FunctionEntry> function = section.ReadFunction(offset)) {
      // Linkers set size or start of dropped functions to 0.
      if (function->size != 0 && function->start != 0) {
        if (!base) base = function->start;
        const auto distance = static_cast<int64_t>(function->start - *base);
        if (FitsInt32(distance)) {
          index.own_.push_back({static_cast<int32_t>(distance), static_cast<int32_t>(offset)});
        }
      }
    }
    const std::optional<uint64_t> next = section.Next(offset);
    if (!next) break;
    offset = *next;
  }
  std::stable_sort(index.own_.begin(), index.own_.end(),
                   [](const Entry& a, const Entry& b) { return a.start < b.start; });
  index.own_.shrink_to_fit();
  index.count_ = index.own_.size();
  index.base_ = base.value_or(0);
  return index;
}

FdeIndex::Entry FdeIndex::EntryAt(size_t i) const {
  if (in_file_.empty()) return own_[i];
  Entry entry;
  std::memcpy(&entry, in_file_.data() + i * sizeof(Entry), sizeof(Entry));
  return entry;
}

std::optional<size_t> FdeIndex::Find(uint64_t address) const {
  const auto distance = static_cast<int64_t>(address - base_);
  // Finds the first function after `address`.
  size_t low = 0;
  for (size_t high = count_; low < high;) {
    const size_t middle = low + (high - low) / 2;
    if (EntryAt(middle).start <= distance) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return low - 1;
}

}  // namespace profiler::symbolize
