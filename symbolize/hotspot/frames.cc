#include "symbolize/hotspot/frames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "symbolize/hotspot/class_unloads.h"
#include "symbolize/hotspot/code_cache.h"
#include "symbolize/hotspot/layout.h"
#include "symbolize/hotspot/leaf_frame.h"
#include "symbolize/hotspot/methods.h"
#include "symbolize/hotspot/reported_code.h"
#include "symbolize/hotspot/vm_structs.h"
#include "symbolize/unwind/call_instruction.h"

namespace profiler::symbolize::hotspot {
namespace {

using Kind = ManagedStep::Kind;

// Number of attempts to read the layout if it is missing: after 1, 2, 4 … refreshes.
constexpr uint32_t kMostTriesToRead = 14;
// DWARF numbers. The interpreter keeps the address of the current bytecode in r13.
constexpr unsigned kR13 = 13, kRax = 0, kRbx = 3;
// Bytes read after an interrupted instruction, to see whether the frame is being removed.
constexpr size_t kAhead = 64;
constexpr int64_t kLongestPrologue = 512;
// Largest distance in bytes from the stack pointer to the end of a stub's frame, and number of
// words searched for its return address.
constexpr uint64_t kLargestStubFrame = 4096, kSearchedWords = 64;
constexpr uint64_t kLargestInterpretedFrame = uint64_t{1} << 20;

}  // namespace

// A process whose layout is known.
class HotSpotFrames::Machine {
 public:
  Machine(ProcessMemory& memory, CodeSink& sink, Layout layout)
      : memory_(memory),
        layout_(std::move(layout)),
        cache_(memory, memory_, layout_),
        methods_(memory, memory_, layout_),
        unloads_(memory, layout_),
        told_(memory_, layout_, cache_, methods_, sink) {
    Look();
  }

  void Refresh() {
    memory_.Refresh();
    cache_.Refresh();
    methods_.Refresh();
    Look();
  }

  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack, uint64_t time) {
    time_ = time;
    const uint64_t pc = frame.registers.pc();
    const uint64_t instruction = pc - (frame.is_return_address ? 1 : 0);
    const CodeCache::Known* const found = cache_.Find(instruction);
    if (found == nullptr && !cache_.HasCode(instruction)) return {};
    if (found == nullptr || !found->WasThere(time_)) {
      told_.Hide(instruction);
      return StepFromFresh(found, frame, stack);
    }
    told_.Tell(*found);
    return StepFromBlob(found->blob, frame, stack);
  }

 private:
  // Steps from code at an address that had no code at the last look. The sample was most likely in
  // this code. The code gets no name, and its caller counts as guessed.
  ManagedStep StepFromFresh(const CodeCache::Known* found, const ManagedFrame& frame,
                            MemoryReader& stack) {
    if (found == nullptr || !found->is_fresh) return {.kind = Kind::kLost};
    const Blob blob = found->blob;
    ManagedStep step = StepFromBlob(blob, frame, stack);
    if (step.kind != Kind::kCaller) return step;
    const CodeCache::Known* const caller = cache_.Find(step.pc - 1);
    const bool is_known = caller != nullptr && (caller->WasThere(time_) || caller->is_fresh);
    const bool is_called = is_known && (caller->blob.kind == Blob::Kind::kInterpreter ||
                                        step.pc == CallStubReturn() || FollowsCall(step.pc));
    if (!is_called || !cache_.IsStill(blob)) return {.kind = Kind::kLost};
    step.is_guessed = true;
    step.listed = {};
    return step;
  }

  ManagedStep StepFromBlob(const Blob& blob, const ManagedFrame& frame, MemoryReader& stack) {
    const uint64_t pc = frame.registers.pc();
    switch (blob.kind) {
      case Blob::Kind::kInterpreter:
        return StepFromInterpreter(frame, stack);
      case Blob::Kind::kCompiled:
        if (!frame.is_return_address) {
          const bool is_begun = static_cast<int64_t>(pc - blob.code_begin) < blob.frame_complete;
          if (const auto leaf = LeafFrameOf(blob, pc)) return StepBy(*leaf, frame, stack);
          if (is_begun) return {.kind = Kind::kLost};
        }
        [[fallthrough]];
      case Blob::Kind::kFramed:
        return StepBySize(blob, frame, stack);
      case Blob::Kind::kFrameless:
        return StepFromStub(frame, stack);
    }
    return {};
  }

  // Reads the state that proves later which code was there at the time of a sample.
  void Look() {
    cache_.List();
    unloads_.Look();
  }

