#include "symbolize/unwind/derived_rules.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include "src/base/mapped_file.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

// Limits on a function's instructions and bytes. Only machine-generated functions are larger.
constexpr size_t kMostInstructions = size_t{1} << 16;
constexpr size_t kMostBytes = size_t{1} << 20;
// Cost of decoding one instruction, in instructions of a FrameBudget.
constexpr uint64_t kCostOfInstruction = 4;

}  // namespace

// The reachable instructions of one function.
class DerivedRules::Function {
 public:
  // `bytes` extends from `start` to the next certain start. `likely` has all starts that are not
  // certain.
  Function(Architecture architecture, ElfAddress start, std::span<const std::byte> bytes,
           size_t most_instructions, const std::vector<ElfAddress>& likely)
      : architecture_(architecture),
        start_(start),
        bytes_(bytes),
        most_(most_instructions),
        likely_(likely),
        found_(bytes.size()) {}

  void Follow() {
    const FrameState at_start = FrameState::AtStart(architecture_);
    FollowFrom(0, at_start);
    for (size_t i = 0; i < helpers_.size(); ++i) FollowFrom(helpers_[i], at_start);
    is_reached_ = false;
    while (const std::optional<size_t> gap = NextGap()) {
      if (MayBegin(*gap)) at_far_jump_.reset();
      FollowFrom(*gap, at_far_jump_.value_or(at_start));
    }
  }

  // Returns how many times an instruction was decoded. Some instructions are decoded repeatedly.
  size_t instructions() const { return decoded_; }

  void AddTo(RuleRows* rows) const {
    bool is_known = true;
    for (size_t at = 0; at < found_.size();) {
      const Found& found = found_[at];
      if (found.length != 0) {
        rows->Add(at, found.rule);
      } else if (is_known) {
        rows->Add(at, UnwindRule());
      }
      is_known = found.length != 0;
      at += std::max<size_t>(found.length, 1);
    }
    rows->End(found_.size());
  }

 private:
  struct Found {
    UnwindRule rule;
    uint8_t length = 0;  // length of the instruction that begins here; 0: not reached
  };
  struct Place {
    size_t at;
    FrameState state;
    bool operator>(const Place& other) const { return at > other.at; }
  };

  void FollowFrom(size_t at, const FrameState& state) {
    places_.push_back({at, state});
    while (true) {
      while (!places_.empty()) {
        const Place place = places_.back();
        places_.pop_back();
        FollowPath(place);
      }
      if (behind_calls_.empty()) return;
      // Continues after the call at the lowest address. If another call does not return, the code
      // after that call may then be reached in another way, with a more reliable state.
      places_.push_back(behind_calls_.top());
      behind_calls_.pop();
    }
  }

  void FollowPath(Place place) {
    while (place.at < bytes_.size() && found_[place.at].length == 0) {
      FrameInstruction instruction(architecture_);
      if (!Decode(place.at, &instruction)) return;
      found_[place.at] = {UnwindRuleOf(place.state, architecture_),
                          static_cast<uint8_t>(instruction.length())};
      found_[place.at].rule.not_called = is_reached_ ? 0 : 1;
      const FrameState after = instruction.After(place.state);
      const size_t next = place.at + instruction.length();
      switch (instruction.flow()) {
        case FrameInstruction::Flow::kEnd:
          return;
        case FrameInstruction::Flow::kFarJump:
          // If the frame differs from its state at the start, the jump goes through a table inside
          // the function. Otherwise it leads to another function.
          if (place.state != FrameState::AtStart(architecture_)) at_far_jump_ = place.state;
          return;
        case FrameInstruction::Flow::kJump:
          AddTarget(instruction, after);
          return;
        case FrameInstruction::Flow::kBranch:
          AddTarget(instruction, after);
          break;
        case FrameInstruction::Flow::kCall:
          AddHelper(instruction, next);
          if (!IsBehindPadding(next)) behind_calls_.push({next, after});
          return;
        case FrameInstruction::Flow::kNext:
          break;
      }
      place = {next, after};
    }
  }

  // Decodes the instruction at offset `at`. Returns false if there is none, or if the limit on
  // decoded instructions is reached.
  bool Decode(size_t at, FrameInstruction* instruction) {
    if (at >= bytes_.size() || decoded_ == most_) return false;
    ++decoded_;
    return instruction->Decode(bytes_.subspan(at), {start_.value + at});
  }

  void AddTarget(const FrameInstruction& instruction, const FrameState& state) {
    const auto target = instruction.target();
    if (target && *target >= start_ && target->value - start_.value < bytes_.size()) {
      places_.push_back({target->value - start_.value, state});
    }
  }

