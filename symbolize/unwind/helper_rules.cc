#include "symbolize/unwind/helper_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

using Flow = FrameInstruction::Flow;

constexpr size_t kMostBytes = size_t{1} << 18;
constexpr size_t kMostHelpers = 64;
constexpr uint64_t kMostInstructions = uint64_t{8} << 16;

// A function that calls code inside itself.
class Helpers {
 public:
  Helpers(Architecture architecture, ElfAddress start, std::span<const std::byte> code,
          absl::FunctionRef<UnwindRule(ElfAddress)> told)
      : architecture_(architecture), start_(start), code_(code), told_(told), at_(code.size()) {}

  // Finds the helpers. Returns false if no rule needs to be replaced.
  bool Find() {
    ReadInstructions();
    if (helpers_.empty()) return false;
    for (size_t i = 0; i < helpers_.size(); ++i) FollowHelper(i);
    FollowOthers();
    return decoded_ < kMostInstructions;
  }

  std::vector<HelperRule> Rules() {
    std::vector<HelperRule> rules;
    for (size_t at = 0; at < at_.size(); at += std::max<size_t>(at_[at].length, 1)) {
      const std::optional<UnwindRule> rule = RuleToReplace(at);
      if (!rule) continue;
      const ElfAddress address{start_.value + at};
      const bool goes_on = !rules.empty() && rules.back().rule == *rule &&
                           rules.back().start.value + rules.back().size == address.value;
      if (goes_on) {
        rules.back().size += at_[at].length;
      } else {
        rules.push_back({address, at_[at].length, *rule});
      }
    }
    return rules;
  }

  uint64_t decoded() const { return decoded_; }

 private:
  struct Instruction {
    uint8_t length = 0;  // 0: no instruction begins here
    bool is_padding = false;
    bool is_of_others = false;   // true if it is reached without a call of a helper
    bool is_of_several = false;  // true if helpers reach it with different rules
    uint8_t helper = 0;          // index of the helper that reaches it, + 1; 0: none
    uint8_t followed = 0;        // index of the helper that reached it last, + 1; 0: none
    UnwindRule rule;             // rule if it runs as a part of `helper`
  };
  struct Helper {
    size_t entry;
    std::vector<size_t> calls;
  };
  struct Place {
    size_t at;
    FrameState state;
  };

  struct Call {
    size_t at, target;
  };

  // Decodes all instructions in order and finds the helpers that they call.
  void ReadInstructions() {
    std::vector<Call> calls;
    FrameInstruction instruction(architecture_);
    for (size_t at = 0; at < code_.size();) {
      if (!Decode(at, &instruction)) {
        ++at;
        continue;
      }
      at_[at].length = static_cast<uint8_t>(instruction.length());
      at_[at].is_padding = instruction.IsPadding();
      const size_t next = at + instruction.length();
      if (instruction.flow() == Flow::kCall) {
        const auto target = TargetOf(instruction);
        // A call of the start is a recursion, and a call of the next instruction reads the pc.
        if (target && *target != 0 && *target != next) calls.push_back({at, *target});
      }
      at = next;
    }
    for (const Call& call : calls) AddCall(call);
  }

  bool Decode(size_t at, FrameInstruction* instruction) {
    if (decoded_ >= kMostInstructions) return false;
    ++decoded_;
    return instruction->Decode(code_.subspan(at), {start_.value + at}) &&
           instruction->length() <= code_.size() - at;
  }

  // Returns the offset in the function to which an instruction leads; empty: outside of it.
  std::optional<size_t> TargetOf(const FrameInstruction& instruction) const {
    const auto target = instruction.target();
    if (!target || target->value - start_.value >= code_.size()) return std::nullopt;
    return target->value - start_.value;
  }

  void AddCall(const Call& call) {
    if (at_[call.target].length == 0) return;
    const auto known = std::find_if(helpers_.begin(), helpers_.end(),
                                    [&](const Helper& h) { return h.entry == call.target; });
    if (known != helpers_.end()) {
      known->calls.push_back(call.at);
    } else if (helpers_.size() < kMostHelpers) {
      helpers_.push_back({call.target, {call.at}});
    } else {
      decoded_ = kMostInstructions;  // too many: give up
    }
  }