  // Returns code that was there when the sample was taken, and still is.
  const CodeCache::Known* Find(uint64_t pc) {
    const CodeCache::Known* const found = cache_.Find(pc);
    return found != nullptr && found->WasThere(time_) ? found : nullptr;
  }
  bool WasThere(const Methods::Known& known) {
    return known.since <= time_ || unloads_.NoneSince(time_);
  }

  // ---- compiled code and stubs

  ManagedStep StepBySize(const Blob& blob, const ManagedFrame& frame, MemoryReader& stack) {
    if (blob.frame_bytes < kWord) return {.kind = Kind::kLost};
    const uint64_t end = frame.registers.sp() + blob.frame_bytes;
    std::array<uint64_t, 2> top{};  // the caller's fp, the return address
    if (blob.frame_bytes < 2 * kWord) {
      top[0] = frame.registers.fp();
      if (!stack.ReadWord(end - kWord, &top[1])) return {.kind = Kind::kUnreadable};
    } else if (!stack.ReadBytes(end - 2 * kWord, std::as_writable_bytes(std::span(top)))) {
      return {.kind = Kind::kUnreadable};
    }
    ManagedStep step = Caller(top[1], end, top[0]);
    // A deoptimized frame returns to the deoptimization handler. Its real pc is stored in the
    // frame.
    const bool is_deoptimized = frame.is_return_address && blob.deopt_handler != 0 &&
                                frame.registers.pc() == blob.deopt_handler;
    uint64_t pc = 0;
    if (is_deoptimized && blob.orig_pc > 0 &&
        stack.ReadWord(frame.registers.sp() + static_cast<uint32_t>(blob.orig_pc), &pc) &&
        blob.HasCode(pc - 1)) {
      step.listed = {pc - 1};
    }
    return step;
  }

  static ManagedStep Caller(uint64_t pc, uint64_t sp, uint64_t fp) {
    return {.kind = Kind::kCaller, .pc = pc, .sp = sp, .fp = fp, .frame_end = sp};
  }

  std::optional<LeafFrame> LeafFrameOf(const Blob& blob, uint64_t pc) {
    const auto distance = static_cast<int64_t>(pc - blob.code_begin);
    std::array<uint8_t, kLongestPrologue> code;
    if (distance < blob.frame_complete) {
      if (distance > kLongestPrologue) return std::nullopt;
      const auto before = std::span(code).first(static_cast<size_t>(distance));
      if (!memory_.Read(blob.code_begin, std::as_writable_bytes(before))) return std::nullopt;
      return FrameInPrologue(before);
    }
    const auto ahead = std::span(code).first(std::min<uint64_t>(kAhead, blob.code_end - pc));
    if (!memory_.Read(pc, std::as_writable_bytes(ahead))) return std::nullopt;
    return FrameInEpilogue(ahead);
  }

  static ManagedStep StepBy(const LeafFrame& leaf, const ManagedFrame& frame, MemoryReader& stack) {
    const uint64_t sp = frame.registers.sp();
    uint64_t pc = 0, fp = frame.registers.fp();
    if (!stack.ReadWord(sp + leaf.return_address, &pc)) return {.kind = Kind::kUnreadable};
    if (leaf.frame_pointer && !stack.ReadWord(sp + *leaf.frame_pointer, &fp)) {
      return {.kind = Kind::kUnreadable};
    }
    return Caller(pc, sp + leaf.return_address + kWord, fp);
  }

  // ---- stubs of other sizes

  ManagedStep StepFromStub(const ManagedFrame& frame, MemoryReader& stack) {
    const uint64_t sp = frame.registers.sp(), fp = frame.registers.fp();
    uint64_t pc = 0, caller_fp = 0;
    const auto by_frame_pointer = [&] {
      return fp >= sp && fp % kWord == 0 && stack.ReadWord(fp, &caller_fp) &&
             stack.ReadWord(fp + kWord, &pc);
    };
    // The VM calls Java through this stub, which has a frame pointer.
    if (frame.is_return_address && frame.registers.pc() == CallStubReturn()) {
      return by_frame_pointer() ? Caller(pc, fp + 2 * kWord, caller_fp)
                                : ManagedStep{.kind = Kind::kUnreadable};
    }
    if (!frame.is_return_address) {
      if (!stack.ReadWord(sp, &pc)) return {.kind = Kind::kUnreadable};
      if (IsReturnAddress(pc)) return Caller(pc, sp + kWord, fp);
    }
    const auto guess = [](ManagedStep step) {
      step.is_guessed = true;
      return step;
    };
    if (fp - sp < kLargestStubFrame && by_frame_pointer() && IsReturnAddress(pc)) {
      return guess(Caller(pc, fp + 2 * kWord, caller_fp));
    }
    for (uint64_t i = frame.is_return_address ? 0 : 1; i < kSearchedWords; ++i) {
      if (!stack.ReadWord(sp + i * kWord, &pc)) break;
      if (IsReturnAddress(pc)) return guess(Caller(pc, sp + (i + 1) * kWord, fp));
    }
    // This may be the stub from which the VM calls Java, before or after the call. The caller of
    // that stub is no Java code.
    return {};
  }

