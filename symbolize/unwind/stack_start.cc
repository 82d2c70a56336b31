#include "symbolize/unwind/stack_start.h"

#include <array>
#include <span>

#include "symbolize/unwind/bare_frame.h"
#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

// Size in bytes of code at an image's entry point, which has no caller and often no information.
constexpr uint64_t kEntryCode = 64;

// Returns true if the code at the frame's pc, up to the first instruction that does not continue
// with the next one, has no caller by its call frame information or branches to such code.
bool LeadsToThreadStart(const CodeSpace& space, const ChainFrame& frame) {
  std::array<std::byte, kBareFrameCode> bytes{};
  if (!space.Read(RuntimeAddress{frame.pc()}, bytes)) return false;
  const auto is_start = [&frame](ElfAddress address) {
    return frame.code.cfi->Find(address).kind == UnwindRule::kThreadStart;
  };
  std::span<const std::byte> code = bytes;
  ElfAddress address{frame.pc() - frame.code.bias};
  FrameInstruction instruction(space.architecture());
  while (!code.empty() && instruction.Decode(code, address)) {
    const FrameInstruction::Flow flow = instruction.flow();
    const bool branches = flow == FrameInstruction::Flow::kBranch;
    if (is_start(address)) return true;
    if (branches && instruction.target() && is_start(*instruction.target())) return true;
    if (!branches && flow != FrameInstruction::Flow::kNext) break;
    code = code.subspan(instruction.length());
    address.value += instruction.length();
  }
  return false;
}

}  // namespace

bool StopsAhead(const CodeSpace& space, RuntimeAddress address) {
  std::array<std::byte, kBareFrameCode> bytes{};
  if (HasLinkRegister(space.architecture()) || !space.Read(address, bytes)) return false;
  std::span<const std::byte> code = bytes;
  FrameInstruction instruction(space.architecture());
  while (!code.empty() && instruction.Decode(code, {})) {
    if (instruction.Halts()) return true;
    const FrameInstruction::Flow flow = instruction.flow();
    if (flow != FrameInstruction::Flow::kNext && flow != FrameInstruction::Flow::kCall) break;
    code = code.subspan(instruction.length());
  }
  return false;
}

bool IsNewThread(const CodeSpace& space, const ChainFrame& frame) {
  const uint8_t result = space.architecture()->system_call_result;
  return frame.has_table() && frame.registers.Knows(result) && frame.registers.Get(result) == 0 &&
         FollowsSystemCall(space, frame.pc()) && LeadsToThreadStart(space, frame);
}

bool IsInEntryPoint(const CodeSpace& space, const MappedCode& mapped, ElfAddress address) {
  const ElfAddress entry = mapped.cfi->entry();
  if (entry.value == 0 || address < entry || address.value - entry.value >= kEntryCode) {
    return false;
  }
  std::array<std::byte, kEntryCode> bytes{};
  std::span<std::byte> code = std::span(bytes).first(address.value - entry.value);
  if (!space.Read(RuntimeAddress{entry.value + mapped.bias}, code)) return true;
  FrameInstruction instruction(space.architecture());
  while (!code.empty() && instruction.Decode(code, {})) {
    const FrameInstruction::Flow flow = instruction.flow();
    if (flow != FrameInstruction::Flow::kNext && flow != FrameInstruction::Flow::kCall &&
        flow != FrameInstruction::Flow::kBranch) {
      return false;
    }
    code = code.subspan(instruction.length());
  }
  return true;
}

bool IsInFirstFunction(const CodeSpace& space, const MappedCode& mapped,
                       RuntimeAddress instruction) {
  if (mapped.cfi == nullptr || mapped.cfi->entry().value == 0) return false;
  const ElfAddress address{instruction.value - mapped.bias};
  const auto function = mapped.cfi->FunctionAt(address);
  return function ? function->start == mapped.cfi->entry() : IsInEntryPoint(space, mapped, address);
}

bool NeverReturns(const CodeSpace& space, const MappedCode& mapped, ElfAddress address) {
  using Flow = FrameInstruction::Flow;
  constexpr size_t kMostBytes = 512;
  const auto function = mapped.cfi->FunctionAt(address);
  if (!function || function->start != address || function->size > kMostBytes) return false;
  std::array<std::byte, kMostBytes> bytes;
  const auto code = std::span(bytes).first(function->size);
  if (!space.Read(RuntimeAddress{address.value + mapped.bias}, code)) return false;
  std::array<bool, kMostBytes> is_met{};
  // Offsets at which to continue. Each instruction adds at most one.
  std::array<uint16_t, kMostBytes> places{};
  size_t count = 1;
  while (count != 0) {
    size_t at = places[--count];
    while (!is_met[at]) {
      FrameInstruction instruction(space.architecture());
      if (!instruction.Decode(code.subspan(at), {address.value + at}) || instruction.Returns()) {
        return false;
      }
      is_met[at] = true;
      const Flow flow = instruction.flow();
      if (flow == Flow::kFarJump) return false;
      if (flow == Flow::kBranch || flow == Flow::kJump) {
        const auto target = instruction.target();
        const uint64_t distance = target ? target->value - address.value : code.size();
        if (distance >= code.size()) return false;
        if (!is_met[distance]) places[count++] = static_cast<uint16_t>(distance);
      }
      if (flow == Flow::kEnd || flow == Flow::kJump) break;
      at += instruction.length();
      if (at < code.size()) continue;
      // Only a call may be the last instruction.
      if (flow != Flow::kCall) return false;
      break;
    }
  }
  return true;
}

}  // namespace profiler::symbolize
