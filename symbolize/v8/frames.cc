#include "symbolize/v8/frames.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "symbolize/v8/leaf_frame.h"

namespace profiler::symbolize::v8 {
namespace {

constexpr uint64_t kSlotSize = 8;
// No frame is larger, because V8's stack has 1 MiB.
constexpr uint64_t kLargestFrame = uint64_t{1} << 20;
// Number of words that a piece of the interpreter may have pushed.
constexpr uint64_t kMostPushed = 16;
constexpr std::array<char, 3> kMarks = {'~', '^', '*'};
constexpr std::array<std::byte, 3> kListed{};
// Offsets in Code: its InstructionStream, the start of its instructions, and their size.
constexpr int32_t kCodeStream = 32, kCodeStart = 40, kCodeSize = 56;
// Offset of the Code in an InstructionStream.
constexpr int32_t kStreamCode = 8;
// Indices in deoptimization data, which is an array.
constexpr int32_t kFirstElement = 16, kOptimizationId = 5, kSharedFunction = 6;
constexpr uint32_t kLargestCode = uint32_t{64} << 20;

uint64_t At(uint64_t fp, int32_t offset) { return fp + static_cast<uint64_t>(int64_t{offset}); }

}  // namespace

void Frames::Refresh() {
  ++look_;
  heap_.Refresh();
}

ManagedStep Frames::StepFrom(const ManagedFrame& frame, MemoryReader& stack) {
  const RegisterSet& registers = frame.registers;
  const uint64_t fp = registers.fp(), sp = registers.sp();
  // A function's frame words are between sp and fp.
  if (fp % kSlotSize != 0 || fp < sp || fp - sp > kLargestFrame) return {};
  if (At(fp, data_.frame_function) < sp) return {};
  if (frame.is_in_image && !frame.is_return_address) return ToCallerOfPiece(frame, stack);
  const std::optional<Found> found = FunctionOf(frame, stack);
  const bool is_interpreter = frame.is_in_image && ReturnsToInterpreter(registers.pc());
  if (!found && !is_interpreter) return {};
  ManagedStep step;
  if (!stack.ReadWord(fp, &step.fp) || !stack.ReadWord(fp + kSlotSize, &step.pc)) {
    step.kind = ManagedStep::Kind::kUnreadable;
    return step;
  }
  if (found && frame.is_in_image) {
    if (!is_interpreter) returns_[next_return_++ % kReturns] = registers.pc();
    if (nameless_ == 0) nameless_ = *heap_.AddressOf(found->shared) + kWays;
  }
  step.kind = ManagedStep::Kind::kCaller;
  step.sp = step.frame_end = fp + 2 * kSlotSize;
  if (!found || !found->was_there) {
    // The image has a name for its own code, but not for the JavaScript function.
    if (frame.is_in_image) step.listed = GiveNameless();
    return step;
  }
  // A map or dump of the process names this code by its own address.
  if (found->way != Way::kInterpreted && sink_.LeavesCompiled()) return step;
  Give(*found);
  const auto way = static_cast<uint64_t>(found->way);
  step.listed = RuntimeAddress{*heap_.AddressOf(found->shared) + way};
  return step;
}

// Steps from an interrupted piece of V8, such as a bytecode handler, an inline cache, or the code
// that calls a function. If the frame pointer belongs to a function, the piece has no frame yet or
// needs none. Its return address is near the top of the stack and points into that function.
ManagedStep Frames::ToCallerOfPiece(const ManagedFrame& frame, MemoryReader& stack) {
  const uint64_t fp = frame.registers.fp();
  const std::optional<Words> words = ReadWords(frame, stack);
  if (!words) return {};
  const std::optional<Found> found = ByFunction(frame, *words);
  if (!found) return {};
  Learn(words->function);
  const bool is_optimised = found->way == Way::kOptimised;
  const uint64_t end = At(fp, is_optimised ? data_.frame_function : data_.frame_bytecode);
  uint64_t slot = frame.registers.sp();
  for (uint64_t i = 0; i < kMostPushed && slot < end; ++i, slot += kSlotSize) {
    uint64_t word = 0;
    if (!stack.ReadWord(slot, &word)) break;
    if (word == 0) continue;
    bool is_return = !is_optimised && ReturnsToInterpreter(word);
    if (!is_return) {
      const Code* const code = FindCode(word - 1);
      if (code == nullptr) continue;
      is_return = code->since <= time_ && IsCodeOf(*code, *found, *words);
      // The called function has no frame yet.
      if (!is_return) return {.kind = ManagedStep::Kind::kFrameless};
    }
    if (!is_return) continue;
    return {.kind = ManagedStep::Kind::kCaller,
            .pc = word,
            .sp = slot + kSlotSize,
            .fp = fp,
            .frame_end = slot + kSlotSize,
            .listed = {}};
  }
  // The frame of an interpreted function is also that of the interpreter.
  if (!is_optimised || found->known->bytecode == 0) return {};
  return {.kind = ManagedStep::Kind::kFrameless};
}

bool Frames::ReturnsToInterpreter(uint64_t pc) const {
  return pc != 0 && std::find(returns_.begin(), returns_.end(), pc) != returns_.end();
}

bool Frames::IsCodeOf(const Code& code, const Found& found, const Words& words) {
  if (code.identity.shared != 0) return code.identity.shared == found.shared;
  return code.identity.id == words.bytecode || code.identity.id == found.known->bytecode;
}

std::optional<Frames::Words> Frames::ReadWords(const ManagedFrame& frame, MemoryReader& stack) {
  const uint64_t fp = frame.registers.fp();
  Words words;
  if (!stack.ReadWord(At(fp, data_.frame_context), &words.context) ||
      !stack.ReadWord(At(fp, data_.frame_function), &words.function)) {
    return std::nullopt;
  }
  // If the word is below the stack pointer, the frame does not have it now.
  const uint64_t bytecode = At(fp, data_.frame_bytecode);
  if (bytecode >= frame.registers.sp() && !stack.ReadWord(bytecode, &words.bytecode)) {
    return std::nullopt;
  }
  return words;
}

std::optional<Frames::Found> Frames::FunctionOf(const ManagedFrame& frame, MemoryReader& stack) {
  const std::optional<Words> read = ReadWords(frame, stack);
  if (!read) return std::nullopt;
  const Words& words = *read;
  const std::optional<Found> found = ByFunction(frame, words);
  const bool is_interrupted = !frame.is_return_address;
  if (frame.is_in_image) {
    // Built-in functions of V8 have such frames too, but the image names them.
    return found && found->way != Way::kOptimised ? found : std::nullopt;
  }
  if (found && found->was_there && !is_interrupted) return found;
  const uint64_t pc = frame.registers.pc() - (frame.is_return_address ? 1 : 0);
  const Code* code = FindCode(pc);
  if (code == nullptr) {
    Learn(words.function);
    code = FindCode(pc);
  }
  const bool was_there = code != nullptr && code->since <= time_;
  // The instructions are read to check whether there is a frame.
  if (is_interrupted && (!was_there || !HasFrameNow(frame))) return std::nullopt;
  if (found && found->was_there) return found;
  const std::optional<Found> of_code = was_there ? ByCode(*code) : std::nullopt;
  return of_code ? of_code : found;
}

// Finds the function that the frame refers to.
std::optional<Frames::Found> Frames::ByFunction(const ManagedFrame& frame, const Words& words) {
  if (!heap_.AddressOf(words.context) || !heap_.AddressOf(words.function)) return std::nullopt;
  // Reads both together, because a collector may move the object between two reads.
  const auto map = heap_.Field(words.function, data_.object_map);
  const auto shared = heap_.Field(words.function, data_.function_shared);
  const auto context = heap_.Field(words.function, data_.function_context);
  if (!map || !shared || !context || heap_.TypeOfMap(*map) != data_.function_type) {
    return std::nullopt;
  }
  Known* const known = LookAt(*shared);
  if (known == nullptr) return std::nullopt;
  if (known->bytecode != 0 && known->bytecode == words.bytecode) {
    const bool is_compiled = !frame.is_in_image && known->has_baseline;
    return Found{*shared, is_compiled ? Way::kBaseline : Way::kInterpreted, known,
                 known->since <= time_};
  }
  if (*context != words.context) return std::nullopt;
  return Found{*shared, Way::kOptimised, known, false};
}

// Finds the function of the optimised code that contains the pc.
std::optional<Frames::Found> Frames::ByCode(const Code& code) {
  if (code.identity.shared == 0) return std::nullopt;
  Known* const known = LookAt(code.identity.shared);
  if (known == nullptr) return std::nullopt;
  return Found{code.identity.shared, Way::kOptimised, known, known->since <= time_};
}

// Returns the code at `pc`, checked in this look; null: none known.
const Frames::Code* Frames::FindCode(uint64_t pc) {
  const auto found = code_.lower_bound(pc);
  if (found == code_.end() || found->second.identity.start > pc) return nullptr;
  Code& code = found->second;
  if (std::exchange(code.look, look_) == look_) return &code;
  if (ReadCode(code.identity.code) == code.identity) return &code;
  code_.erase(found);
  return nullptr;
}

void Frames::Learn(Word function) {
  constexpr size_t kMostCode = size_t{1} << 14;
  if (data_.function_code == 0) return;
  const auto code = heap_.Field(function, data_.function_code);
  const std::optional<Code::Identity> identity = code ? ReadCode(*code) : std::nullopt;
  if (!identity) return;
  auto it = code_.lower_bound(identity->start);
  if (it != code_.end() && it->second.identity == *identity) {
    it->second.look = look_;
    return;
  }
  // Other code that overlaps the new code no longer exists.
  while (it != code_.end() && it->second.identity.start < identity->end) it = code_.erase(it);
  if (code_.size() >= kMostCode) code_.clear();
  code_[identity->end - 1] = {*identity, heap_.Now(), look_};
}

// Returns the identity of a Code. Empty if `code` is no Code, or if it has no instructions of its
// own because they are part of V8.
std::optional<Frames::Code::Identity> Frames::ReadCode(Word code) {
  if (!heap_.IsOfType(code, data_.code_type)) return std::nullopt;
  const auto stream = heap_.Field(code, kCodeStream);
  const auto start = heap_.Field(code, kCodeStart);
  const auto size = heap_.Field(code, kCodeSize);  // the lower half of the word
  const auto data = heap_.Field(code, data_.code_bytecode);
  if (!stream || !start || !size || !data || !heap_.IsOfType(*stream, data_.stream_type) ||
      heap_.Field(*stream, kStreamCode) != code ||
      *start != *heap_.AddressOf(*stream) + static_cast<uint32_t>(data_.stream_start)) {
    return std::nullopt;
  }
  const auto bytes = static_cast<uint32_t>(*size);
  if (bytes == 0 || bytes > kLargestCode) return std::nullopt;
  Code::Identity identity{
      .start = *start, .end = *start + bytes, .code = code, .stream = *stream, .id = *data};
  if (heap_.IsOfType(*data, data_.bytecode_type)) return identity;
  constexpr auto kElement = static_cast<int32_t>(kSlotSize);
  const auto id = heap_.Field(*data, kFirstElement + kOptimizationId * kElement);
  const auto shared = heap_.Field(*data, kFirstElement + kSharedFunction * kElement);
  if (!id || !heap_.SmallInteger(*id) || !shared || !heap_.IsOfType(*shared, data_.shared_type)) {
    return std::nullopt;
  }
  identity.id = *id;
  identity.shared = *shared;
  return identity;
}

// Returns the function, updated in this look; null if it has no name.
Frames::Known* Frames::LookAt(Word shared) {
  auto found = known_.find(shared);
  if (found != known_.end() && found->second.look == look_) return &found->second;
  bool is_new = false;
  const Function* const function = functions_.Find(shared, &is_new);
  if (function == nullptr) {
    if (found != known_.end()) known_.erase(found);
    return nullptr;
  }
  if (found == known_.end()) {
    if (known_.size() >= kMostKnown) known_.clear();
    found = known_.try_emplace(shared).first;
    is_new = true;
  }
  Known& known = found->second;
  if (is_new) known = {.name = function->name, .file = function->script};
  known.look = look_;
  const Word before = known.bytecode;
  ReadBytecode(shared, &known);
  if (is_new || known.bytecode != before) known.since = heap_.Now();
  return &known;
}

void Frames::ReadBytecode(Word shared, Known* known) {
  known->bytecode = 0;
  known->has_baseline = false;
  const auto data = heap_.Field(shared, data_.shared_data);
  if (!data) return;
  known->bytecode = BytecodeIn(*data);
  if (known->bytecode != 0 || !heap_.IsOfType(*data, data_.code_type)) return;
  const auto of_code = heap_.Field(*data, data_.code_bytecode);
  if (of_code) known->bytecode = BytecodeIn(*of_code);
  known->has_baseline = known->bytecode != 0;
}

// Returns `data` if it is a BytecodeArray. If it is an InterpreterData, returns the BytecodeArray
// from the word after the map. Else returns 0.
Word Frames::BytecodeIn(Word data) {
  const std::optional<int32_t> type = heap_.TypeOf(data);
  if (type == data_.bytecode_type) return data;
  if (type != data_.interpreter_data_type) return 0;
  const auto bytecode = heap_.Field(data, data_.object_map + static_cast<int32_t>(kSlotSize));
  return bytecode && heap_.IsOfType(*bytecode, data_.bytecode_type) ? *bytecode : 0;
}

bool Frames::HasFrameNow(const ManagedFrame& frame) {
  if (frame.registers.architecture() != Architecture::kX86_64) return false;
  std::array<uint8_t, kLeafCode> code{};
  std::span<uint8_t> bytes(code);
  // Reads fewer bytes if the mapping ends there.
  if (!heap_.Read(frame.registers.pc(), std::as_writable_bytes(bytes))) {
    bytes = bytes.first(kSlotSize);
    if (!heap_.Read(frame.registers.pc(), std::as_writable_bytes(bytes))) return false;
  }
  return HasFrame(bytes);
}

// Returns the address that lists interpreted frames without a name.
RuntimeAddress Frames::GiveNameless() {
  const RuntimeAddress listed{nameless_};
  const uint64_t generation = sink_.Generation();
  if (std::exchange(nameless_given_, generation) == generation) return listed;
  sink_.Add({.start = listed,
             .bytes = std::span(kListed).first(1),
             .is_bytecode = true,
             .name = "[unknown JavaScript]",
             .file = {},
             .calls = {},
             .places = {}});
  return listed;
}

void Frames::Give(const Found& found) {
  const auto way = static_cast<size_t>(found.way);
  const uint64_t generation = sink_.Generation();
  if (std::exchange(found.known->given[way], generation) == generation) return;
  const std::string name = absl::StrCat("JS:", std::string(1, kMarks[way]), found.known->name);
  sink_.Add({.start = RuntimeAddress{*heap_.AddressOf(found.shared) + way},
             .bytes = std::span(kListed).first(1),
             .is_bytecode = true,
             .name = name,
             .file = found.known->file,
             .calls = {},
             .places = {}});
}

}  // namespace profiler::symbolize::v8
