#include "symbolize/hotspot/code_cache.h"

#include <algorithm>
#include <utility>

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint32_t kMostHeaps = 16;
constexpr uint8_t kFreeSegment = 0xff;
// Limit on steps back. The largest block needs fewer, because one step covers 254 segments.
constexpr int kMostSteps = 4096;
constexpr uint64_t kLargestFrame = uint64_t{1} << 20;

Blob::Kind KindOf(const Blob& blob) {
  if (blob.name == "nmethod" || blob.name == "native nmethod") return Blob::Kind::kCompiled;
  if (blob.name == "Interpreter") return Blob::Kind::kInterpreter;
  return blob.frame_bytes != 0 ? Blob::Kind::kFramed : Blob::Kind::kFrameless;
}

}  // namespace

void CodeCache::List() {
  const uint64_t now = live_.Now();
  if (listed_at_ && now - *listed_at_ < kListInterval) return;
  listed_at_ = now;
  // Heaps keep their address, and grow.
  ReadHeaps();
  Begins blobs;
  ReadMaps(&blobs);
  if (listed_.size() + blobs.size() > kMostListed) {
    listed_.clear();
    maps_.clear();
    blobs.resize(std::min(blobs.size(), kMostListed));
  }
  ListChanged(blobs);
}

// Appends blobs that begin where a map has changed.
void CodeCache::ReadMaps(Begins* blobs) {
  constexpr uint64_t kMostSegments = uint64_t{1} << 24;
  std::vector<const Heap*> heaps;
  std::vector<std::vector<uint8_t>> maps;
  std::vector<ProcessMemory::Piece> pieces;
  for (const Heap& heap : heaps_) {
    const uint64_t segments = (heap.high - heap.low) >> heap.log2_segment;
    if (segments == 0 || segments > kMostSegments) continue;
    heaps.push_back(&heap);
    std::vector<uint8_t>& map = maps.emplace_back(segments);
    pieces.push_back({heap.map, std::as_writable_bytes(std::span(map))});
  }
  for (size_t first = 0; first < pieces.size();) {
    const size_t read = first + live_.ReadEach(std::span(pieces).subspan(first));
    for (size_t i = first; i < read; ++i) FindChanged(*heaps[i], std::move(maps[i]), blobs);
    first = read + 1;  // skips a map that cannot be read
  }
}

void CodeCache::FindChanged(const Heap& heap, std::vector<uint8_t> map, Begins* blobs) {
  constexpr size_t kPiece = 64;
  std::vector<uint8_t>& before = maps_[heap.low];
  if (map == before) return;
  for (size_t i = 0; i < map.size(); i += kPiece) {
    const size_t size = std::min(kPiece, map.size() - i);
    const bool is_same =
        i + size <= before.size() && std::equal(map.begin() + static_cast<ptrdiff_t>(i),
                                                map.begin() + static_cast<ptrdiff_t>(i + size),
                                                before.begin() + static_cast<ptrdiff_t>(i));
    for (size_t at = i; !is_same && at < i + size; ++at) {
      if (map[at] != 0) continue;
      // HotSpot marks segments as free until they are used for the first time.
      bool is_fresh = !before.empty();
      for (size_t own = at; is_fresh && own < map.size() && (own == at || map[own] != 0); ++own) {
        if (map[own] == kFreeSegment) break;
        is_fresh = own >= before.size() || before[own] == kFreeSegment;
      }
      blobs->push_back({heap.low + (at << heap.log2_segment) + layout_.block_size, is_fresh});
    }
  }
  before = std::move(map);
}

void CodeCache::ListChanged(const Begins& blobs) {
  constexpr size_t kAtOnce = 64;
  const uint64_t in_front = layout_.block_size - layout_.block_used;
  const size_t size = in_front + HeaderSize();
  std::vector<std::byte> bytes(kAtOnce * size);
  std::vector<ProcessMemory::Piece> pieces;
  for (size_t first = 0; first < blobs.size();) {
    pieces.clear();
    for (size_t i = first; i < blobs.size() && pieces.size() < kAtOnce; ++i) {
      pieces.push_back(
          {blobs[i].address - in_front, std::span(bytes).subspan(pieces.size() * size, size)});
    }
    const size_t read = live_.ReadEach(pieces);
    const uint64_t now = live_.Now();
    for (size_t i = 0; i < read; ++i) {
      const std::span<const std::byte> block = pieces[i].bytes;
      const auto [address, is_fresh] = blobs[first + i];
      if (block[0] != std::byte{1}) {
        listed_.erase(address);
        continue;
      }
      const Identity identity = IdentityOf(address, block.subspan(in_front));
      Listed& listed = listed_[address];
      if (listed.since == 0 || listed.identity != identity) listed = {identity, now, is_fresh};
    }
    // Skips a blob that cannot be read.
    first += read < pieces.size() ? read + 1 : read;
  }
}

