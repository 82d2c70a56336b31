// Recognizes calls, and finds their targets and other addresses that code loads.

#include <cstring>

#include "symbolize/unwind/arch/x86/x86.h"

namespace profiler::symbolize::x86 {
namespace {

// call rel32: e8 and four bytes
constexpr uint8_t kCallRelative = 0xe8;
constexpr size_t kCallRelativeSize = 5;

// Returns the length of an instruction: opcode byte, ModRM, optional SIB and displacement.
size_t LengthWithModRm(uint8_t modrm, uint8_t sib) {
  constexpr size_t kOpcodeAndModRm = 2;
  const unsigned mode = modrm >> 6;
  const unsigned operand = modrm & 7;
  if (mode == 3) return kOpcodeAndModRm;
  const size_t sib_size = operand == 4 ? 1 : 0;
  const bool has_no_base = mode == 0 && (operand == 5 || (operand == 4 && (sib & 7) == 5));
  const size_t displacement = mode == 2 || has_no_base ? 4 : mode == 1 ? 1 : 0;
  return kOpcodeAndModRm + sib_size + displacement;
}

// Returns true for ff /2: call with a register or memory operand.
bool EndsInIndirectCall(std::span<const uint8_t, kLongestCall> code) {
  for (size_t length = 2; length < code.size(); ++length) {
    const size_t at = code.size() - length;
    const uint8_t modrm = code[at + 1];
    const uint8_t sib = length > 2 ? code[at + 2] : 0;
    if (code[at] == 0xff && (modrm >> 3 & 7) == 2 && LengthWithModRm(modrm, sib) == length) {
      return true;
    }
  }
  return false;
}

constexpr uint8_t kLea = 0x8d;
// ModRM of a pc-relative operand: mode 0, operand 5, any register.
constexpr uint8_t kRelative = 0x05, kModeAndOperand = 0xc7;
constexpr size_t kDistance = sizeof(int32_t);

// i386: ModRM of an operand at a 4-byte distance from a register.
constexpr uint8_t kFromRegister = 0x80, kModeBits = 0xc0;
constexpr uint8_t kPushImmediate = 0x68, kMoveImmediate = 0xb8, kStoreImmediate = 0xc7;

int32_t DistanceAt(std::span<const uint8_t> code, size_t at) {
  int32_t distance;
  std::memcpy(&distance, &code[at], sizeof(distance));
  return distance;
}

// Returns the target of an instruction at `address`, whose last four bytes at offset `at` are the
// distance to the target.
ElfAddress Relative(Mode mode, std::span<const uint8_t> code, size_t at, ElfAddress address) {
  const auto distance = static_cast<uint64_t>(int64_t{DistanceAt(code, at)});
  return {Wrapped(mode, address.value + at + kDistance + distance)};
}

// Returns the address that the i386 instruction at the start of `code` loads; empty for other
// instructions. `code` has at least one byte more than a distance.
std::optional<ElfAddress> LoadedOnI386(std::span<const uint8_t> code, uint64_t offset_table) {
  size_t at = 0;  // offset of the address or distance in the instruction
  if (offset_table != 0) {
    const bool has_sib = (code[1] & 7) == 4;
    if (code[0] == kLea && (code[1] & kModeBits) == kFromRegister && !has_sib) at = 2;
  } else if (code[0] == kPushImmediate || (code[0] & 0xf8) == kMoveImmediate) {
    at = 1;
  } else if (code[0] == kStoreImmediate && (code[1] & 0x38) == 0) {
    at = LengthWithModRm(code[1], code[2]);
  }
  if (at == 0 || at + kDistance > code.size()) return std::nullopt;
  const auto distance = static_cast<uint64_t>(int64_t{DistanceAt(code, at)});
  return ElfAddress{Wrapped(Mode::k32Bit, offset_table + distance)};
}

}  // namespace

bool EndsInCall(std::span<const uint8_t, kLongestCall> code) {
  return code[kLongestCall - kCallRelativeSize] == kCallRelative || EndsInIndirectCall(code);
}

std::optional<uint64_t> TargetOfCall(Mode mode, std::span<const uint8_t, kLongestCall> code,
                                     uint64_t return_address) {
  if (code[kLongestCall - kCallRelativeSize] != kCallRelative) return std::nullopt;
  const int64_t distance = DistanceAt(code, kLongestCall - kDistance);
  return Wrapped(mode, return_address + static_cast<uint64_t>(distance));
}

namespace {

// Searches all bytes, because decoding all code takes too long. A part of an instruction may look
// like a call. A template, because each byte is looked at.
template <Mode mode>
void FindTargetsIn(std::span<const uint8_t> bytes, ElfAddress start, uint64_t offset_table,
                   ArchitectureTraits::AddTarget add) {
  for (size_t i = 0; i + 1 + kDistance <= bytes.size(); ++i) {
    const auto here = bytes.subspan(i);
    const ElfAddress address{start.value + i};
    if (here[0] == kCallRelative) {
      // A call of the next instruction only reads the pc.
      if (DistanceAt(here, 1) == 0) continue;
      add(Relative(mode, here, 1, address), address, /*is_called=*/true);
    } else if (mode == Mode::k32Bit) {
      if (const auto loaded = LoadedOnI386(here, offset_table)) {
        add(*loaded, address, /*is_called=*/false);
      }
    } else if (here[0] == kLea && (here[1] & kModeAndOperand) == kRelative &&
               here.size() >= 2 + kDistance) {
      add(Relative(mode, here, 2, address), address, /*is_called=*/false);
    }
  }
}

}  // namespace

void FindTargets(Mode mode, std::span<const std::byte> code, ElfAddress start,
                 uint64_t offset_table, ArchitectureTraits::AddTarget add) {
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(code.data()), code.size());
  mode == Mode::k32Bit ? FindTargetsIn<Mode::k32Bit>(bytes, start, offset_table, add)
                       : FindTargetsIn<Mode::k64Bit>(bytes, start, offset_table, add);
}

bool MayCallItself(std::span<const std::byte> code) {
  for (size_t at = 0; at + kCallRelativeSize <= code.size(); ++at) {
    const auto rest = code.subspan(at);
    const void* const call = std::memchr(rest.data(), kCallRelative, rest.size());
    if (call == nullptr) break;
    at = static_cast<size_t>(static_cast<const std::byte*>(call) - code.data());
    if (at + kCallRelativeSize > code.size()) break;
    int32_t distance = 0;
    std::memcpy(&distance, &code[at + 1], sizeof(distance));
    const int64_t target = static_cast<int64_t>(at + kCallRelativeSize) + distance;
    if (distance != 0 && target > 0 && target < static_cast<int64_t>(code.size())) return true;
  }
  return false;
}

}  // namespace profiler::symbolize::x86
