// Fuzzes the records of large stacks that the program in the kernel writes before a sample, and
// unwinds through them. The input is:
//
//   u8 words of stack that the sample has │ these words │ records, each after its size, 2 bytes

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "src/record/stacks/deep_threads.h"
#include "src/record/testing/stack_record_builder.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/unwind_through.h"

namespace profiler::fuzz {
namespace {

using record::DeliveredStack;
using record::StackRecordBuilder;
using symbolize::ByteBuilder;
using symbolize::StackWords;

constexpr uint32_t kTid = 7;
constexpr uint64_t kStack = 0x7fff0000, kRest = kStack + StackWords::kPage, kCode = 0x1000;
// Numbers of these registers in DWARF.
constexpr unsigned kFramePointer = 6, kStackPointer = 7, kPc = 16;

// Code whose functions keep the caller's frame pointer below the return address.
const symbolize::ElfImage& Image() {
  static const Bytes& file = *new Bytes(
      symbolize::ElfBuilder(EM_X86_64)
          .Section(".eh_frame", 0x5000,
                   symbolize::EhFrameBuilder(0x5000, {})
                       .Add({.start = kCode, .instructions = {0x0c, kFramePointer, 16, 0x86, 2}})
                       .section())
          .Build());
  static const auto& image =
      *new absl::StatusOr<symbolize::ElfImage>(symbolize::ElfImage::Parse(file));
  return *image;
}

void RequireWhole(const StackWords& words) {
  constexpr uint64_t kMostBytes = uint64_t{record::kMostStackPages} * StackWords::kPage;
  Require(words.end() - words.start() <= kMostBytes, "a stack is bounded");
  size_t found = 0;
  for (uint64_t page = words.start(); page != words.end(); page += StackWords::kPage) {
    const bool is_covered = words.Covers(page);
    for (uint64_t word = page; word != page + StackWords::kPage; word += StackWords::kWord) {
      Require(words.Covers(word) == is_covered, "a page is covered as a whole");
      found += is_covered && words.Find(word).has_value() ? 1 : 0;
    }
  }
  Require(found <= words.size(), "each word is found at one address");
}

void Run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const size_t size =
      std::min(std::to_integer<size_t>(input[0]) * StackWords::kWord, input.size() - 1);
  const std::span<const std::byte> stack = input.subspan(1, size);
  input = input.subspan(1 + size);
  DeliveredStack delivered;
  uint16_t next = 0;
  while (input.size() > sizeof(next)) {
    std::memcpy(&next, input.data(), sizeof(next));
    input = input.subspan(sizeof(next));
    const std::span<const std::byte> record = input.first(std::min<size_t>(next, input.size()));
    input = input.subspan(record.size());
    if (DeliveredStack::IsRecord(record)) delivered.Take(kTid, record);
  }
  const StackWords* const rest = delivered.Of(kTid, kStack);
  if (rest == nullptr) return;
  RequireWhole(*rest);
  std::array<uint64_t, symbolize::kRegisters> registers{};
  registers[kPc] = kCode + 4;
  registers[kStackPointer] = registers[kFramePointer] = kStack;
  // The address space has holes, and kNotAnAddress is in one. So no chain may go through a word
  // that was left out.
  UnwindThrough(Image(), registers, stack, /*has_holes=*/true, rest);
}

// Adds a frame: the caller's frame pointer and the return address.
StackRecordBuilder& Frame(StackRecordBuilder& record, uint64_t index, uint64_t caller) {
  return record.Word(index, caller).Word(index + 1, kCode + 8);
}

// Returns an input whose sample has two frames of the stack; `records` have the others.
Bytes Seed(std::vector<StackRecordBuilder> records) {
  ByteBuilder seed;
  seed.U8(4).U64(kStack + 16).U64(kCode + 8).U64(kRest).U64(kCode + 8);
  for (StackRecordBuilder& record : records) {
    const std::span<const std::byte> bytes = record.bytes();
    seed.U16(static_cast<uint16_t>(bytes.size()));
    for (const std::byte byte : bytes) seed.U8(std::to_integer<int>(byte));
  }
  return seed.bytes();
}

std::vector<Bytes> Seeds() {
  constexpr uint64_t kPage = StackWords::kPage;
  StackRecordBuilder one(kStack, kRest, kRest + 2 * kPage);
  Frame(one.Page(kRest), 0, kRest + kPage);
  Frame(one.Page(kRest + kPage), 0, 0);

  StackRecordBuilder first(kStack, kRest, kRest + kPage, record::kStackGoesOn);
  Frame(first.Page(kRest), 0, kRest + 3 * kPage);
  StackRecordBuilder second(kStack, kRest + kPage, kRest + 4 * kPage, record::kStackEnd);
  second.Hole(kRest + kPage, kRest + 3 * kPage).Page(kRest + 3 * kPage);
  Frame(second, 0, 0);

  // The frame's caller is at a word that is left out.
  StackRecordBuilder left_out(kStack, kRest, kRest + kPage);
  left_out.Page(kRest).Word(0, kRest + 64);
  return {Seed({one}), Seed({first, second}), Seed({left_out})};
}

}  // namespace

FuzzTarget StackTarget() { return {"stack", "records of a large stack", Run, Seeds}; }

}  // namespace profiler::fuzz
