#include "symbolize/unwind/call_evidence.h"

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "symbolize/unwind/call_instruction.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

// Returns true if the code at `start` jumps to `function` instead of returning. A jump through
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
  const std::span<const uint8_t> call = space.architecture()->system_call;
  std::array<std::byte, kLongestCall> room{};
  const std::span<std::byte> code = std::span(room).first(call.size());
  return !call.empty() && space.memory().ReadMemory(pc - code.size(), code) &&
         std::memcmp(code.data(), call.data(), code.size()) == 0;
}

bool CallsFunction(const CodeSpace& space, uint64_t return_address, RuntimeAddress function) {
  const Architecture architecture = space.architecture();
  return_address = space.WithoutSignature(return_address);
  std::array<uint8_t, kLongestCall> code{};
  if (!space.Read(RuntimeAddress{return_address - code.size()},
                  std::as_writable_bytes(std::span(code)))) {
    return false;
  }
  if (architecture->target_of_call == nullptr) return true;
  const auto target = architecture->target_of_call(code, return_address);
  if (!target || *target == function.value) return true;
  if (architecture->is_jump_stub == nullptr)
    return LeadsTo(space, RuntimeAddress{*target}, function);
  std::array<uint8_t, kJumpStub> stub{};
  return space.Read(RuntimeAddress{*target}, std::as_writable_bytes(std::span(stub))) &&
         architecture->is_jump_stub(stub);
}

}  // namespace profiler::symbolize