  // Adds the called code as a helper, with two exceptions: a call of the next instruction only
  // reads the pc, and a call of the function's start is a recursion.
  void AddHelper(const FrameInstruction& call, size_t next) {
    constexpr size_t kMostHelpers = 256;
    const auto target = call.target();
    if (!is_reached_ || !target || *target <= start_ || helpers_.size() == kMostHelpers) return;
    const uint64_t at = target->value - start_.value;
    if (at < bytes_.size() && at != next) helpers_.push_back(at);
  }

  // Returns true if at most padding lies between the end of a call, at offset `at`, and the start
  // of a function. Then the call does not return. Code that pushes arguments looks like the start of
  // a function. So where arguments are pushed there must be padding, or a likely start.
  bool IsBehindPadding(size_t at) {
    const size_t behind_call = at;
    FrameInstruction instruction(architecture_);
    while (Decode(at, &instruction) && instruction.IsPadding()) at += instruction.length();
    if (at >= bytes_.size()) return false;
    const bool may_be_arguments = architecture_->pushes_arguments && at == behind_call;
    return may_be_arguments ? IsLikely({start_.value + at}) : MayBegin(at);
  }

  bool IsLikely(ElfAddress address) const {
    return std::binary_search(likely_.begin(), likely_.end(), address);
  }

  bool MayBegin(size_t at) {
    const ElfAddress address{start_.value + at};
    if (IsLikely(address)) return true;
    if (!IsAlignedAsFunction(architecture_, address)) return false;
    decoded_ += std::min(kLookedAt, most_ - decoded_);
    return BeginsFunction(architecture_, bytes_.subspan(at), address);
  }

  // Returns the next unreached instruction whose state can be guessed; skips padding. Such an
  // instruction is the target of a table jump, is aligned like a function, or is a prologue
  // directly after reached code (functions optimized for size are not aligned). If functions are
  // aligned like instructions, the second and third sign prove nothing, because starts of loops, and
  // one in four landing pads of exceptions, are aligned too.
  std::optional<size_t> NextGap() {
    while (gap_ < bytes_.size() && decoded_ != most_) {
      if (found_[gap_].length != 0) {
        is_behind_found_ = true;
        gap_ += found_[gap_].length;
        continue;
      }
      FrameInstruction instruction(architecture_);
      if (!Decode(gap_, &instruction)) {
        is_behind_found_ = false;
        ++gap_;
        continue;
      }
      const bool is_padding =
          instruction.IsPadding() || instruction.flow() == FrameInstruction::Flow::kEnd;
      const bool shows = architecture_->alignment_shows_functions;
      const bool is_aligned =
          shows && (start_.value + gap_) % architecture_->function_alignment == 0;
      const bool is_prologue = shows && is_behind_found_ && instruction.IsPrologue();
      if (!is_padding && (at_far_jump_ || is_aligned || is_prologue || MayBegin(gap_))) {
        return gap_;
      }
      is_behind_found_ = false;
      gap_ += instruction.length();
    }
    return std::nullopt;
  }

  const Architecture architecture_;
  const ElfAddress start_;
  const std::span<const std::byte> bytes_;
  const size_t most_;  // most instructions that may be decoded
  size_t decoded_ = 0;
  const std::vector<ElfAddress>& likely_;
  std::vector<Found> found_;   // [n]: the instruction at byte n of bytes_
  std::vector<Place> places_;  // places from which to continue
  // Places after calls; used when places_ is empty.
  std::priority_queue<Place, std::vector<Place>, std::greater<>> behind_calls_;
  std::vector<size_t> helpers_;  // offsets of code that the function calls inside itself
  bool is_reached_ = true;       // true if the current path begins at the function's start
  std::optional<FrameState> at_far_jump_;
  size_t gap_ = 0;
  bool is_behind_found_ = false;  // true if reached code ends at gap_
};

// Functions of the image, sorted by start, and rules of the functions that were looked up.
class DerivedRules::Functions {
 public:
  // `likely` are starts that may lie inside these functions. `code` and `budget` (may be null) must
  // outlive this object. If the budget has no room, there are no functions.
  Functions(Architecture architecture, const std::vector<CodeRange>& code,
            std::vector<FunctionExtent> extents, std::vector<ElfAddress> likely,
            FrameBudget* budget)
      : architecture_(architecture), code_(code), budget_(budget) {
    const uint64_t bytes = extents.size() * (sizeof(FunctionExtent) + RuleRows::kBytesOfFunction) +
                           likely.size() * sizeof(ElfAddress);
    if (budget_ != nullptr && !budget_->TakeMemory(bytes)) return;
    taken_ = bytes;
    extents_ = std::move(extents);
    likely_ = std::move(likely);
    rows_ = std::make_unique<RuleRows>(extents_.size(), budget_);
  }
  ~Functions() {
    if (budget_ != nullptr) budget_->GiveMemoryBack(taken_);
  }
  Functions(const Functions&) = delete;

