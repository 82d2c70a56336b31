// Builds the records of large stacks that the program in the kernel writes
// (src/record/bpf/stack_record.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "src/record/bpf/stack_record.h"

namespace profiler::record {

class StackRecordBuilder {
 public:
  StackRecordBuilder(uint64_t sp, uint64_t from, uint64_t to, uint32_t state = kStackNoMemory)
      : header_{state, kStackRecord, 0, 0, sp, from, to} {}

  StackRecordBuilder& Page(uint64_t address) {
    return Entry(uint64_t{kStackPageMark} << kStackWordShift | address);
  }
  // Adds the word at an index of the page that was added last.
  StackRecordBuilder& Word(uint64_t index, uint64_t word) {
    return Entry(index << kStackWordShift | word);
  }
  // Adds pages that were not readable.
  StackRecordBuilder& Hole(uint64_t start, uint64_t end) {
    Entry(uint64_t{kStackHoleMark} << kStackWordShift | start);
    return Entry(uint64_t{kStackHoleEndMark} << kStackWordShift | end);
  }
  StackRecordBuilder& Entry(uint64_t entry) {
    entries_.push_back(entry);
    ++header_.count;
    return *this;
  }

  StackRecordHeader& header() { return header_; }
  // Returns the record. Valid until the next change.
  std::span<const std::byte> bytes() {
    const std::span<const std::byte> entries = std::as_bytes(std::span(entries_));
    bytes_.resize(sizeof(header_) + entries.size());
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    if (!entries.empty()) {
      std::memcpy(bytes_.data() + sizeof(header_), entries.data(), entries.size());
    }
    return bytes_;
  }

 private:
  StackRecordHeader header_;
  std::vector<uint64_t> entries_;
  std::vector<std::byte> bytes_;
};

}  // namespace profiler::record
