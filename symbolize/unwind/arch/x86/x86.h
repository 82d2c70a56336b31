// Instructions of x86, for the tables of x86-64 and i386. The two have the same encodings, except
// that 64-bit instructions have a prefix and that words have different sizes.
//
// Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; System V ABI,
// AMD64 supplement 1.0, 3.2.2 and 3.4.1 (a frame pointer of 0 is the outermost frame's).
//
// Private to arch/.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/return_path.h"

namespace profiler::symbolize::x86 {

enum class Mode : uint8_t { k64Bit, k32Bit };

constexpr uint64_t WordOf(Mode mode) { return mode == Mode::k32Bit ? 4 : 8; }
constexpr uint64_t Wrapped(Mode mode, uint64_t value) {
  return mode == Mode::k32Bit ? value & 0xffffffff : value;
}

// Implement the members of ArchitectureTraits with these names. Calls are call rel32, and call with
// any register or memory operand.
bool EndsInCall(std::span<const uint8_t, kLongestCall> code);
std::optional<uint64_t> TargetOfCall(Mode mode, std::span<const uint8_t, kLongestCall> code,
                                     uint64_t return_address);
std::optional<ReturnPath> FindReturnPath(Mode mode, std::span<const uint8_t, kBareFrameCode> code,
                                         bool is_interrupted);
bool Decode(Mode mode, std::span<const std::byte> code, ElfAddress address,
            DecodedInstruction* instruction);
void Apply(const DecodedInstruction& instruction, FrameState* state);
void FindTargets(Mode mode, std::span<const std::byte> code, ElfAddress address,
                 uint64_t offset_table, ArchitectureTraits::AddTarget add);
bool MayCallItself(std::span<const std::byte> code);
std::vector<LinkageStub> FindLinkageStubs(const ElfImage& image);

// The functions above that depend on the mode, with the signatures of ArchitectureTraits.
template <Mode mode>
struct InMode {
  static std::optional<uint64_t> TargetOfCall(std::span<const uint8_t, kLongestCall> code,
                                              uint64_t return_address) {
    return x86::TargetOfCall(mode, code, return_address);
  }
  static std::optional<ReturnPath> FindReturnPath(std::span<const uint8_t, kBareFrameCode> code,
                                                  bool is_interrupted) {
    return x86::FindReturnPath(mode, code, is_interrupted);
  }
  static bool Decode(std::span<const std::byte> code, ElfAddress address,
                     DecodedInstruction* instruction) {
    return x86::Decode(mode, code, address, instruction);
  }
  static void FindTargets(std::span<const std::byte> code, ElfAddress address,
                          uint64_t offset_table, ArchitectureTraits::AddTarget add) {
    x86::FindTargets(mode, code, address, offset_table, add);
  }
};

}  // namespace profiler::symbolize::x86