CodeCache::Identity CodeCache::IdentityOf(uint64_t address,
                                          std::span<const std::byte> header) const {
  const bool is_relative = layout_.code_is_relative;
  const auto field = [&]<class T>(T none, uint64_t offset) {
    return FieldOf<T>(header, offset).value_or(none);
  };
  Identity identity;
  identity.name = field(uint64_t{0}, layout_.blob_name);
  identity.size = field(uint32_t{0}, layout_.blob_bytes);
  identity.frame_words = field(int32_t{0}, layout_.blob_frame_size);
  if (is_relative) {
    identity.begin = address + field(uint32_t{0}, layout_.blob_code_begin);
    identity.end = address + field(uint32_t{0}, layout_.blob_code_end);
  } else {
    identity.begin = field(uint64_t{0}, layout_.blob_code_begin);
    identity.end = field(uint64_t{0}, layout_.blob_code_end);
  }
  // If the header is smaller, the bytes after it are code, which changes.
  const NumberField& size = layout_.blob_header_bytes;
  const uint32_t header_size =
      size.size == 2 ? field(uint16_t{0}, size.offset) : field(uint32_t{0}, size.offset);
  if (header_size < layout_.nmethod_size) return identity;
  identity.method = field(uint64_t{0}, layout_.nmethod_method);
  identity.compile_id = field(int32_t{0}, layout_.nmethod_compile_id);
  return identity;
}

CodeCache::Listed CodeCache::ListedAs(uint64_t address, const Identity& identity) {
  const auto found = listed_.find(address);
  if (found != listed_.end() && found->second.identity == identity) return found->second;
  const Listed listed{identity, live_.Now()};
  if (listed_.size() < kMostListed) listed_[address] = listed;
  return listed;
}

bool CodeCache::IsStill(const Blob& blob) {
  std::vector<std::byte> header(blob.header.size());
  const auto used = live_.Value<uint8_t>(blob.address - layout_.block_size + layout_.block_used);
  return used && *used == 1 && live_.Read(blob.address, header) &&
         IdentityOf(blob.address, header) == IdentityOf(blob.address, blob.header);
}

const CodeCache::Known* CodeCache::Find(uint64_t pc) {
  List();
  auto it = known_.upper_bound(pc);
  const bool is_known = it != known_.end() && it->second.blob.HasCode(pc);
  if (is_known && it->second.look == look_) return &it->second;
  const std::optional<uint64_t> address = FindBlob(pc);
  std::optional<Blob> blob = address ? ReadBlob(*address) : std::nullopt;
  if (!blob || !blob->HasCode(pc)) return nullptr;
  const Identity identity = IdentityOf(blob->address, blob->header);
  const Listed listed = ListedAs(blob->address, identity);
  // A blob's state changes, but its identity does not.
  if (is_known && it->second.blob.address == blob->address && it->second.blob.name == blob->name &&
      IdentityOf(blob->address, it->second.blob.header) == identity &&
      it->second.since == listed.since) {
    it->second.look = look_;
    return &it->second;
  }
  if (known_.size() >= kMostBlobs) known_.clear();
  // Other code that overlaps the new blob no longer exists.
  it = known_.upper_bound(blob->code_begin);
  while (it != known_.end() && it->second.blob.code_begin < blob->code_end) it = known_.erase(it);
  const uint64_t end = blob->code_end;
  Known& known = known_[end];
  known = {*std::move(blob), ++last_number_, look_, listed.since, listed.is_fresh};
  return &known;
}

const CodeCache::Heap* CodeCache::HeapOf(uint64_t pc) {
  const auto has_code = [pc](const Heap& heap) { return pc >= heap.low && pc < heap.high; };
  const auto found = std::ranges::find_if(heaps_, has_code);
  return found == heaps_.end() ? nullptr : &*found;
}

// Keeps the old heaps if the process has ended.
void CodeCache::ReadHeaps() {
  std::vector<Heap> heaps;
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
    heaps.push_back({*low, *high, *map, *log2});
  }
  heaps_ = std::move(heaps);
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

// Reads the map in pieces. A piece is as long as the longest step back.
std::optional<uint64_t> CodeCache::FirstSegment(const Heap& heap, uint64_t segment) {
  std::array<uint8_t, kFreeSegment> piece{};
  uint64_t begin = 0;
  uint64_t end = 0;  // end of the bytes read; 0: none were read
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

uint64_t CodeCache::DeoptHandlerOf(const Blob& blob) const {
  if (!layout_.nmethod_deopt_handler) return 0;
  if (!layout_.code_is_relative) {
    return blob.Field<uint64_t>(*layout_.nmethod_deopt_handler).value_or(0);
  }
  const auto offset = blob.Field<int32_t>(*layout_.nmethod_deopt_handler).value_or(0);
  return offset > 0 ? blob.address + static_cast<uint32_t>(offset) : 0;
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
    blob.deopt_handler = DeoptHandlerOf(blob);
  }
  return blob;
}

}  // namespace profiler::symbolize::hotspot
