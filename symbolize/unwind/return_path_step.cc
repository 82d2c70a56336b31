#include "symbolize/unwind/return_path_step.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/unwind/call_evidence.h"

namespace profiler::symbolize {
namespace {

// Number of bytes of code that are read if the mapping ends less than kBareFrameCode bytes after an
// instruction.
constexpr size_t kLeastCode = 8;
// Words at the top of the stack in which hand-written code's return address is searched: more than
// the number of registers that it may save.
constexpr uint64_t kSearchedWords = 8;

// Returns the positions of the caller's registers if the link register still has the
// last frame's return address. Two conditions must hold: the call before that address leads to a
// start at or before the interrupted instruction, and no instruction from this start to the
// interrupted one makes a call or saves the link register.
std::optional<ReturnPath> ReturnPathOfLeaf(const ChainFrame& frame, const CodeSpace& space) {
  constexpr uint64_t kMostBytes = 4096;  // longest function in bytes that calls nothing
  const Architecture architecture = frame.architecture();
  if (architecture->link_use == nullptr || architecture->target_of_call == nullptr ||
      !frame.knows_link) {
    return std::nullopt;
  }
  const uint64_t pc = frame.pc();
  const uint64_t link = space.WithoutSignature(frame.registers.Get(frame.numbers.return_address));
  const size_t size = std::min(architecture->instruction_size, kLongestCall);
  std::array<uint8_t, kLongestCall> call{};
  if (!space.Read(RuntimeAddress{link - size},
                  std::as_writable_bytes(std::span(call).last(size)))) {
    return std::nullopt;
  }
  const std::optional<uint64_t> start = architecture->target_of_call(call, link);
  if (!start || *start > pc || pc - *start > kMostBytes) return std::nullopt;
  std::array<uint8_t, kMostBytes> code;
  const auto passed = std::span(code).first(pc - *start);
  if (!space.Read(RuntimeAddress{*start}, std::as_writable_bytes(passed))) return std::nullopt;
  const LinkUse use = architecture->link_use(passed);
  if (!use.keeps_link) return std::nullopt;
  ReturnPath back{.in_link_register = true};
  if (use.keeps_stack) back.caller_stack = 0;
  return back;
}

}  // namespace

std::optional<ReturnPath> FindReturnPath(const ChainFrame& frame, const StackReader& stack,
                                         const CodeSpace& space) {
  std::array<uint8_t, kBareFrameCode> code{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(code));
  const RuntimeAddress pc{frame.pc()};
  // Reads fewer bytes if the mapping ends soon after `pc`.
  if (!space.Read(pc, bytes) && !space.Read(pc, bytes.first(kLeastCode))) {
    return std::nullopt;
  }
  auto back = ReturnPathOf(frame.architecture(), code, frame.is_interrupted());
  if (!back && frame.is_interrupted()) back = ReturnPathOfLeaf(frame, space);
  if (!back || (back->in_link_register && !frame.knows_link)) return std::nullopt;
  uint64_t address = frame.registers.Get(frame.numbers.return_address);
  const bool is_known =
      back->in_link_register ||
      stack.ReadCopiedWord(frame.sp() + back->return_address * frame.word, &address);
  return is_known && !IsReturnAddress(space, address) ? std::nullopt : back;
}

std::optional<ReturnPath> SearchReturnAddress(const ChainFrame& frame, const StackReader& stack,
                                              const CodeSpace& space) {
  if (HasLinkRegister(frame.architecture()) && frame.knows_link &&
      IsReturnAddress(space, frame.registers.Get(frame.numbers.return_address))) {
    return ReturnPath{.in_link_register = true};
  }
  for (uint64_t words = 0; words < kSearchedWords; ++words) {
    uint64_t address = 0;
    if (!stack.ReadCopiedWord(frame.sp() + words * frame.word, &address)) break;
    if (IsReturnAddress(space, address)) return ReturnPath{words, std::nullopt};
  }
  return std::nullopt;
}

CallerStep ReturnBy(const ReturnPath& path, const ChainFrame& frame, StackReader& stack,
                    const CodeSpace& space) {
  const uint64_t slot = frame.sp() + path.return_address * frame.word;
  uint64_t address = frame.registers.Get(frame.numbers.return_address);
  uint64_t caller_fp = frame.fp();
  if (!path.in_link_register && !stack.ReadStackWord(slot, &address)) {
    return CallerStep::Unreadable();
  }
  if (path.frame_pointer &&
      !stack.ReadStackWord(frame.sp() + *path.frame_pointer * frame.word, &caller_fp)) {
    return CallerStep::Unreadable();
  }
  const bool has_link = HasLinkRegister(frame.architecture());
  const uint64_t caller_sp =
      has_link ? frame.sp() + path.caller_stack.value_or(0) * frame.word : slot + frame.word;
  CallerStep step = CallerStep::Guess(space.WithoutSignature(address), caller_sp, caller_fp);
  step.finds_frame = path.frame_pointer.has_value();
  step.knows_stack = !has_link || path.caller_stack.has_value();
  return step;
}

}  // namespace profiler::symbolize
