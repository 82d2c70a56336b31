#include "symbolize/unwind/call_evidence.h"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "symbolize/unwind/aarch64_code.h"
#include "symbolize/unwind/call_instruction.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

// Returns true if the x86 code at `start` jumps to `function` instead of returning. A jump through
// a register or memory counts if it is the first instruction, as in linkage tables, or if it comes
// after the frame was removed. Other jumps through a register or memory stay in the code at
// `start`. Reads at most 128 bytes.
bool LeadsTo(const CodeSpace& space, RuntimeAddress start, RuntimeAddress function) {
  constexpr uint64_t kStub = 16;
  std::array<std::byte, 128> bytes{};
  std::span<const std::byte> code = bytes;
  if (!space.Read(start, bytes)) {
    code = code.first(kStub);
    if (!space.Read(start, std::span(bytes).first(kStub))) return false;
  }
  const FrameState at_start = FrameState::AtStart(space.architecture());
  FrameState state = at_start;
  bool had_frame = false;
  FrameInstruction instruction(space.architecture());
  uint64_t at = 0;
  while (at < code.size() && instruction.Decode(code.subspan(at), {start.value + at})) {
    const FrameInstruction::Flow flow = instruction.flow();
    if (flow == FrameInstruction::Flow::kFarJump) {
      return at < kStub || (had_frame && state.depth == at_start.depth);
    }
    if (flow == FrameInstruction::Flow::kJump)
      return instruction.target() == ElfAddress{function.value};
    if (flow == FrameInstruction::Flow::kEnd) break;
    state = instruction.After(state);
    had_frame = had_frame || state.depth != at_start.depth;
    at += instruction.length();
  }
  return false;
}

}  // namespace

bool IsReturnAddress(const CodeSpace& space, uint64_t address) {
  address = space.WithoutSignature(address);
  MappedCode code;
  std::array<uint8_t, kLongestCall> call{};
  return address > call.size() && space.Find(RuntimeAddress{address - 1}, &code) &&
         space.Read(RuntimeAddress{address - call.size()},
                    std::as_writable_bytes(std::span(call))) &&
         EndsInCall(space.architecture(), call);
}

bool MayFollowCall(const CodeSpace& space, uint64_t address) {
  std::array<uint8_t, kLongestCall> code{};
  const bool is_known =
      space.memory().ReadMemory(address - code.size(), std::as_writable_bytes(std::span(code)));
  return !is_known || EndsInCall(space.architecture(), code);
}

bool FollowsSystemCall(const CodeSpace& space, uint64_t pc) {
  constexpr std::array<uint8_t, 2> kSyscall = {0x0f, 0x05};
  constexpr std::array<uint8_t, 2> kInterrupt = {0xcd, 0x80};                   // int $0x80
  constexpr std::array<uint8_t, 4> kSupervisorCall = {0x01, 0x00, 0x00, 0xd4};  // svc #0
  const auto stands_before = [&](const auto& call) {
    std::remove_cvref_t<decltype(call)> code{};
    return space.memory().ReadMemory(pc - code.size(), std::as_writable_bytes(std::span(code))) &&
           code == call;
  };
  switch (space.architecture()) {
    case Architecture::kX86_64:
      return stands_before(kSyscall);
    case Architecture::kAArch64:
      return stands_before(kSupervisorCall);
    case Architecture::kI386:
      return stands_before(kInterrupt);
  }
  return false;
}

bool CallsFunction(const CodeSpace& space, uint64_t return_address, RuntimeAddress function) {
  constexpr uint8_t kCall = 0xe8;
  constexpr uint64_t kCallSize = 5;
  return_address = space.WithoutSignature(return_address);
  std::array<uint8_t, kLongestCall> code{};
  if (!space.Read(RuntimeAddress{return_address - code.size()},
                  std::as_writable_bytes(std::span(code)))) {
    return false;
  }
  if (space.architecture() == Architecture::kAArch64) {
    std::array<uint8_t, 16> stub{};
    uint32_t call = 0;
    std::memcpy(&call, &code[code.size() - sizeof(call)], sizeof(call));
    const auto target = TargetOfCall(call, return_address - sizeof(call));
    if (!target || *target == function.value) return true;
    if (!space.Read(RuntimeAddress{*target}, std::as_writable_bytes(std::span(stub)))) {
      return false;
    }
    std::memcpy(&call, &stub[stub.size() - sizeof(call)], sizeof(call));
    return (call & 0xfefff000) == 0xd61f0000;  // br
  }
  if (code[code.size() - kCallSize] != kCall) return true;
  int32_t distance = 0;
  std::memcpy(&distance, &code[code.size() - sizeof(distance)], sizeof(distance));
  const uint64_t target =
      WithinWord(space.architecture(), return_address + static_cast<uint64_t>(int64_t{distance}));
  return target == function.value || LeadsTo(space, RuntimeAddress{target}, function);
}

}  // namespace profiler::symbolize