  // Follows all code that the helper reaches. A helper that pops its return address does not return
  // to its call, so its code belongs to the function itself.
  void FollowHelper(size_t index) {
    std::vector<std::pair<size_t, UnwindRule>> found;
    std::vector<Place> places = {{helpers_[index].entry, FrameState::AtStart(architecture_)}};
    const auto number = static_cast<uint8_t>(index + 1);
    while (!places.empty()) {
      Place place = places.back();
      places.pop_back();
      while (place.at < at_.size() && at_[place.at].length != 0 &&
             at_[place.at].followed != number) {
        at_[place.at].followed = number;
        if (place.state.depth && *place.state.depth < place.state.saved_return) return;
        found.emplace_back(place.at, RuleOf(place.state));
        FrameInstruction instruction(architecture_);
        if (!Decode(place.at, &instruction)) break;
        const FrameState after = instruction.After(place.state);
        const Flow flow = instruction.flow();
        if (flow == Flow::kBranch || flow == Flow::kJump) {
          if (const auto target = TargetOf(instruction)) places.push_back({*target, after});
        }
        if (flow == Flow::kEnd || flow == Flow::kJump || flow == Flow::kFarJump) break;
        place = {place.at + instruction.length(), after};
      }
    }
    for (const auto& [at, rule] : found) {
      Instruction& instruction = at_[at];
      if (instruction.helper != 0 && instruction.rule != rule) instruction.is_of_several = true;
      instruction.helper = number;
      instruction.rule = rule;
    }
  }

  // A frame pointer of 0 does not mean the outermost frame here: the function has saved the frame
  // pointer, so the helper may use the register for anything.
  UnwindRule RuleOf(FrameState state) const {
    if (state.fp == FrameState::kOutermost) state.fp = FrameState::kOther;
    return UnwindRuleOf(state, architecture_);
  }

  // Follows code that is reached without a call of a helper: from the function's start, and code
  // that only a jump through a table may reach.
  void FollowOthers() {
    FollowOther(0);
    for (size_t at = 0; at < at_.size(); at += std::max<size_t>(at_[at].length, 1)) {
      const Instruction& instruction = at_[at];
      if (instruction.length != 0 && !instruction.is_padding && instruction.helper == 0) {
        FollowOther(at);
      }
    }
  }

  void FollowOther(size_t start) {
    std::vector<size_t> places = {start};
    while (!places.empty()) {
      size_t at = places.back();
      places.pop_back();
      while (at < at_.size() && at_[at].length != 0 && !at_[at].is_of_others) {
        at_[at].is_of_others = true;
        FrameInstruction instruction(architecture_);
        if (!Decode(at, &instruction)) break;
        const Flow flow = instruction.flow();
        if (flow == Flow::kBranch || flow == Flow::kJump) {
          if (const auto target = TargetOf(instruction)) places.push_back(*target);
        }
        if (flow == Flow::kEnd || flow == Flow::kJump || flow == Flow::kFarJump) break;
        at += instruction.length();
      }
    }
  }

  // Returns the rule that replaces call frame information; empty: the information is right.
  std::optional<UnwindRule> RuleToReplace(size_t at) {
    const Instruction& instruction = at_[at];
    if (instruction.helper == 0) return std::nullopt;
    const UnwindRule told = told_({start_.value + at});
    if (told.kind != UnwindRule::kFromStackPointer) return std::nullopt;
    if (instruction.is_of_others || instruction.is_of_several) return UnwindRule();
    return CountsCall(helpers_[instruction.helper - 1U], told, instruction.rule)
               ? std::nullopt
               : std::optional(instruction.rule);
  }

  // Returns true if `told` counts the return address that a call of the helper pushes, and the
  // words that the helper pushes.
  bool CountsCall(const Helper& helper, const UnwindRule& told, const UnwindRule& derived) {
    if (derived.kind != UnwindRule::kFromStackPointer) return false;
    return std::all_of(helper.calls.begin(), helper.calls.end(), [&](size_t call) {
      const UnwindRule at_call = told_({start_.value + call});
      return at_call.kind == UnwindRule::kFromStackPointer &&
             told.cfa_offset == at_call.cfa_offset + derived.cfa_offset;
    });
  }

  const Architecture architecture_;
  const ElfAddress start_;
  const std::span<const std::byte> code_;
  const absl::FunctionRef<UnwindRule(ElfAddress)> told_;
  uint64_t decoded_ = 0;
  std::vector<Instruction> at_;  // [n]: the instruction at byte n of code_
  std::vector<Helper> helpers_;
};

}  // namespace

bool MayCallItself(Architecture architecture, std::span<const std::byte> code) {
  if (code.size() > kMostBytes) return false;
  return architecture->may_call_itself != nullptr && architecture->may_call_itself(code);
}

std::vector<HelperRule> FindHelperRules(Architecture architecture, ElfAddress start,
                                        std::span<const std::byte> code,
                                        absl::FunctionRef<UnwindRule(ElfAddress)> told,
                                        uint64_t* decoded) {
  if (code.size() > kMostBytes) return {};
  Helpers helpers(architecture, start, code, told);
  const bool found = helpers.Find();
  *decoded += helpers.decoded();
  return found ? helpers.Rules() : std::vector<HelperRule>();
}

}  // namespace profiler::symbolize
