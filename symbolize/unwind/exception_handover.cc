#include "symbolize/unwind/exception_handover.h"

#include <algorithm>

#include "symbolize/unwind/call_evidence.h"

namespace profiler::symbolize {
namespace {

// Limit for a search on the stack, in bytes. The catching call stands near the leaf.
constexpr uint64_t kMostSearched = 65536;

// Searches the stack, beginning at `address`, for a word that is the address after the instruction
// `call`, or the address of a landing pad of the function that contains `call`. Returns the stack
// address of the word; empty if there is none.
std::optional<uint64_t> FindCatchingCall(uint64_t address, RuntimeAddress call, uint64_t word_size,
                                         const StackReader& stack, const CodeSpace& space) {
  MappedCode code;
  if (!space.Find(call, &code) || code.cfi == nullptr) return std::nullopt;
  const auto function = code.cfi->FunctionAt({call.value - code.bias});
  if (!function) return std::nullopt;
  const uint64_t start = function->start.value + code.bias;
  const uint64_t end = address + kMostSearched;
  for (uint64_t word = 0; address < end && stack.ReadCopiedWord(address, &word);
       address += word_size) {
    word = space.Stripped(word);
    if (word - start > function->size) continue;
    if (word == call.value + 1 || !MayFollowCall(space, word)) return address;
  }
  return std::nullopt;
}

// Returns the frame to which `rules` lead from the frame before `frame`.
std::optional<CatchingFrame> StepToCaught(const UnwoundChain& chain, size_t frame,
                                          const FrameRules& rules, uint64_t word,
                                          StackReader& stack, const CodeSpace& space) {
  const uint64_t cfa = chain.frames[frame].stack_pointer;
  const RegisterRule& fp_rule = rules.registers[NumbersOf(space.architecture()).fp];
  uint64_t fp = 0;
  if (fp_rule.kind != RegisterRule::kOffset ||
      !stack.ReadStackWord(cfa + static_cast<uint64_t>(fp_rule.offset), &fp)) {
    return std::nullopt;
  }
  const auto slot = FindCatchingCall(cfa, chain.frames[frame].instruction(), word, stack, space);
  if (!slot) return std::nullopt;
  CatchingFrame caught{frame,
                       CallerStep::Guess(chain.frames[frame].address.value, *slot + word, fp)};
  caught.caller.finds_frame = true;
  caught.caller.knows_stack = !HasLinkRegister(space.architecture());
  return caught;
}

}  // namespace

bool HandsOver(RuntimeAddress instruction, FullRuleLookup& rules, const CodeSpace& space) {
  const RegisterNumbers numbers = NumbersOf(space.architecture());
  MappedCode code;
  if (!space.Find(instruction, &code) || code.cfi == nullptr ||
      rules.Find(*code.cfi, {instruction.value - code.bias}) != CfiTable::Told::kRules) {
    return false;
  }
  const auto& registers = rules.rules().registers;
  return registers[numbers.exception[0]].kind == RegisterRule::kOffset &&
         registers[numbers.exception[1]].kind == RegisterRule::kOffset;
}

std::optional<CatchingFrame> FindCatchingFrame(const UnwoundChain& chain, uint64_t word,
                                               FullRuleLookup& rules, StackReader& stack,
                                               const CodeSpace& space) {
  constexpr size_t kInnermost = 3;  // the throwing function is one of the 3 innermost frames
  const bool is_lost = chain.end == ChainEnd::kNoImage || chain.end == ChainEnd::kNoCfi ||
                       chain.end == ChainEnd::kBadRegister || chain.end == ChainEnd::kNoProgress ||
                       chain.end == ChainEnd::kBadReturnAddress;
  if (!is_lost) return std::nullopt;
  const size_t count = std::min(chain.frames.size(), kInnermost + 1);
  for (size_t i = 0; i + 1 < count; ++i) {
    if (HandsOver(chain.frames[i].instruction(), rules, space)) {
      return StepToCaught(chain, i + 1, rules.rules(), word, stack, space);
    }
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize
