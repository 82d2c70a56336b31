#include "symbolize/unwind/arch/aarch64/code.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace profiler::symbolize::aarch64 {
namespace {

constexpr int64_t kWord = 8;

constexpr unsigned Rt2(uint32_t code) { return code >> 10 & 31; }

uint32_t InstructionAt(std::span<const uint8_t> code, size_t at) {
  uint32_t instruction = 0;
  std::memcpy(&instruction, code.data() + at, sizeof(instruction));
  return instruction;
}

constexpr std::array<uint32_t, 4> kEntries = {0xd503245f, 0xd50324df, 0xd503233f, 0xd503237f};
// ret, retaa, retab
constexpr std::array<uint32_t, 3> kReturns = {0xd65f03c0, 0xd65f0bff, 0xd65f0fff};
// nop, autiasp, autibsp: instructions that change neither the frame nor a followed register.
constexpr std::array<uint32_t, 3> kHints = {0xd503201f, 0xd50323bf, 0xd50323ff};

template <size_t size>
bool IsOneOf(const std::array<uint32_t, size>& known, uint32_t code) {
  return std::find(known.begin(), known.end(), code) != known.end();
}

bool IsPair(uint32_t code) { return (code >> 27 & 7) == 5; }
// Returns the addressing mode of a load or store of a pair. 0: stnp or ldnp; 1: post-index; 2:
// offset; 3: pre-index.
uint32_t PairMode(uint32_t code) { return code >> 23 & 3; }
// Returns true for a load or store of one register that changes its base register, before or after
// the access.
bool IsMovingSingle(uint32_t code) {
  return (code >> 24 & 0x3b) == 0x38 && (code >> 21 & 1) == 0 && (code >> 10 & 1) != 0;
}
bool IsVector(uint32_t code) { return (code >> 26 & 1) != 0; }

// Returns true if the instruction writes or saves the link register.
bool UsesLink(uint32_t code) {
  if (IsArmCall(code)) return true;
  if (IsArmMemoryAccess(code)) {
    return ArmRt(code) == kArmLink || (IsPair(code) && Rt2(code) == kArmLink);
  }
  return WritesRegister(kArmLink, code);
}

// Recognizes the first instructions of a function.
std::optional<ReturnPath> FromStart(uint32_t code) {
  if (IsArmEntry(code)) return ReturnPath{.in_link_register = true, .caller_stack = 0};
  const auto access = AsStackAccess(code);
  if (access && !access->is_load && (access->first == kArmLink || access->second == kArmLink)) {
    ReturnPath back{.in_link_register = true};
    // If this instruction moves the stack pointer down, the frame has nothing on the stack yet.
    if (AccessMovesStack(code) < 0) back.caller_stack = 0;
    return back;
  }
  // add x29, sp, #bytes, or mov x29, sp: the frame record is complete.
  const auto record = AddedTo(kArmSp, code);
  if (record && ArmRt(code) == kArmFp && *record >= 0 && *record % kWord == 0) {
    const auto slot = static_cast<uint64_t>(*record / kWord);
    return ReturnPath{.return_address = slot + 1, .frame_pointer = slot};
  }
  return std::nullopt;
}

// Follows the instructions that remove a frame, up to the return. `link_is_known` is true if the
// link register still has the return address.
std::optional<ReturnPath> ToReturn(std::span<const uint8_t> code, bool link_is_known) {
  ReturnPath back{.in_link_register = true};
  int64_t words = 0;  // words by which the stack pointer has moved up so far
  for (size_t at = 0; at < code.size(); at += kInstruction) {
    const uint32_t instruction = InstructionAt(code, at);
    if (ReturnsByLink(instruction)) {
      if (words < 0 || (back.in_link_register && !link_is_known)) return std::nullopt;
      back.caller_stack = static_cast<uint64_t>(words);
      return back;
    }
    if (IsOneOf(kHints, instruction)) continue;
    if (const auto access = AsStackAccess(instruction)) {
      const int64_t slot = words + access->offset / kWord;
      const int64_t moves = AccessMovesStack(instruction);
      if (!access->is_load || access->offset % kWord != 0 || moves % kWord != 0 || slot < 0) {
        return std::nullopt;
      }
      for (const auto& [number, word] :
           {std::pair(access->first, slot), std::pair(access->second, slot + 1)}) {
        if (number == kArmLink) {
          back.return_address = static_cast<uint64_t>(word);
          back.in_link_register = false;
        }
        if (number == kArmFp) back.frame_pointer = static_cast<uint64_t>(word);
      }
      words += moves / kWord;
      continue;
    }
    const auto added = AddedTo(kArmSp, instruction);
    if (added && ArmRt(instruction) == kArmSp) {
      if (*added < 0 || *added % kWord != 0) return std::nullopt;
      words += *added / kWord;
      continue;
    }
    const bool is_plain =
        IsArmDataProcessing(instruction) && !WritesRegister(kArmFp, instruction) &&
        !WritesRegister(kArmLink, instruction) && !WritesStackPointer(instruction);
    if (!is_plain) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StackAccess> AsStackAccess(uint32_t code) {
  if (ArmRn(code) != kArmSp) return std::nullopt;
  StackAccess access{.is_load = (code >> 22 & 1) != 0, .first = ArmRt(code)};
  if (code >> 25 == 0x54 && PairMode(code) != 0) {
    access.second = Rt2(code);
    access.offset = PairMode(code) == 1 ? 0 : SignedBits(code >> 15, 7) * kWord;
    return access;
  }
  if ((code & 0xffa00400) == 0xf8000400) {
    access.offset = (code >> 11 & 1) != 0 ? SignedBits(code >> 12, 9) : 0;
    return access;
  }
  if ((code & 0xff800000) == 0xf9000000) {
    access.offset = static_cast<int64_t>(code >> 10 & 0xfff) * kWord;
    return access;
  }
  return std::nullopt;
}

int64_t AccessMovesStack(uint32_t code) {
  if (!IsArmMemoryAccess(code) || ArmRn(code) != kArmSp) return 0;
  if (IsPair(code) && (PairMode(code) & 1) != 0) {
    // The offset counts registers: w or x registers, or vector registers s, d or q.
    const uint32_t size = code >> 30;
    const int64_t bytes = IsVector(code) ? int64_t{4} << size : size == 2 ? kWord : 4;
    return SignedBits(code >> 15, 7) * bytes;
  }
  return IsMovingSingle(code) ? SignedBits(code >> 12, 9) : 0;
}

std::optional<int64_t> AddedTo(unsigned base, uint32_t code) {
  if ((code & 0xbf800000) != 0x91000000 || ArmRn(code) != base) return std::nullopt;
  const auto bytes = static_cast<int64_t>(code >> 10 & 0xfff) << ((code >> 22 & 1) != 0 ? 12 : 0);
  return (code >> 30 & 1) != 0 ? -bytes : bytes;
}

// Returns true if the instruction writes the stack pointer. Register number 31 means the stack
// pointer in some instructions, and zero in others.
bool WritesStackPointer(uint32_t code) {
  if (IsArmMemoryAccess(code)) return AccessMovesStack(code) != 0;
  if (ArmRt(code) != kArmSp) return false;
  const bool sets_flags = (code >> 29 & 1) != 0;
  const bool is_add = (code >> 24 & 0x1f) == 0x11 && !sets_flags;
  const bool is_add_extended = (code >> 21 & 0xff) == 0x59 && !sets_flags;
  const bool is_logical = (code >> 23 & 0x3f) == 0x24 && (code >> 29 & 3) != 3;
  const bool is_add_vectors = (code & 0xffa0f800) == 0x04205000;  // addvl, addpl
  return is_add || is_add_extended || is_logical || is_add_vectors;
}

bool WritesRegister(unsigned number, uint32_t code) {
  if (!IsArmMemoryAccess(code)) return IsArmDataProcessing(code) && ArmRt(code) == number;
  const bool moves_address = (IsPair(code) && (PairMode(code) & 1) != 0) || IsMovingSingle(code);
  if (moves_address && ArmRn(code) == number) return true;
  if (IsVector(code)) return false;
  // An instruction counts as a load unless it is certainly a store.
  const bool is_store =
      IsPair(code) ? (code >> 22 & 1) == 0 : (code >> 27 & 7) == 7 && (code >> 22 & 3) == 0;
  return !is_store && (ArmRt(code) == number || (IsPair(code) && Rt2(code) == number));
}

bool ReturnsByLink(uint32_t code) { return IsOneOf(kReturns, code); }

bool IsArmEntry(uint32_t code) { return IsOneOf(kEntries, code); }

std::optional<ReturnPath> FindReturnPath(std::span<const uint8_t, kBareFrameCode> code,
                                         bool is_interrupted) {
  if (is_interrupted) {
    if (const auto back = FromStart(InstructionAt(code, 0))) return back;
  }
  return ToReturn(code, is_interrupted);
}

std::optional<uint64_t> TargetOfCall(uint32_t call, uint64_t address) {
  if (call >> 26 != 0x25) return std::nullopt;
  return address + static_cast<uint64_t>(SignedBits(call, 26) * int64_t{kInstruction});
}

//    op immlo 1 0 0 0 0 ├── immhi ──┤├ Rd ┤    adr, adrp
std::optional<uint64_t> TakenAddress(uint32_t before, uint32_t code, uint64_t address) {
  constexpr uint64_t kPage = 4096;  // unit of adrp in bytes; independent of the kernel's page size
  constexpr uint32_t kAdr = 0x10000000, kAdrp = 0x90000000, kMask = 0x9f000000;
  const auto distance = [](uint32_t adr) {
    return static_cast<uint64_t>(SignedBits((adr >> 5 & 0x7ffff) << 2 | (adr >> 29 & 3), 21));
  };
  if ((code & kMask) == kAdr) return address + distance(code);
  const auto added = AddedTo(ArmRt(before), code);
  if ((before & kMask) != kAdrp || !added || *added < 0) return std::nullopt;
  const uint64_t page = (address - kInstruction) / kPage * kPage;
  return page + distance(before) * kPage + static_cast<uint64_t>(*added);
}

LinkUse UseOfLink(std::span<const uint8_t> code) {
  LinkUse use;
  for (size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    const uint32_t instruction = InstructionAt(code, at);
    use.keeps_link = use.keeps_link && !UsesLink(instruction);
    use.keeps_stack = use.keeps_stack && !WritesStackPointer(instruction);
  }
  return use;
}

}  // namespace profiler::symbolize::aarch64
