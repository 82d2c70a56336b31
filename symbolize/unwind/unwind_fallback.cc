// Parts of UnwindWalk: steps from frames whose call frame information is missing or wrong.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "symbolize/unwind/bare_frame.h"
#include "symbolize/unwind/call_instruction.h"
#include "symbolize/unwind/frame_state.h"
#include "symbolize/unwind/unwind_walk.h"

namespace profiler::symbolize {
namespace {

// Size in bytes of code at an image's entry point, which has no caller and often no information.
constexpr uint64_t kEntryCode = 64;
// Number of bytes of code that are read if the mapping ends less than kBareFrameCode bytes after an
// instruction.
constexpr size_t kLeastCode = 8;
// Words at the top of the stack in which hand-written code's return address is searched: more than
// the number of registers that it may save.
constexpr uint64_t kSearchedWords = 8;

}  // namespace

// Steps from code without information about its frames.
UnwindWalk::Next UnwindWalk::StepWithoutRule(ElfAddress address) {
  // Ends the chain if the file has changed, although the frame pointer could lead on to guesses.
  if (in_code_ && code_.cfi != nullptr && code_.cfi->is_outdated()) {
    return End(ChainEnd::kFileChanged);
  }
  if (in_code_ && code_.cfi != nullptr) {
    if (const auto stack_switch = code_.cfi->StackSwitchAt(address)) {
      return StepOverStackSwitch(*stack_switch);
    }
  }
  if (!complete_) registers_.KeepOnly(FollowedRegisters());
  bool is_frameless = false;
  if (const std::optional<Next> next = StepByMachine(&is_frameless)) return *next;
  RegisterSet caller = registers_;
  const Stepped stepped = in_code_ ? StepOverSignalReturn(*this, &caller) : Stepped::kMalformed;
  if (stepped != Stepped::kMalformed) {
    chain_.frames.back().is_return_address = false;
    return Arrive(stepped, caller, false);
  }
  if (in_code_ && code_.cfi != nullptr && IsInEntryPoint(address)) {
    return End(ChainEnd::kThreadStart);
  }
  late_ = false;
  if (!limits_.frame_pointers) return End(in_code_ ? ChainEnd::kNoCfi : ChainEnd::kNoImage);
  if (const auto step = FindDerivedStep(address)) {
    if (step->rule.kind == UnwindRule::kThreadStart) return End(ChainEnd::kThreadStart);
    return StepByRule(step->rule, step->origin, /*is_derived=*/true);
  }
  const bool is_interrupted = chain_.frames.size() == 1 && !is_return_address_;
  if (in_code_ && is_return_address_ && !MayFollowCall(chain_.frames.back().address.value) &&
      StopsAhead(chain_.frames.back().address)) {
    return End(ChainEnd::kThreadStart);
  }
  if (in_code_ && (is_interrupted || is_return_address_)) {
    if (const auto back = FindReturnPath(is_interrupted)) return ReturnBy(*back);
  }
  if (is_frameless) return End(ChainEnd::kNoCfi);
  const Next next = FollowFramePointer();
  const bool is_lost = next == Next::kEnd && chain_.end == ChainEnd::kNoCfi;
  if (is_lost && is_interrupted && code_.cfi != nullptr) {
    if (HasLinkRegister(registers_.architecture()) && knows_link_ &&
        IsReturnAddress(registers_.Get(numbers_.return_address))) {
      return ReturnBy({.in_link_register = true});
    }
    for (uint64_t words = 0; words < kSearchedWords; ++words) {
      uint64_t address = 0;
      if (!ReadCopiedWord(registers_.sp() + words * word_, &address)) break;
      if (IsReturnAddress(address)) return ReturnBy({words, std::nullopt});
    }
  }
  return next;
}

// Returns true if `address` is in the code at the entry point. Other functions may follow that
// code, for example i386's function that reads the pc. They begin after an instruction that does
// not continue to the next one.
bool UnwindWalk::IsInEntryPoint(ElfAddress address) {
  const ElfAddress entry = code_.cfi->entry();
  if (entry.value == 0 || address < entry || address.value - entry.value >= kEntryCode) {
    return false;
  }
  std::array<std::byte, kEntryCode> bytes{};
  std::span<std::byte> code = std::span(bytes).first(address.value - entry.value);
  if (!space_.ReadCode(RuntimeAddress{entry.value + code_.bias}, code)) return true;
  FrameInstruction instruction(registers_.architecture());
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

// Steps with the tables of the virtual machine that made the code. Empty if the machine does not
// know the caller. Then sets `*is_frameless` if the machine knows that the frame pointer belongs to
// a caller.
std::optional<UnwindWalk::Next> UnwindWalk::StepByMachine(bool* is_frameless) {
  if (!in_code_) return std::nullopt;
  ManagedCode* const machine = space_.Managed();
  const bool is_in_image = code_.cfi != nullptr;
  if (machine == nullptr || (is_in_image && !machine->HasCodeInImages())) return std::nullopt;
  const bool was_late = late_;
  const ManagedStep step = machine->StepFrom({registers_, is_return_address_, is_in_image}, *this);
  switch (step.kind) {
    case ManagedStep::Kind::kFrameless:
    case ManagedStep::Kind::kUnknown:
      *is_frameless = step.kind == ManagedStep::Kind::kFrameless;
      late_ = was_late;
      return std::nullopt;
    case ManagedStep::Kind::kUnreadable:
      return EndUnreadable();
    case ManagedStep::Kind::kLost:
      return End(ChainEnd::kNoCfi);
    case ManagedStep::Kind::kCaller:
      break;
  }
  if (!IsAligned(step.sp)) return End(ChainEnd::kBadRegister);
  if (step.sp <= registers_.sp()) return End(ChainEnd::kNoProgress);
  // Ends the chain here, before the frame's address is replaced. A continuation of this chain needs
  // the address.
  if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
  if (step.listed.value != 0) {
    chain_.frames.back().address = step.listed;
    chain_.frames.back().is_return_address = false;
  }
  // Unknown registers read as 0, so any other value comes from the stack.
  knows_frame_ = knows_frame_ || step.fp != 0;
  registers_.KeepOnly(FollowedRegisters());
  const FrameOrigin origin = step.is_guessed ? FrameOrigin::kGuess : FrameOrigin::kCfi;
  const Next next = GoTo(step.pc, step.sp, step.fp, origin, true);
  if (next == Next::kGoOn) chain_.frames.back().stack_pointer = step.frame_end;
  return next;
}

// Finds a step with a rule derived from the function's instructions. The step must lead to a
// plausible caller, because the rule may come from a path that never runs. The step is proven if
// the caller calls this function.
std::optional<UnwindWalk::DerivedStep> UnwindWalk::FindDerivedStep(ElfAddress address) {
  if (!in_code_ || code_.cfi == nullptr) return std::nullopt;
  const DerivedRule derived = code_.cfi->Derive(address);
  const UnwindRule& rule = derived.rule;
  DerivedStep step{rule, FrameOrigin::kGuess};
  if (rule.kind == UnwindRule::kNone) return std::nullopt;
  if (rule.kind == UnwindRule::kThreadStart) {
    // The frame pointer being 0 is no proof, because assembly code may use it for other purposes.
    const bool is_start =
        HasLinkRegister(registers_.architecture()) || StopsAhead(RuntimeAddress{registers_.pc()});
    return is_start ? std::optional(step) : std::nullopt;
  }
  const bool by_sp = rule.kind == UnwindRule::kFromStackPointer;
  if (!by_sp && !knows_frame_) return std::nullopt;
  uint64_t cfa = Displaced(by_sp ? registers_.sp() : registers_.fp(), rule.cfa_offset);
  if (by_sp && !knows_stack_ && !FindRecord(rule, &cfa)) return std::nullopt;
  const bool is_realigned = rule.kind == UnwindRule::kRealigned;
  if (is_realigned && !ReadCopiedWord(cfa, &cfa)) return std::nullopt;
  if (rule.return_slot == 0 && !knows_link_) return std::nullopt;
  uint64_t return_address = registers_.Get(numbers_.return_address);
  const bool is_copied =
      rule.return_slot == 0 || ReadCopiedWord(SlotAddress(cfa, rule.return_slot), &return_address);
  if (!is_copied) return step;
  if (!IsReturnAddress(return_address)) return std::nullopt;
  const RuntimeAddress function{derived.function.value + code_.bias};
  if (derived.is_reached && CallsFunction(return_address, function)) {
    step.origin = FrameOrigin::kCfi;
  }
  return step;
}

// Returns true if the code at `address` never returns but stops the program or the thread: its last
// call is followed by an instruction that no program may run. One example is the code with which
// musl starts threads. Another is the code to which a coroutine's first function returns in Boost
// (make_fcontext); that code follows no call.
bool UnwindWalk::StopsAhead(RuntimeAddress address) {
  std::array<std::byte, kBareFrameCode> bytes{};
  if (HasLinkRegister(registers_.architecture()) || !space_.ReadCode(address, bytes)) return false;
  std::span<const std::byte> code = bytes;
  FrameInstruction instruction(registers_.architecture());
  while (!code.empty() && instruction.Decode(code, {})) {
    if (instruction.Halts()) return true;
    const FrameInstruction::Flow flow = instruction.flow();
    if (flow != FrameInstruction::Flow::kNext && flow != FrameInstruction::Flow::kCall) break;
    code = code.subspan(instruction.length());
  }
  return false;
}

// Returns true if the last frame is the image's entry point, which the kernel starts.
bool UnwindWalk::IsInFirstFunction() {
  if (!in_code_ || code_.cfi == nullptr || code_.cfi->entry().value == 0) return false;
  const ElfAddress address{chain_.frames.back().instruction().value - code_.bias};
  const auto function = code_.cfi->FunctionAt(address);
  return function ? function->start == code_.cfi->entry() : IsInEntryPoint(address);
}

// Returns true if a function begins at `address` that never returns: no path reaches a return, or
// leaves the function except by a call.
bool UnwindWalk::IsStartOfStack(ElfAddress address) {
  using Flow = FrameInstruction::Flow;
  constexpr size_t kMostBytes = 512;
  const auto function = code_.cfi->FunctionAt(address);
  if (!function || function->start != address || function->size > kMostBytes) return false;
  std::array<std::byte, kMostBytes> bytes;
  const auto code = std::span(bytes).first(function->size);
  if (!space_.ReadCode(RuntimeAddress{address.value + code_.bias}, code)) return false;
  std::array<bool, kMostBytes> is_met{};
  // Offsets at which to continue. Each instruction adds at most one.
  std::array<uint16_t, kMostBytes> places{};
  size_t count = 1;
  while (count != 0) {
    size_t at = places[--count];
    while (!is_met[at]) {
      FrameInstruction instruction(registers_.architecture());
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

// Ends the chain at a return address of 0. Code that makes a stack may put 0 at the stack's end.
// But a word that was wrongly taken for a return address may also be 0. So the function, or the
// position of the word, must show that the stack begins there. `caller_sp` is the address after the
// word.
UnwindWalk::Next UnwindWalk::EndAtZero(uint64_t caller_sp) {
  // Most bytes after the word: alignment, and arguments of the first function.
  constexpr uint64_t kMostBehind = 64;
  const uint64_t end = stack_.start + stack_.bytes.size();
  const bool is_last_word = stack_.reaches_end && caller_sp > stack_.start && caller_sp <= end &&
                            end - caller_sp <= kMostBehind;
  return End(is_last_word || IsInFirstFunction() ? ChainEnd::kThreadStart
                                                 : ChainEnd::kNoReturnAddress);
}

// Returns true if a system call precedes `pc`. A thread in a system call has its pc after the
// instruction, which may be the last one of its function. An example is the C library's return from
// a signal.
bool UnwindWalk::IsBehindSystemCall(uint64_t pc) {
  const std::span<const uint8_t> call = registers_.architecture()->system_call;
  std::array<std::byte, kLongestCall> room{};
  const std::span<std::byte> code = std::span(room).first(call.size());
  return !call.empty() && space_.ReadMemory(pc - code.size(), code) &&
         std::memcmp(code.data(), call.data(), code.size()) == 0;
}

// Corrects the rule of an interrupted function with a link register. Some call frame information is
// made only for exceptions (rustc) and is valid only at calls. In such information, the rule of a
// function's start covers the whole prologue, and the rule before the epilogue also covers the
// return.
UnwindRule UnwindWalk::MendInterruptedRule(ElfAddress address, UnwindRule told) {
  constexpr uint64_t kMostBytes = 128;  // longest prologue in bytes
  const UnwindRule at_ends{.kind = UnwindRule::kFromStackPointer};
  const Architecture architecture = registers_.architecture();
  const size_t size = architecture->instruction_size;
  if (size == 0) return told;
  const RuntimeAddress pc = chain_.frames.back().address;
  FrameInstruction instruction(architecture);
  std::array<std::byte, kMostBytes> bytes;
  if (told != at_ends) {
    const auto code = std::span(bytes).first(size);
    const bool returns =
        space_.ReadCode(pc, code) && instruction.Decode(code, {}) && instruction.Returns();
    return returns ? at_ends : told;
  }
  const auto function = code_.cfi->FunctionAt(address);
  const uint64_t distance = function ? address.value - function->start.value : 0;
  if (distance == 0 || distance > kMostBytes || distance % size != 0 ||
      !space_.ReadCode(RuntimeAddress{pc.value - distance}, std::span(bytes).first(distance))) {
    return told;
  }
  const std::span<const std::byte> passed = std::span(bytes).first(distance);
  FrameState state = FrameState::AtStart(architecture);
  for (uint64_t at = 0; at < distance; at += size) {
    const bool is_decoded = instruction.Decode(passed.subspan(at), {});
    if (!is_decoded || instruction.flow() != FrameInstruction::Flow::kNext) return told;
    state = instruction.After(state);
  }
  const UnwindRule rule = UnwindRuleOf(state, architecture);
  return rule.kind == UnwindRule::kNone ? told : rule;
}

// Returns the positions of the caller's registers if the last frame's next instructions show that
// following the frame pointer would be wrong.
std::optional<ReturnPath> UnwindWalk::FindReturnPath(bool is_interrupted) {
  std::array<uint8_t, kBareFrameCode> code{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(code));
  const RuntimeAddress pc = chain_.frames.back().address;
  // Reads fewer bytes if the mapping ends soon after `pc`.
  if (!space_.ReadCode(pc, bytes) && !space_.ReadCode(pc, bytes.first(kLeastCode))) {
    return std::nullopt;
  }
  auto back = ReturnPathOf(registers_.architecture(), code, is_interrupted);
  if (!back && is_interrupted) back = ReturnPathOfLeaf();
  if (!back || (back->in_link_register && !knows_link_)) return std::nullopt;
  uint64_t address = registers_.Get(numbers_.return_address);
  const bool is_known = back->in_link_register ||
                        ReadCopiedWord(registers_.sp() + back->return_address * word_, &address);
  return is_known && !IsReturnAddress(address) ? std::nullopt : back;
}

// Returns the positions of the caller's registers if the link register still has the last frame's
// return address. Two conditions must hold: the call before that address leads to a start at or
// before the interrupted instruction, and no instruction from this start to the interrupted one
// makes a call or saves the link register.
std::optional<ReturnPath> UnwindWalk::ReturnPathOfLeaf() {
  constexpr uint64_t kMostBytes = 4096;  // longest function in bytes that calls nothing
  const Architecture architecture = registers_.architecture();
  if (architecture->link_use == nullptr || architecture->target_of_call == nullptr ||
      !knows_link_) {
    return std::nullopt;
  }
  const uint64_t pc = registers_.pc();
  const uint64_t link = WithoutSignature(registers_.Get(numbers_.return_address));
  const size_t size = std::min(architecture->instruction_size, kLongestCall);
  std::array<uint8_t, kLongestCall> call{};
  if (!space_.ReadCode(RuntimeAddress{link - size},
                       std::as_writable_bytes(std::span(call).last(size)))) {
    return std::nullopt;
  }
  const std::optional<uint64_t> start = architecture->target_of_call(call, link);
  if (!start || *start > pc || pc - *start > kMostBytes) return std::nullopt;
  std::array<uint8_t, kMostBytes> code;
  const auto passed = std::span(code).first(pc - *start);
  if (!space_.ReadCode(RuntimeAddress{*start}, std::as_writable_bytes(passed))) return std::nullopt;
  const LinkUse use = architecture->link_use(passed);
  if (!use.keeps_link) return std::nullopt;
  ReturnPath back{.in_link_register = true};
  if (use.keeps_stack) back.caller_stack = 0;
  return back;
}

// Returns true if `address` follows a call.
bool UnwindWalk::IsReturnAddress(uint64_t address) {
  address = WithoutSignature(address);
  MappedCode code;
  std::array<uint8_t, kLongestCall> call{};
  return address > call.size() && FindCode(RuntimeAddress{address - 1}, &code) &&
         space_.ReadCode(RuntimeAddress{address - call.size()},
                         std::as_writable_bytes(std::span(call))) &&
         EndsInCall(registers_.architecture(), call);
}

// Returns true if the call before `return_address` may call `function`: its target is `function`,
// code that jumps to `function`, or an address in a register or memory.
bool UnwindWalk::CallsFunction(uint64_t return_address, RuntimeAddress function) {
  const Architecture architecture = registers_.architecture();
  return_address = WithoutSignature(return_address);
  std::array<uint8_t, kLongestCall> code{};
  if (!space_.ReadCode(RuntimeAddress{return_address - code.size()},
                       std::as_writable_bytes(std::span(code)))) {
    return false;
  }
  if (architecture->target_of_call == nullptr) return true;
  const auto target = architecture->target_of_call(code, return_address);
  if (!target || *target == function.value) return true;
  if (architecture->is_jump_stub == nullptr) return LeadsTo(RuntimeAddress{*target}, function);
  std::array<uint8_t, kJumpStub> stub{};
  return space_.ReadCode(RuntimeAddress{*target}, std::as_writable_bytes(std::span(stub))) &&
         architecture->is_jump_stub(stub);
}

// Returns true if the code at `start` jumps to `function` instead of returning. A jump through
// a register or memory counts if it is the first instruction, as in linkage tables, or if it comes
// after the frame was removed. Other jumps through a register or memory stay in the code at
// `start`. Reads at most 128 bytes.
bool UnwindWalk::LeadsTo(RuntimeAddress start, RuntimeAddress function) {
  constexpr uint64_t kStub = 16;
  std::array<std::byte, 128> bytes{};
  std::span<const std::byte> code = bytes;
  if (!space_.ReadCode(start, bytes)) {
    code = code.first(kStub);
    if (!space_.ReadCode(start, std::span(bytes).first(kStub))) return false;
  }
  const FrameState at_start = FrameState::AtStart(registers_.architecture());
  FrameState state = at_start;
  bool had_frame = false;
  FrameInstruction instruction(registers_.architecture());
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

// Returns false if the instruction before `address` is certainly no call.
bool UnwindWalk::MayFollowCall(uint64_t address) {
  std::array<uint8_t, kLongestCall> code{};
  const bool is_known =
      space_.ReadMemory(address - code.size(), std::as_writable_bytes(std::span(code)));
  return !is_known || EndsInCall(registers_.architecture(), code);
}

UnwindWalk::Next UnwindWalk::ReturnBy(const ReturnPath& back) {
  const uint64_t sp = registers_.sp();
  const uint64_t slot = sp + back.return_address * word_;
  uint64_t address = registers_.Get(numbers_.return_address);
  uint64_t caller_fp = registers_.fp();
  if (!back.in_link_register && !ReadStackWord(slot, &address)) return EndUnreadable();
  if (back.frame_pointer && !ReadStackWord(sp + *back.frame_pointer * word_, &caller_fp)) {
    return EndUnreadable();
  }
  knows_frame_ = knows_frame_ || back.frame_pointer.has_value();
  address = WithoutSignature(address);
  registers_.KeepOnly(FollowedRegisters());
  if (!HasLinkRegister(registers_.architecture())) {
    return GoTo(address, slot + word_, caller_fp, FrameOrigin::kGuess, true);
  }
  const Next next = GoTo(address, sp + back.caller_stack.value_or(0) * word_, caller_fp,
                         FrameOrigin::kGuess, true);
  knows_stack_ = back.caller_stack.has_value();
  return next;
}

// Goes to a caller whose frame begins at `sp`; with a link register it may also begin further out.
UnwindWalk::Next UnwindWalk::GoToAboveRecord(uint64_t pc, uint64_t sp, uint64_t fp) {
  const Next next = GoTo(pc, sp, fp, FrameOrigin::kGuess, true);
  knows_stack_ = !HasLinkRegister(registers_.architecture());
  return next;
}

// Follows the frame pointer:
//
//   fp ▶ │ caller's fp    │
//        │ return address │
//        ├─ caller's sp ──┤  (with a link register here or further out)
//
// The second word must be the address of an instruction. If the code uses the register for other
// purposes, the second word is rarely such an address.
UnwindWalk::Next UnwindWalk::FollowFramePointer() {
  const ChainEnd unknown = in_code_ ? ChainEnd::kNoCfi : ChainEnd::kNoImage;
  const uint64_t fp = registers_.fp();
  if (!knows_frame_) return End(in_code_ ? ChainEnd::kBadRegister : unknown);
  if (fp == 0 && in_code_ && is_return_address_ && StopsAhead(chain_.frames.back().address)) {
    return End(ChainEnd::kThreadStart);
  }
  if (!IsAligned(fp) || fp < registers_.sp()) return End(unknown);
  uint64_t caller_fp = 0;
  uint64_t return_address = 0;
  if (!ReadStackWord(fp, &caller_fp) || !ReadStackWord(fp + word_, &return_address)) {
    const uint64_t end = stack_.start + stack_.bytes.size();
    return End(fp - registers_.sp() < kStackReach && fp + 2 * word_ > end ? ChainEnd::kStackTooShort
                                                                          : unknown);
  }
  const uint64_t stripped = WithoutSignature(return_address);
  MappedCode code;
  if (stripped != 0 && !FindCode(RuntimeAddress{stripped - 1}, &code)) return End(unknown);
  registers_.KeepOnly(FollowedRegisters());
  return GoToAboveRecord(stripped, fp + 2 * word_, caller_fp);
}

// Continues a walk that ended at the interrupted function, with a rule derived from the function's
// instructions. Returns true if that succeeded. Hand-written call frame information may be wrong.
// For example, the information about glibc's memcpy for i386 ignores a push
// (sysdeps/i386/i686/memcpy.S, 2.36).
bool UnwindWalk::LeaveByInstructions(const RegisterSet& registers, bool pc_is_return_address) {
  const bool is_lost =
      (chain_.end == ChainEnd::kBadReturnAddress || chain_.end == ChainEnd::kNoReturnAddress) &&
      chain_.frames.size() == 1;
  if (!is_lost || pc_is_return_address || !limits_.frame_pointers) return false;
  Start(registers, pc_is_return_address, /*all_registers=*/false);
  const RuntimeAddress pc = chain_.frames.back().address;
  in_code_ = FindCode(pc, &code_);
  const auto step = FindDerivedStep({pc.value - code_.bias});
  return step && step->rule.kind != UnwindRule::kThreadStart &&
         StepByRule(step->rule, step->origin, /*is_derived=*/true) == Next::kGoOn;
}

// Continues a lost walk that met an exception being handed over. Returns true if that succeeded.
// The throwing function, libgcc's _Unwind_RaiseException or a similar function, finally returns
// into the function that catches. Before it returns, it overwrites the registers saved in its own
// frame, one after the other, with the registers of the catching function. It also overwrites its
// return address with an address in the catching function:
//
//   its frame               │ fp …           │  of the catching function
//                           │ return address │  in the catching function: a copy of …
//                           ├────────────────┤
//   frames to be dropped    │                │
//   … of the catching       │ return address │  … this one; finally the address that catches
//     function's callee     ├────────────────┤  so the catching function's frame begins here
//
// During most of a throw, the catching function is still being searched for. So a chain that ends
// with the stack's bytes, or at the frame limit, is right as far as it goes.
bool UnwindWalk::FindCatchingFrame() {
  constexpr size_t kInnermost = 3;  // the throwing function is one of the 3 innermost frames
  const bool is_lost = chain_.end == ChainEnd::kNoImage || chain_.end == ChainEnd::kNoCfi ||
                       chain_.end == ChainEnd::kBadRegister ||
                       chain_.end == ChainEnd::kNoProgress ||
                       chain_.end == ChainEnd::kBadReturnAddress;
  if (!is_lost || !limits_.frame_pointers) return false;
  const size_t count = std::min(chain_.frames.size(), kInnermost + 1);
  for (size_t i = 0; i + 1 < count; ++i) {
    if (HandsOver(chain_.frames[i].instruction())) return GoOnWhereCaught(i + 1);
  }
  return false;
}

// Returns true if the function that contains `instruction` hands over exceptions. Stores the full
// rules at `instruction` in rules_. Only functions that hand over exceptions save the two registers
// that carry an exception, because other functions need not preserve these registers.
bool UnwindWalk::HandsOver(RuntimeAddress instruction) {
  MappedCode code;
  return FindCode(instruction, &code) && code.cfi != nullptr &&
         FullRules(*code.cfi, {instruction.value - code.bias}) == CfiTable::Told::kRules &&
         rules_.registers[numbers_.exception[0]].kind == RegisterRule::kOffset &&
         rules_.registers[numbers_.exception[1]].kind == RegisterRule::kOffset;
}

// Continues at the frame to which rules_ lead, the frame of the catching function.
bool UnwindWalk::GoOnWhereCaught(size_t frame) {
  const uint64_t cfa = chain_.frames[frame].stack_pointer;
  const uint64_t address = chain_.frames[frame].address.value;
  const RegisterRule& fp_rule = rules_.registers[numbers_.fp];
  uint64_t fp = 0;
  if (fp_rule.kind != RegisterRule::kOffset ||
      !ReadStackWord(cfa + static_cast<uint64_t>(fp_rule.offset), &fp)) {
    return false;
  }
  const std::optional<uint64_t> slot = FindCatchingCall(cfa, chain_.frames[frame].instruction());
  if (!slot) return false;
  KeepFrames(frame);
  known_.Start(0, 0);  // the failed walk must not be reused
  in_code_ = false;
  registers_.KeepOnly(FollowedRegisters());
  knows_frame_ = true;
  return GoToAboveRecord(address, *slot + word_, fp) == Next::kGoOn;
}

// Searches the stack, beginning at `address`, for a word that is the address after the instruction
// `call`, or the address of a landing pad of the function that contains `call`. Returns the stack
// address of the word; empty if there is none.
std::optional<uint64_t> UnwindWalk::FindCatchingCall(uint64_t address, RuntimeAddress call) {
  MappedCode code;
  if (!FindCode(call, &code) || code.cfi == nullptr) return std::nullopt;
  const auto function = code.cfi->FunctionAt({call.value - code.bias});
  if (!function) return std::nullopt;
  const uint64_t start = function->start.value + code.bias;
  for (uint64_t word = 0; ReadCopiedWord(address, &word); address += word_) {
    word = Stripped(word);
    if (word - start > function->size) continue;
    if (word == call.value + 1 || !MayFollowCall(word)) return address;
  }
  return std::nullopt;
}

void UnwindWalk::KeepFrames(size_t count) {
  for (size_t i = count; i < chain_.frames.size(); ++i) {
    chain_.guessed -= chain_.frames[i].origin == FrameOrigin::kGuess ? 1 : 0;
    chain_.late_read -= chain_.frames[i].late_read ? 1 : 0;
  }
  chain_.frames.resize(count);
  late_ = false;
}

}  // namespace profiler::symbolize
