#include "symbolize/hotspot/class_unloads.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "symbolize/elf/elf_image.h"
#include "symbolize/hotspot/code_cache.h"

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint32_t kMagic = 0xc0c0feca;  // in memory: ca fe c0 c0
constexpr uint32_t kMostTries = 16;
constexpr uint32_t kLargest = 1 << 20, kMostEntries = 1 << 14;
constexpr std::array<std::string_view, 2> kNames = {"java.cls.unloadedClasses",
                                                    "java.cls.sharedUnloadedClasses"};
// Offsets of fields in the prologue and in an entry.
constexpr uint64_t kUsed = 8, kEntryOffset = 24, kEntryCount = 28, kPrologueSize = 32;
constexpr uint64_t kNameOffset = 4, kDataOffset = 16;

}  // namespace

void ClassUnloads::Look() {
  if (addresses_[0] == 0) FindCounters();
  const std::optional<Counts> counts = Read();
  if (!counts) {
    since_.reset();
  } else if (!since_ || *counts != counts_) {
    counts_ = *counts;
    since_ = live_.Now();
  }
}

void ClassUnloads::FindCounters() {
  if (!layout_.counters || tries_ >= kMostTries) return;
  ++tries_;
  const auto start = live_.Value<uint64_t>(*layout_.counters);
  if (!start || *start == 0) return;
  const auto used = live_.Value<uint32_t>(*start + kUsed);
  if (!used || *used < kPrologueSize || *used > kLargest) return;
  std::vector<std::byte> memory(*used);
  if (!live_.Read(*start, memory)) return;
  const auto word = [&](uint64_t at) { return FieldOf<uint32_t>(memory, at).value_or(0); };
  if (word(0) != kMagic) return;
  std::array<uint64_t, 2> addresses{};
  uint64_t entry = word(kEntryOffset);
  const uint32_t count = std::min(word(kEntryCount), kMostEntries);
  for (uint32_t i = 0; i < count && entry < memory.size(); ++i) {
    const uint64_t size = word(entry), name = entry + word(entry + kNameOffset);
    if (size == 0 || name >= memory.size()) return;
    const std::string_view text = StringAt(memory, name);
    for (size_t at = 0; at < kNames.size(); ++at) {
      if (text == kNames[at]) addresses[at] = *start + entry + word(entry + kDataOffset);
    }
    entry += size;
  }
  if (addresses[0] != 0 && addresses[1] != 0) addresses_ = addresses;
}

std::optional<ClassUnloads::Counts> ClassUnloads::Read() {
  if (addresses_[0] == 0) return std::nullopt;
  Counts counts{};
  std::array<ProcessMemory::Piece, 2> pieces;
  for (size_t i = 0; i < counts.size(); ++i) {
    pieces[i] = {addresses_[i], std::as_writable_bytes(std::span(&counts[i], 1))};
  }
  if (live_.ReadEach(pieces) < pieces.size()) return std::nullopt;
  return counts;
}

}  // namespace profiler::symbolize::hotspot
