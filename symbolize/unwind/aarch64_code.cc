#include "symbolize/unwind/aarch64_code.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace profiler::symbolize {
namespace {

constexpr unsigned kFp = 29, kLink = 30, kSp = 31;
constexpr int64_t kWord = 8;

constexpr unsigned Rt(uint32_t code) { return code & 31; }
constexpr unsigned Rn(uint32_t code) { return code >> 5 & 31; }
constexpr unsigned Rt2(uint32_t code) { return code >> 10 & 31; }

// The lowest `bits` of `value`, of which the highest is the sign.
constexpr int64_t Signed(uint32_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t kept = value & (2 * sign - 1);
  return static_cast<int64_t>((kept ^ sign) - sign);
}

uint32_t InstructionAt(std::span<const uint8_t> code, size_t at) {
  uint32_t instruction = 0;
  std::memcpy(&instruction, code.data() + at, sizeof(instruction));
  return instruction;
}

// bti c, bti jc, paciasp, pacibsp: with which a function begins, and nothing else does.
constexpr std::array<uint32_t, 4> kEntries = {0xd503245f, 0xd50324df, 0xd503233f, 0xd503237f};
// nop, autiasp, autibsp: nothing that could be seen here.
constexpr std::array<uint32_t, 3> kHints = {0xd503201f, 0xd50323bf, 0xd50323ff};
// ret, retaa, retab.
constexpr std::array<uint32_t, 3> kReturns = {0xd65f03c0, 0xd65f0bff, 0xd65f0fff};

template <size_t size>
bool IsOneOf(const std::array<uint32_t, size>& known, uint32_t code) {
  return std::find(known.begin(), known.end(), code) != known.end();
}

// Loads and stores of x registers whose address is the stack pointer's, and what that becomes.
struct StackAccess {
  bool is_load = false;
  unsigned first = 0, second = kSp;  // registers; kSp: there is no second
  int64_t offset = 0;                // of the first, in bytes from the stack pointer before it
  int64_t moves = 0;                 // the stack pointer
};

std::optional<StackAccess> AsStackAccess(uint32_t code) {
  if (Rn(code) != kSp) return std::nullopt;
  StackAccess access{.is_load = (code >> 22 & 1) != 0, .first = Rt(code)};
  const uint32_t mode = code >> 23 & 3;
  if (code >> 25 == 0x54 && mode != 0) {  // a pair; without a mode it is stnp, ldnp
    const int64_t bytes = Signed(code >> 15, 7) * kWord;
    access.second = Rt2(code);
    access.offset = mode == 1 ? 0 : bytes;  // behind, at the offset, in front
    access.moves = mode == 2 ? 0 : bytes;
    return access;
  }
  if ((code & 0xffa00400) == 0xf8000400) {
    const int64_t bytes = Signed(code >> 12, 9);
    access.offset = (code >> 11 & 1) != 0 ? bytes : 0;
    access.moves = bytes;
    return access;
  }
  if ((code & 0xff800000) == 0xf9000000) {
    access.offset = static_cast<int64_t>(code >> 10 & 0xfff) * kWord;
    return access;
  }
  return std::nullopt;
}

// add Rd, sp, #bytes, or sub, of x registers.
std::optional<int64_t> AddedToStack(uint32_t code) {
  if ((code & 0xbf800000) != 0x91000000 || Rn(code) != kSp) return std::nullopt;
  const auto bytes = static_cast<int64_t>(code >> 10 & 0xfff) << ((code >> 22 & 1) != 0 ? 12 : 0);
  return (code >> 30 & 1) != 0 ? -bytes : bytes;
}

// Of data processing, with an immediate or with registers alone.
bool IsDataProcessing(uint32_t code) { return (code >> 26 & 7) == 4 || (code >> 25 & 7) == 5; }

// Loads and stores, of any kind of registers.
bool IsMemoryAccess(uint32_t code) { return (code >> 25 & 5) == 4; }
bool IsPair(uint32_t code) { return (code >> 27 & 7) == 5; }

// Whether it writes the stack pointer: 31 is that for some instructions and zero for the others.
bool WritesStackPointer(uint32_t code) {
  if (IsMemoryAccess(code)) {
    // That move what they are addressed by.
    const bool is_pair = IsPair(code) && (code >> 23 & 1) != 0;
    const bool is_single =
        (code >> 24 & 0x3b) == 0x38 && (code >> 21 & 1) == 0 && (code >> 10 & 1) != 0;
    return Rn(code) == kSp && (is_pair || is_single);
  }
  if (Rt(code) != kSp) return false;
  const bool sets_flags = (code >> 29 & 1) != 0;
  const bool is_add = (code >> 24 & 0x1f) == 0x11 && !sets_flags;
  const bool is_add_extended = (code >> 21 & 0xff) == 0x59 && !sets_flags;
  const bool is_logical = (code >> 23 & 0x3f) == 0x24 && (code >> 29 & 3) != 3;
  const bool is_add_vectors = (code & 0xffa0f800) == 0x04205000;  // addvl, addpl
  return is_add || is_add_extended || is_logical || is_add_vectors;
}

// Whether it writes the link register, or saves it.
bool UsesLink(uint32_t code) {
  const bool is_call = code >> 26 == 0x25 || (code & 0xfefff000) == 0xd63f0000;
  if (is_call) return true;
  if (IsMemoryAccess(code)) return Rt(code) == kLink || (IsPair(code) && Rt2(code) == kLink);
  return IsDataProcessing(code) && Rt(code) == kLink;
}

// The first instructions of a function.
std::optional<WayBack> FromStart(uint32_t code) {
  if (IsOneOf(kEntries, code)) return WayBack{.in_link_register = true, .caller_stack = 0};
  const auto access = AsStackAccess(code);
  if (access && !access->is_load && access->moves <= 0 &&
      (access->first == kLink || access->second == kLink)) {
    WayBack back{.in_link_register = true};
    // What has to move the stack pointer first has nothing on the stack yet.
    if (access->moves < 0) back.caller_stack = 0;
    return back;
  }
  // add x29, sp, #bytes, which is mov x29, sp as well: the record is there.
  const auto record = AddedToStack(code);
  if (record && Rt(code) == kFp && *record >= 0 && *record % kWord == 0) {
    const auto slot = static_cast<uint64_t>(*record / kWord);
    return WayBack{.return_address = slot + 1, .frame_pointer = slot};
  }
  return std::nullopt;
}

// What takes a frame down, up to the return.
std::optional<WayBack> ToReturn(std::span<const uint8_t> code, bool link_is_known) {
  WayBack back{.in_link_register = true};
  int64_t words = 0;  // that the stack pointer has moved
  for (size_t at = 0; at < code.size(); at += kAArch64Instruction) {
    const uint32_t instruction = InstructionAt(code, at);
    if (IsOneOf(kReturns, instruction)) {
      if (words < 0 || (back.in_link_register && !link_is_known)) return std::nullopt;
      back.caller_stack = static_cast<uint64_t>(words);
      return back;
    }
    if (IsOneOf(kHints, instruction)) continue;
    if (const auto access = AsStackAccess(instruction)) {
      const int64_t slot = words + access->offset / kWord;
      if (!access->is_load || access->offset % kWord != 0 || access->moves % kWord != 0 || slot < 0)
        return std::nullopt;
      for (const auto& [number, word] :
           {std::pair(access->first, slot), std::pair(access->second, slot + 1)}) {
        if (number == kLink) {
          back.return_address = static_cast<uint64_t>(word);
          back.in_link_register = false;
        }
        if (number == kFp) back.frame_pointer = static_cast<uint64_t>(word);
      }
      words += access->moves / kWord;
      continue;
    }
    const auto added = AddedToStack(instruction);
    if (added && Rt(instruction) == kSp) {
      if (*added < 0 || *added % kWord != 0) return std::nullopt;
      words += *added / kWord;
      continue;
    }
    const bool is_plain = IsDataProcessing(instruction) && Rt(instruction) != kFp &&
                          Rt(instruction) != kLink && !WritesStackPointer(instruction);
    if (!is_plain) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WayBack> WayBackOnAArch64(std::span<const uint8_t, kBareFrameCode> code,
                                        bool is_interrupted) {
  if (is_interrupted) {
    if (const auto back = FromStart(InstructionAt(code, 0))) return back;
  }
  return ToReturn(code, is_interrupted);
}

std::optional<uint64_t> TargetOfCall(uint32_t call, uint64_t address) {
  if (call >> 26 != 0x25) return std::nullopt;
  return address + static_cast<uint64_t>(Signed(call, 26) * int64_t{kAArch64Instruction});
}

LinkUse UseOfLink(std::span<const uint8_t> code) {
  LinkUse use;
  for (size_t at = 0; at + kAArch64Instruction <= code.size(); at += kAArch64Instruction) {
    const uint32_t instruction = InstructionAt(code, at);
    use.keeps_link = use.keeps_link && !UsesLink(instruction);
    use.keeps_stack = use.keeps_stack && !WritesStackPointer(instruction);
  }
  return use;
}

}  // namespace profiler::symbolize
