#include "symbolize/hotspot/code_cache.h"

#include <algorithm>
#include <utility>

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint64_t kWord = 8;
constexpr uint32_t kMostHeaps = 16;
constexpr uint8_t kFreeSegment = 0xff;
// A block of the largest size has fewer steps back than this, of 254 segments each.
constexpr int kMostSteps = 4096;
constexpr uint64_t kLargestFrame = uint64_t{1} << 20;

Blob::Kind KindOf(const Blob& blob) {
  if (blob.name == "nmethod" || blob.name == "native nmethod") return Blob::Kind::kCompiled;
  if (blob.name == "Interpreter") return Blob::Kind::kInterpreter;
  return blob.frame_bytes != 0 ? Blob::Kind::kFramed : Blob::Kind::kFrameless;
}

}  // namespace

const CodeCache::Known* CodeCache::Find(uint64_t pc) {
  auto it = known_.upper_bound(pc);
  const bool is_known = it != known_.end() && it->second.blob.HasCode(pc);
  if (is_known && it->second.look == look_) return &it->second;
  const std::optional<uint64_t> address = FindBlob(pc);
  std::optional<Blob> blob = address ? ReadBlob(*address) : std::nullopt;
  if (!blob || !blob->HasCode(pc)) return nullptr;
  if (is_known && it->second.blob.address == blob->address) {
    // Its state changes, its method and the like do not.
    const Blob& known = it->second.blob;
    if (known.code_end == blob->code_end && known.code_begin == blob->code_begin &&
        known.method == blob->method && known.name == blob->name &&
        known.Field<int32_t>(layout_.nmethod_compile_id) ==
            blob->Field<int32_t>(layout_.nmethod_compile_id)) {
      it->second.look = look_;
      return &it->second;
    }
  }
  if (known_.size() >= kMostBlobs) known_.clear();
  // What it overlaps is gone.
  it = known_.upper_bound(blob->code_begin);
  while (it != known_.end() && it->second.blob.code_begin < blob->code_end) it = known_.erase(it);
  const uint64_t end = blob->code_end;
  Known& known = known_[end];
  known = {*std::move(blob), ++last_number_, look_};
  return &known;
}

const CodeCache::Heap* CodeCache::HeapOf(uint64_t pc) {
  const auto has_code = [pc](const Heap& heap) { return pc >= heap.low && pc < heap.high; };
  auto found = std::ranges::find_if(heaps_, has_code);
  // They stay where they are, and grow.
  if (found == heaps_.end() && std::exchange(heaps_look_, look_) != look_) {
    ReadHeaps();
    found = std::ranges::find_if(heaps_, has_code);
  }
  return found == heaps_.end() ? nullptr : &*found;
}

void CodeCache::ReadHeaps() {
  heaps_.clear();
  const auto array = memory_.Value<uint64_t>(layout_.heaps);
  if (!array || *array == 0) return;
  const auto length = memory_.Value<uint32_t>(*array + layout_.array_length);
  const auto data = memory_.Value<uint64_t>(*array + layout_.array_data);
  if (!length || !data || *length > kMostHeaps) return;
  for (uint32_t i = 0; i < *length; ++i) {
    const auto heap = memory_.Value<uint64_t>(*data + i * kWord);
    if (!heap) return;
    const auto low = memory_.Value<uint64_t>(*heap + layout_.heap_memory + layout_.space_low);
    const auto high = memory_.Value<uint64_t>(*heap + layout_.heap_memory + layout_.space_high);
    const auto map = memory_.Value<uint64_t>(*heap + layout_.heap_map + layout_.space_low);
    const auto log2 = memory_.Value<uint32_t>(*heap + layout_.heap_log2_segment);
    if (!low || !high || !map || !log2 || *low >= *high || *log2 < 3 || *log2 > 20) continue;
    heaps_.push_back({*low, *high, *map, *log2});
  }
}

