// All readable memory of a running process, not only code.

#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/machine/reader/own_memory.h"
#include "src/machine/reader/readers.h"
#include "symbolize/process_memory.h"

namespace profiler::record {

class LiveMemory final : public symbolize::ProcessMemory {
 public:
  // `readers` must outlive this object.
  LiveMemory(const std::string& proc, uint32_t pid, reader::Readers& readers)
      : own_(proc, pid), pid_(pid), readers_(readers) {}

  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    if (bytes.empty()) return true;
    const reader::Piece piece{address, bytes};
    return ReadPieces(std::span(&piece, 1)) == static_cast<int64_t>(bytes.size());
  }

  // Reads all pieces with one request. The process runs on meanwhile, so the pieces are not of one
  // moment.
  size_t ReadEach(std::span<const Piece> pieces) override {
    constexpr size_t kMost = 128;
    pieces = pieces.first(std::min(pieces.size(), kMost));
    std::array<reader::Piece, kMost> asked;
    for (size_t i = 0; i < pieces.size(); ++i) asked[i] = {pieces[i].address, pieces[i].bytes};
    int64_t left = ReadPieces(std::span(asked).first(pieces.size()));
    size_t whole = 0;
    while (whole < pieces.size() && left >= static_cast<int64_t>(pieces[whole].bytes.size())) {
      left -= static_cast<int64_t>(pieces[whole++].bytes.size());
    }
    return whole;
  }

 private:
  int64_t ReadPieces(std::span<const reader::Piece> pieces) {
    const int64_t read = own_.Read(pieces);
    return read != -EPERM ? read : readers_.Read(pid_, pieces);
  }

  reader::OwnMemory own_;
  const uint32_t pid_;
  reader::Readers& readers_;
};

}  // namespace profiler::record
