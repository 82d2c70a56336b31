#include "symbolize/unwind/stack_depth.h"

#include <vector>

#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

class DepthSearch {
 public:
  DepthSearch(CfiTable& cfi, FunctionExtent function, std::span<const std::byte> code, size_t asked,
              bool is_return_address)
      : cfi_(cfi),
        function_(function),
        code_(code),
        asked_(asked),
        is_return_address_(is_return_address),
        depths_(code.size(), kUnreached) {}

  std::optional<uint64_t> Find() {
    constexpr int32_t kAtStart = 8;  // depth in bytes: only the return address is on the stack
    // If a part of a function was moved elsewhere, that part begins with another depth.
    const UnwindRule at_start = cfi_.Find(function_.start);
    if (at_start.kind != UnwindRule::kFromStackPointer || at_start.cfa_offset != kAtStart) {
      return std::nullopt;
    }
    Reach(0, kAtStart);
    Follow();
    FollowTables();
    return found_ > 0 ? std::optional<uint64_t>(static_cast<uint64_t>(found_)) : std::nullopt;
  }

 private:
  // Marks that stand for a depth; real depths are positive. A depth changes at most twice: from
  // kUnreached to a real depth, and then to kSeveral. So the search ends.
  static constexpr int32_t kUnreached = -1;
  static constexpr int32_t kSeveral = -2;  // several depths, or an unknown one

  static int32_t Joined(int32_t a, int32_t b) {
    if (a == kUnreached || a == b) return b;
    return kSeveral;
  }

  void Reach(size_t at, int32_t depth) {
    if (at >= code_.size()) return;
    const UnwindRule rule = cfi_.Find({function_.start.value + at});
    if (rule.kind == UnwindRule::kFromStackPointer) {
      depth = rule.cfa_offset;
    } else if (rule.kind != UnwindRule::kFromFramePointer) {
      depth = kSeveral;
    }
    const int32_t joined = Joined(depths_[at], depth);
    if (joined == depths_[at]) return;
    depths_[at] = joined;
    reached_.push_back(at);
  }

  void Follow() {
    while (!reached_.empty()) {
      const size_t at = reached_.back();
      reached_.pop_back();
      FollowInstruction(at);
    }
  }

  void FollowInstruction(size_t at) {
    FrameInstruction instruction(Architecture::kX86_64);
    const ElfAddress address{function_.start.value + at};
    if (!instruction.Decode(code_.subspan(at), address)) return;
    const int32_t depth = depths_[at];
    const UnwindRule rule = cfi_.Find(address);
    const size_t next = at + instruction.length();
    const FrameInstruction::Flow flow = instruction.flow();
    const bool is_asked =
        is_return_address_ ? next == asked_ && flow == FrameInstruction::Flow::kCall : at == asked_;
    if (is_asked) found_ = depth;
    FrameState state = FrameState::AtStart(Architecture::kX86_64);
    state.depth = depth > 0 ? std::optional(depth) : std::nullopt;
    if (rule.kind == UnwindRule::kFromFramePointer) {
      state.fp = FrameState::kOfFrame;
      state.fp_depth = rule.cfa_offset;
    }
    const int32_t after = instruction.After(state).depth.value_or(kSeveral);
    switch (flow) {
      case FrameInstruction::Flow::kEnd:
        return;
      case FrameInstruction::Flow::kFarJump:
        // Without a frame pointer, such a jump leads to another function.
        if (rule.kind == UnwindRule::kFromFramePointer) at_tables_ = Joined(at_tables_, depth);
        return;
      case FrameInstruction::Flow::kJump:
        return ReachTarget(instruction, after);
      case FrameInstruction::Flow::kBranch:
        ReachTarget(instruction, after);
        break;
      case FrameInstruction::Flow::kCall:
      case FrameInstruction::Flow::kNext:
        break;
    }
    Reach(next, after);
  }

  void ReachTarget(const FrameInstruction& instruction, int32_t depth) {
    const auto target = instruction.target();
    if (target && *target >= function_.start) Reach(target->value - function_.start.value, depth);
  }

  // Follows code that no path has reached; only a jump through a table can lead there.
  void FollowTables() {
    if (at_tables_ <= 0) return;
    for (size_t at = 0; at < code_.size();) {
      FrameInstruction instruction(Architecture::kX86_64);
      if (!instruction.Decode(code_.subspan(at), {function_.start.value + at})) return;
      if (depths_[at] == kUnreached && !instruction.IsPadding()) {
        Reach(at, at_tables_);
        Follow();
        if (at_tables_ <= 0) found_ = kSeveral;  // two jumps have different depths
      }
      at += instruction.length();
    }
  }

  CfiTable& cfi_;
  const FunctionExtent function_;
  const std::span<const std::byte> code_;
  const size_t asked_;
  const bool is_return_address_;
  std::vector<int32_t> depths_;  // [n]: the depth before the instruction at byte n of code_
  std::vector<size_t> reached_;  // offsets of instructions that still must be followed
  int32_t at_tables_ = kUnreached;
  int32_t found_ = kUnreached;
};

}  // namespace

std::optional<uint64_t> StackDepthAt(CfiTable& cfi, FunctionExtent function,
                                     std::span<const std::byte> code, ElfAddress address,
                                     bool is_return_address) {
  if (cfi.architecture() != Architecture::kX86_64 || code.size() > kMostCodeForDepth) {
    return std::nullopt;
  }
  const size_t asked = address.value - function.start.value;
  return DepthSearch(cfi, function, code, asked, is_return_address).Find();
}

}  // namespace profiler::symbolize