std::optional<uint64_t> CodeCache::FindBlob(uint64_t pc) {
  const Heap* const heap = HeapOf(pc);
  if (heap == nullptr) return std::nullopt;
  const auto first = FirstSegment(*heap, (pc - heap->low) >> heap->log2_segment);
  if (!first) return std::nullopt;
  const uint64_t block = heap->low + (*first << heap->log2_segment);
  const auto used = memory_.Value<uint8_t>(block + layout_.block_used);
  if (!used || *used != 1) return std::nullopt;
  return block + layout_.block_size;
}

// Reads the map in pieces that hold a step back each.
std::optional<uint64_t> CodeCache::FirstSegment(const Heap& heap, uint64_t segment) {
  std::array<uint8_t, kFreeSegment> piece{};
  uint64_t begin = 0;
  uint64_t end = 0;  // of what was read; empty
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (segment < begin || segment >= end) {
      end = segment + 1;
      begin = end - std::min<uint64_t>(end, piece.size());
      const auto bytes = std::as_writable_bytes(std::span(piece)).first(end - begin);
      if (!memory_.Read(heap.map + begin, bytes)) return std::nullopt;
    }
    const uint8_t back = piece[segment - begin];
    if (back == 0) return segment;
    if (back == kFreeSegment || back > segment) return std::nullopt;
    segment -= back;
  }
  return std::nullopt;
}

std::optional<std::string> CodeCache::ReadName(uint64_t address) {
  constexpr size_t kLongest = 128, kPiece = 32;
  std::string name;
  while (name.size() < kLongest) {
    std::array<char, kPiece> piece;
    const size_t size = kPiece - address % kPiece;
    if (!memory_.Read(address, std::as_writable_bytes(std::span(piece)).first(size))) {
      return std::nullopt;
    }
    const std::string_view part(piece.data(), size);
    name += part.substr(0, part.find('\0'));
    if (part.find('\0') != std::string_view::npos) return name;
    address += size;
  }
  return name;
}

std::optional<Blob> CodeCache::ReadBlob(uint64_t address) {
  Blob blob;
  blob.address = address;
  blob.header.resize(std::max(layout_.blob_size, layout_.nmethod_size));
  if (!memory_.Read(address, blob.header)) {
    blob.header.resize(layout_.blob_size);
    if (!memory_.Read(address, blob.header)) return std::nullopt;
  }
  const auto size = blob.Field<uint32_t>(layout_.blob_bytes);
  if (!size || *size < layout_.blob_size || *size > kLargestBlob) return std::nullopt;
  blob.header.resize(std::min<size_t>(blob.header.size(), *size));
  if (layout_.code_is_relative) {
    blob.code_begin = address + blob.Field<uint32_t>(layout_.blob_code_begin).value_or(0);
    blob.code_end = address + blob.Field<uint32_t>(layout_.blob_code_end).value_or(0);
  } else {
    blob.code_begin = blob.Field<uint64_t>(layout_.blob_code_begin).value_or(0);
    blob.code_end = blob.Field<uint64_t>(layout_.blob_code_end).value_or(0);
  }
  if (blob.code_begin < address || blob.code_end <= blob.code_begin ||
      blob.code_end - address > *size) {
    return std::nullopt;
  }
  const auto words = blob.Field<int32_t>(layout_.blob_frame_size).value_or(0);
  blob.frame_bytes = words > 0 ? static_cast<uint64_t>(words) * kWord : 0;
  if (blob.frame_bytes > kLargestFrame) return std::nullopt;
  const NumberField& complete = layout_.blob_frame_complete;
  blob.frame_complete = complete.size == 2 ? blob.Field<int16_t>(complete.offset).value_or(-1)
                                           : blob.Field<int32_t>(complete.offset).value_or(-1);
  const auto name = blob.Field<uint64_t>(layout_.blob_name);
  if (!name) return std::nullopt;
  auto text = ReadName(*name);
  if (!text) return std::nullopt;
  blob.name = *std::move(text);
  blob.kind = KindOf(blob);
  if (blob.kind == Blob::Kind::kCompiled) {
    blob.method = blob.Field<uint64_t>(layout_.nmethod_method).value_or(0);
    blob.orig_pc = blob.Field<int32_t>(layout_.nmethod_orig_pc).value_or(0);
  }
  return blob;
}

}  // namespace profiler::symbolize::hotspot
