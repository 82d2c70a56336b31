#include "src/record/python/copied_memory.h"

#include <algorithm>
#include <cstring>

namespace profiler::record::python {
namespace {

constexpr size_t kHead = offsetof(PythonCopy, pieces);
constexpr size_t kPieces = offsetof(PythonCopy, object);

}  // namespace

bool IsCopy(std::span<const std::byte> record) {
  PythonStackHeader header;
  if (record.size() < sizeof(header)) return false;
  std::memcpy(&header, record.data(), sizeof(header));
  return header.end == kPythonCopy;
}

std::optional<CopiedCode> CopiedMemory::Take(std::span<const std::byte> record) {
  Clear();
  if (!IsCopy(record) || record.size() < kPieces) return std::nullopt;
  record_ = record;
  std::memcpy(pieces_, record.data() + kHead, sizeof(pieces_));
  CopiedCode copied;
  const auto field = [&](size_t place, auto& value) {
    std::memcpy(&value, record.data() + place, sizeof(value));
  };
  field(offsetof(PythonCopy, generation), copied.generation);
  field(offsetof(PythonCopy, code), copied.code);
  field(offsetof(PythonCopy, globals), copied.globals);
  field(offsetof(PythonCopy, print), copied.print);
  return copied;
}

bool CopiedMemory::Read(uint64_t address, std::span<std::byte> bytes) {
  if (record_.empty()) return now_.Read(address, bytes);
  for (const PythonPiece& piece : pieces_) {
    if (piece.place > record_.size() || piece.bytes > record_.size() - piece.place) continue;
    if (address < piece.address || address - piece.address > piece.bytes) continue;
    const uint64_t from = address - piece.address;
    if (bytes.size() > piece.bytes - from) continue;
    const auto part = record_.subspan(piece.place + from, bytes.size());
    std::copy(part.begin(), part.end(), bytes.begin());
    return true;
  }
  return now_.Read(address, bytes);
}

}  // namespace profiler::record::python