  uint64_t CallStubReturn() {
    if (!call_stub_return_ && layout_.call_stub_return) {
      call_stub_return_ = memory_.Value<uint64_t>(*layout_.call_stub_return);
    }
    return call_stub_return_.value_or(0);
  }

  // Returns true if the address is in HotSpot's code, after a call.
  bool IsReturnAddress(uint64_t address) {
    return Find(address - 1) != nullptr && FollowsCall(address);
  }
  bool FollowsCall(uint64_t address) {
    std::array<uint8_t, kLongestCall> code;
    return address >= code.size() &&
           memory_.Read(address - code.size(), std::as_writable_bytes(std::span(code))) &&
           EndsInCall(Architecture::kX86_64, code);
  }

  // ---- the interpreter

  // Words from fp − 64 to fp + 15.
  struct InterpretedFrame {
    uint64_t bytecode, locals, cache, profile, mirror, method, called_sp, sender_sp;
    uint64_t caller_fp, return_address;
  };
  static_assert(sizeof(InterpretedFrame) == 80);

  ManagedStep StepFromInterpreter(const ManagedFrame& frame, MemoryReader& stack) {
    const uint64_t sp = frame.registers.sp(), fp = frame.registers.fp();
    constexpr uint64_t kBelow = offsetof(InterpretedFrame, caller_fp);
    if (fp % kWord != 0 || fp < sp || fp - sp > kLargestInterpretedFrame) {
      return StepFromEntry(frame, stack);
    }
    if (!frame.is_return_address && fp - sp < kBelow) return StepFromBegun(frame, stack);
    InterpretedFrame words{};
    if (!stack.ReadBytes(fp - kBelow, std::as_writable_bytes(std::span(&words, 1)))) {
      return {.kind = Kind::kUnreadable};
    }
    // A method stores its sp when it makes a call, and has 0 there while it runs. If the value is
    // set although the interpreter was interrupted, this frame belongs to the caller of a method
    // that has no frame yet.
    if (!frame.is_return_address && words.called_sp != 0) return StepFromEntry(frame, stack);
    const Methods::Known* const known = methods_.Find(words.method);
    if (known == nullptr) return StepFromEntry(frame, stack);
    const Method& method = known->method;
    const uint64_t frame_end = fp + 2 * kWord;
    if (words.sender_sp < frame_end || words.sender_sp - frame_end > kLargestInterpretedFrame) {
      return {.kind = Kind::kLost};
    }
    ManagedStep step = Caller(words.return_address, words.sender_sp, words.caller_fp);
    step.frame_end = frame_end;
    if (!WasThere(*known)) return step;
    told_.Tell(*known);
    step.listed = {method.const_method};
    const auto is_its = [&](uint64_t bytecode) {
      return bytecode >= method.bytecodes && bytecode - method.bytecodes < method.code.size();
    };
    const bool has_register = !frame.is_return_address && frame.registers.Knows(kR13);
    if (has_register && is_its(frame.registers.Get(kR13))) {
      step.listed = {frame.registers.Get(kR13)};
    } else if (is_its(words.bytecode)) {
      step.listed = {words.bytecode};
    } else if (!method.code.empty()) {
      step.listed = {method.bytecodes};
    }
    return step;
  }

  // Steps from the interpreter when it has no frame yet, or no frame any more. On entry, rbx has
  // the method and r13 the caller's sp. The return address is first on top of the stack, then in
  // rax while space for the method's variables is added below it, and finally below the caller's
  // rbp. Source: TemplateInterpreterGenerator::generate_normal_entry, JDK 17 and 25.
  ManagedStep StepFromEntry(const ManagedFrame& frame, MemoryReader& stack) {
    if (frame.is_return_address) return {.kind = Kind::kLost};
    const RegisterSet& registers = frame.registers;
    const uint64_t sp = registers.sp();
    std::array<uint64_t, 2> top{};
    if (!stack.ReadWord(sp, &top[0])) return {.kind = Kind::kUnreadable};
    static_cast<void>(stack.ReadWord(sp + kWord, &top[1]));
    if (MayCallInterpreter(top[0])) return Entering(frame, top[0], sp + kWord, registers.fp());
    if (MayCallInterpreter(registers.Get(kRax))) {
      return Entering(frame, registers.Get(kRax), sp, registers.fp());
    }
    if (MayCallInterpreter(top[1])) return Entering(frame, top[1], sp + 2 * kWord, top[0]);
    return {.kind = Kind::kLost};
  }