  const std::vector<FunctionExtent>& extents() const { return extents_; }

  // Returns the index of the function that contains the address; empty if there is none.
  std::optional<size_t> Holding(ElfAddress address) const {
    const auto after = std::upper_bound(
        extents_.begin(), extents_.end(), address,
        [](ElfAddress a, const FunctionExtent& extent) { return a < extent.start; });
    if (after == extents_.begin()) return std::nullopt;
    const auto function = static_cast<size_t>(after - extents_.begin()) - 1;
    const FunctionExtent& extent = extents_[function];
    if (address.value - extent.start.value >= extent.size) return std::nullopt;
    return function;
  }

  DerivedRule Find(size_t function, ElfAddress address, bool* compiled) {
    if (!rows_->Has(function)) {
      *compiled = true;
      Compile(function);
    }
    const ElfAddress start = extents_[function].start;
    DerivedRule derived{rows_->Find(function, address.value - start.value), start};
    derived.is_reached = derived.rule.not_called == 0;
    derived.rule.not_called = 0;
    return derived;
  }

  size_t memory_used() const {
    return sizeof(*this) + extents_.capacity() * sizeof(FunctionExtent) +
           likely_.capacity() * sizeof(ElfAddress) + (rows_ == nullptr ? 0 : rows_->memory_used());
  }

 private:
  void Compile(size_t function) {
    const FunctionExtent& extent = extents_[function];
    rows_->Start(function);
    const CodeRange* const range = FindRange(code_, extent.start);
    size_t most = rows_->is_full() || range == nullptr ? 0 : kMostInstructions;
    if (budget_ != nullptr) {
      most = std::min<uint64_t>(most, budget_->instructions_left() / kCostOfInstruction);
    }
    if (most == 0) return rows_->End(0);
    std::span<const std::byte> bytes =
        range->bytes.subspan(extent.start.value - range->address.value);
    bytes = bytes.first(std::min<uint64_t>({bytes.size(), extent.size, kMostBytes}));
    Function followed(architecture_, extent.start, bytes, most, likely_);
    followed.Follow();
    if (budget_ != nullptr) {
      budget_->TakeInstructions(followed.instructions() * kCostOfInstruction);
    }
    followed.AddTo(rows_.get());
  }

  const Architecture architecture_;
  const std::vector<CodeRange>& code_;
  FrameBudget* const budget_;  // null: no budget
  uint64_t taken_ = 0;         // bytes taken from the budget
  std::vector<FunctionExtent> extents_;
  std::vector<ElfAddress> likely_;
  std::unique_ptr<RuleRows> rows_;  // null: the budget has no room
};

namespace {

// Returns functions that end at the next start; the last one has no end.
std::vector<FunctionExtent> ExtentsOf(const std::vector<ElfAddress>& starts) {
  std::vector<FunctionExtent> extents;
  extents.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint64_t end = i + 1 < starts.size() ? starts[i + 1].value : UINT64_MAX;
    extents.push_back({starts[i], end - starts[i].value});
  }
  return extents;
}

}  // namespace

DerivedRules::DerivedRules(Architecture architecture, const ElfImage& image, FrameBudget* budget)
    : architecture_(architecture),
      budget_(budget),
      offset_table_(GlobalOffsetTable(image)),
      code_(CodeOf(image)),
      named_(std::make_unique<Functions>(architecture_, code_,
                                         FindNamedFunctions(image, code_, budget),
                                         std::vector<ElfAddress>(), budget)) {}

DerivedRules::~DerivedRules() = default;

DerivedRule DerivedRules::Find(ElfAddress address, bool* compiled) {
  if (const auto function = named_->Holding(address)) {
    return named_->Find(*function, address, compiled);
  }
  if (found_ == nullptr) {
    FunctionStarts starts =
        FindFunctionStarts(architecture_, offset_table_, named_->extents(), code_, budget_);
    // All code was read, but only few functions will be needed again.
    for (const CodeRange& range : code_) MappedFile::Forget(range.bytes);
    found_ = std::make_unique<Functions>(architecture_, code_, ExtentsOf(starts.certain),
                                         std::move(starts.likely), budget_);
  }
  const auto function = found_->Holding(address);
  return function ? found_->Find(*function, address, compiled) : DerivedRule();
}

size_t DerivedRules::memory_used() const {
  return sizeof(*this) + named_->memory_used() + (found_ == nullptr ? 0 : found_->memory_used());
}

}  // namespace profiler::symbolize