  // Steps from a frame that has its frame pointer but is incomplete.
  ManagedStep StepFromBegun(const ManagedFrame& frame, MemoryReader& stack) {
    std::array<uint64_t, 2> top{};  // the caller's fp, the return address
    const uint64_t fp = frame.registers.fp();
    if (!stack.ReadBytes(fp, std::as_writable_bytes(std::span(top)))) {
      return {.kind = Kind::kUnreadable};
    }
    if (!MayCallInterpreter(top[1])) return {.kind = Kind::kLost};
    ManagedStep step = Entering(frame, top[1], fp + 2 * kWord, top[0]);
    uint64_t sender_sp = 0;
    if (frame.registers.sp() < fp && stack.ReadWord(fp - kWord, &sender_sp) &&
        sender_sp >= step.frame_end && sender_sp - step.frame_end <= kLargestInterpretedFrame) {
      step.sp = sender_sp;
    }
    return step;
  }

  // Returns the step to the caller of a method that is being entered. The existing part of the
  // method's frame ends at `frame_end`.
  ManagedStep Entering(const ManagedFrame& frame, uint64_t pc, uint64_t frame_end, uint64_t fp) {
    // For an interpreted caller, only the frame pointer matters.
    const uint64_t above = frame.registers.sp() + kWord;
    ManagedStep step = Caller(pc, std::max(frame_end, above), fp);
    const uint64_t sender_sp = frame.registers.Get(kR13);
    const bool is_on_its_way = frame.registers.Knows(kR13) && sender_sp % kWord == 0 &&
                               sender_sp >= frame_end &&
                               sender_sp - frame_end <= kLargestInterpretedFrame;
    if (!is_on_its_way) return step;
    step.sp = std::max(sender_sp, above);
    const Methods::Known* const known = methods_.Find(frame.registers.Get(kRbx));
    if (known != nullptr && WasThere(*known)) {
      told_.Tell(*known);
      const Method& method = known->method;
      step.listed = {method.code.empty() ? method.const_method : method.bytecodes};
    }
    return step;
  }

  // Returns true if `address` may be a return address of an interpreted method. The interpreter
  // jumps to the methods that it calls, so such an address may follow no call instruction.
  bool MayCallInterpreter(uint64_t address) {
    const CodeCache::Known* const code = address == 0 ? nullptr : Find(address - 1);
    if (code == nullptr) return false;
    return code->blob.kind == Blob::Kind::kInterpreter || address == CallStubReturn() ||
           IsReturnAddress(address);
  }

  PagedMemory memory_;
  const Layout layout_;
  CodeCache cache_;
  Methods methods_;
  ClassUnloads unloads_;
  std::optional<uint64_t> call_stub_return_;
  ReportedCode told_;
  uint64_t time_ = 0;  // time of the current sample
};

HotSpotFrames::HotSpotFrames(ProcessMemory& memory, FindVariable find, CodeSink& sink)
    : memory_(memory), find_(std::move(find)), sink_(sink) {}

HotSpotFrames::~HotSpotFrames() = default;

void HotSpotFrames::Refresh() {
  if (wait_ > 0) --wait_;
  if (machine_ != nullptr) machine_->Refresh();
}

ManagedStep HotSpotFrames::StepFrom(const ManagedFrame& frame, MemoryReader& stack) {
  if (frame.registers.architecture() != Architecture::kX86_64 || !FindMachine()) return {};
  return machine_->StepFrom(frame, stack, time_);
}

bool HotSpotFrames::FindMachine() {
  if (machine_ != nullptr) return true;
  if (wait_ > 0 || tries_ >= kMostTriesToRead) return false;
  wait_ = uint32_t{1} << tries_++;
  PagedMemory paged(memory_);
  const auto structs = VmStructs::Read(paged, find_);
  if (!structs) return false;
  const auto layout = Layout::Of(*structs, paged, &missing_);
  if (!layout) return false;
  machine_ = std::make_unique<Machine>(memory_, sink_, *layout);
  return true;
}

}  // namespace profiler::symbolize::hotspot
