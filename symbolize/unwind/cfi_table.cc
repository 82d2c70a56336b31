#include "symbolize/unwind/cfi_table.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "symbolize/elf/section_contents.h"
#include "symbolize/unwind/cfi_program.h"
#include "symbolize/unwind/derived_rules.h"
#include "symbolize/unwind/fde_index.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/frame_section.h"
#include "symbolize/unwind/function_starts.h"
#include "symbolize/unwind/helper_rules.h"
#include "symbolize/unwind/rule_packing.h"
#include "symbolize/unwind/rule_rows.h"

namespace profiler::symbolize {
namespace {

// Largest .debug_frame in bytes.
constexpr uint64_t kMostDebugFrame = uint64_t{1} << 28;

// Limits on instructions: per function, per byte of a section, and per section. Information from
// compilers needs far fewer, although each function also runs the instructions of its CIE.
// kMostOfSection instructions take about 1 s.
constexpr uint64_t kMostOfFunction = uint64_t{1} << 18;
constexpr uint64_t kMostPerByte = 4, kAlwaysOfSection = 1 << 16;
constexpr uint64_t kMostOfSection = uint64_t{1} << 26;

// Costs of other work, in instructions of a FrameBudget.
constexpr uint64_t kInstructionsOfScan = 8;      // per function that FdeIndex::Scan reads
constexpr uint64_t kBytesOfInstruction = 4;      // bytes decompressed per instruction
constexpr uint64_t kInstructionsOfDecoding = 4;  // per decoded instruction of code

// Limits on the instructions of FullRules, in total and per chain. kFullInstructionsOfChain
// instructions take at most 0.2 ms.
constexpr int64_t kMostFullInstructions = int64_t{1} << 20;
constexpr int64_t kFullInstructionsOfChain = int64_t{1} << 14;

}  // namespace

// The section .eh_frame or .debug_frame, and its compiled rules.
class CfiTable::Section {
 public:
  // `budget` may be null. The memory of the arguments (MemoryOf) must already be taken from it.
  Section(Architecture architecture, FrameSection section, FdeIndex index,
          std::vector<std::byte> owned, FrameBudget* budget)
      : architecture_(architecture),
        budget_(budget),
        owned_(std::move(owned)),
        section_(section),
        index_(std::move(index)),
        rows_(index_.size(), budget),
        instructions_left_(
            std::min(kMostPerByte * section.bytes().size() + kAlwaysOfSection, kMostOfSection)) {
    taken_ = MemoryOf(index_, owned_);
  }
  ~Section() {
    if (budget_ != nullptr) budget_->GiveMemoryBack(taken_);
  }
  Section(const Section&) = delete;

  // Returns the bytes of memory of a Section that has `index` and `owned` and has compiled nothing.
  static uint64_t MemoryOf(const FdeIndex& index, const std::vector<std::byte>& owned) {
    return index.memory_used() + index.size() * RuleRows::kBytesOfFunction + owned.capacity();
  }

  size_t functions() const { return index_.size(); }

  // Returns the rule at an address. Sets `*compiled` if this call compiles the function.
  UnwindRule Find(uint64_t address, bool* compiled) {
    const std::optional<size_t> function = index_.Find(address);
    if (!function) return {};
    if (!rows_.Has(*function)) *compiled = true;
    CompileOnce(*function);
    return rows_.Find(*function, address - index_.Start(*function));
  }

  // Evaluates the rules at an address. Subtracts the number of instructions that ran from
  // `*instructions_left`, which must be positive before the call and may be negative after it.
  Told FullRules(uint64_t address, FrameRules* rules, int64_t* instructions_left) {
    const std::optional<size_t> function = index_.Find(address);
    if (!function) return Told::kNothing;
    const std::optional<FunctionEntry> entry = section_.ReadFunction(index_.Offset(*function));
    if (!entry || address < entry->start || address - entry->start >= entry->size) {
      return Told::kNothing;
    }
    const uint64_t most = MostNow(kMostOfFunction);
    if (most == 0) return Told::kTooLong;
    bool found = false;
    const CfiProgram::Outcome outcome =
        program_.Run(architecture_, section_, *entry, most,
                     [&](uint64_t start, uint64_t end, const FrameRules& row) {
                       found = address >= start && address < end;
                       if (found) *rules = row;
                       return !found;
                     });
    *instructions_left -= static_cast<int64_t>(outcome.instructions);
    TakeInstructions(outcome.instructions);
    if (outcome.is_cut) return Told::kTooLong;
    return found && rules->cfa.kind != CfaRule::kNone ? Told::kRules : Told::kNothing;
  }

  std::optional<FunctionExtent> FunctionAt(uint64_t address) const {
    const std::optional<size_t> function = index_.Find(address);
    if (!function) return std::nullopt;
    const std::optional<FunctionEntry> entry = section_.ReadFunction(index_.Offset(*function));
    if (!entry || address < entry->start || address - entry->start >= entry->size) {
      return std::nullopt;
    }
    return FunctionExtent{{entry->start}, entry->size};
  }

  void CompileOnce(size_t function) {
    if (rows_.Has(function)) return;
    const uint64_t start = index_.Start(function);
    rows_.Start(function);
    uint64_t end = start;
    const std::optional<FunctionEntry> entry = section_.ReadFunction(index_.Offset(function));
    // The index of a corrupt file may refer to another function.
    if (entry && entry->start == start && entry->size <= std::numeric_limits<uint32_t>::max()) {
      const CfiProgram::Outcome outcome = program_.Run(
          architecture_, section_, *entry, MostNow(std::min(InstructionsLeft(), kMostOfFunction)),
          [&](uint64_t row_start, uint64_t row_end, const FrameRules& rules) {
            rows_.Add(row_start - start, PackRule(architecture_, rules));
            end = row_end;
            return true;
          });
      instructions_left_ -= outcome.instructions;
      TakeInstructions(outcome.instructions);
      if (outcome.is_cut) {
        rows_.Add(end - start, {.kind = UnwindRule::kTooLong});
        end = start + entry->size;
      }
    }
    rows_.End(end - start);
  }

  size_t memory_used() const {
    return owned_.capacity() + index_.memory_used() + rows_.memory_used();
  }

 private:
  uint64_t MostNow(uint64_t most) const {
    return budget_ == nullptr ? most : std::min(most, budget_->instructions_left());
  }
  void TakeInstructions(uint64_t count) {
    if (budget_ != nullptr) budget_->TakeInstructions(count);
  }

  // If the budget is used up, new functions get only rows with kTooLong.
  uint64_t InstructionsLeft() const { return rows_.is_full() ? 0 : instructions_left_; }

  const Architecture architecture_;
  FrameBudget* const budget_;     // null: no budget
  uint64_t taken_ = 0;            // bytes taken from the budget
  std::vector<std::byte> owned_;  // decompressed contents
  FrameSection section_;
  FdeIndex index_;
  CfiProgram program_;
  RuleRows rows_;
  uint64_t instructions_left_;  // FDE instructions that may still be compiled
};

// A cache of the results of FullRules, keyed by address, because chains look up the same frames
// again and again. Addresses with the same slot replace each other.
class CfiTable::KnownRules {
 public:
  // Returns the rules; null: not cached.
  const FrameRules* Find(uint64_t address) const {
    const Entry& entry = entries_[PlaceOf(address)];
    return entry.is_known && entry.address == address ? &entry.rules : nullptr;
  }
  void Add(uint64_t address, const FrameRules& rules) {
    entries_[PlaceOf(address)] = {true, address, rules};
  }

 private:
  struct Entry {
    bool is_known = false;
    uint64_t address = 0;
    FrameRules rules;
  };
  static constexpr unsigned kPlacesLog2 = 8;
  static size_t PlaceOf(uint64_t address) {
    return address * 0x9e3779b97f4a7c15 >> (64 - kPlacesLog2);
  }
  std::array<Entry, size_t{1} << kPlacesLog2> entries_;
};

namespace {

uint32_t NextId() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool HasDebugFrame(const ElfImage& image) {
  return image.FindSection(".debug_frame") != nullptr ||
         image.FindSection(".zdebug_frame") != nullptr;
}

}  // namespace

CfiTable::CfiTable() = default;

CfiTable::~CfiTable() {
  if (budget_ == nullptr) return;
  if (known_rules_ != nullptr) budget_->GiveMemoryBack(sizeof(KnownRules));
  budget_->GiveMemoryBack(helper_bytes_);
}

absl::StatusOr<std::unique_ptr<CfiTable>> CfiTable::Create(const ElfImage& image,
                                                           const ElfImage* debug,
                                                           ChangeCheck has_changed,
                                                           FrameBudget* budget) {
  const auto architecture = ArchitectureOfElf(image.machine(), image.is_64_bit());
  if (!architecture) return absl::UnimplementedError("no unwinding on this machine");
  return CreateFor(*architecture, image, debug, std::move(has_changed), budget);
}

std::unique_ptr<CfiTable> CfiTable::CreateFor(Architecture architecture, const ElfImage& image,
                                              const ElfImage* debug, ChangeCheck has_changed,
                                              FrameBudget* budget) {
  std::unique_ptr<CfiTable> table(new CfiTable());
  table->file_ = image.bytes();
  table->architecture_ = architecture;
  table->id_ = NextId();
  table->has_changed_ = std::move(has_changed);
  table->budget_ = budget;
  table->entry_ = image.entry();
  table->code_ = CodeOf(image);
  table->full_instructions_left_ = kMostFullInstructions;

  if (const ElfSection* section = image.FindSection(".eh_frame");
      section != nullptr && !section->contents.empty()) {
    const FrameSection frames(FrameSection::kEhFrame, section->contents, section->address.value,
                              WordSize(architecture));
    table->eh_frame_ = table->MakeSection(frames, image.FindSection(".eh_frame_hdr"), {});
  }

  table->AddLinkageTables(image);
  if (architecture == Architecture::kX86_64) table->go_functions_ = GoFunctions::Find(image);
  for (const ElfImage* source : {&image, debug}) {
    if (source == nullptr || table->debug_source_ || !HasDebugFrame(*source)) continue;
    table->debug_source_ = *source;
  }
  table->CheckForChanges();
  return table;
}

std::unique_ptr<CfiTable::Section> CfiTable::MakeSection(const FrameSection& section,
                                                         const ElfSection* header,
                                                         std::vector<std::byte> owned) const {
  std::optional<FdeIndex> index;
  if (header != nullptr) {
    index = FdeIndex::FromHeader(header->contents, header->address.value, section);
  }
  if (!index && budget_ == nullptr) index = FdeIndex::Scan(section, SIZE_MAX);
  if (!index) {
    const uint64_t most = std::min(budget_->instructions_left() / kInstructionsOfScan,
                                   budget_->memory_left() / FdeIndex::kBytesOfScan);
    index = FdeIndex::Scan(section, most);
    budget_->TakeInstructions(index->scanned() * kInstructionsOfScan);
  }
  if (budget_ != nullptr && !budget_->TakeMemory(Section::MemoryOf(*index, owned))) return nullptr;
  return std::make_unique<Section>(architecture_, section, *std::move(index), std::move(owned),
                                   budget_);
}

// Returns the section .debug_frame. It may need decompression, so it is read only when a function
// is missing in .eh_frame.
CfiTable::Section* CfiTable::DebugFrame() {
  if (!debug_source_) return debug_frame_.get();
  uint64_t most = std::min(kMostDebugFrame, MostDecompressed(*debug_source_));
  if (budget_ != nullptr) {
    most = std::min(
        {most, budget_->memory_left(), budget_->instructions_left() * kBytesOfInstruction});
  }
  SectionContents contents = ReadSectionContents(*debug_source_, ".debug_frame", {.bytes = most});
  debug_source_.reset();
  if (contents.bytes.empty()) return nullptr;
  if (budget_ != nullptr) budget_->TakeInstructions(contents.owned.size() / kBytesOfInstruction);
  const FrameSection frames(FrameSection::kDebugFrame, contents.bytes, 0, WordSize(architecture_));
  debug_frame_ = MakeSection(frames, nullptr, std::move(contents.owned));
  return debug_frame_.get();
}

// Uses the files' bytes first and checks afterwards whether the files have changed. A check before
// the use would miss a write between the check and the use.
UnwindRule CfiTable::Find(ElfAddress address) {
  if (is_outdated_) return {};
  bool compiled = false;
  const UnwindRule rule = FindInSections(address, &compiled);
  if (compiled) CheckForChanges();
  return is_outdated_ ? UnwindRule{} : rule;
}

void CfiTable::CheckForChanges() {
  if (has_changed_ != nullptr) is_outdated_ = has_changed_();
}

UnwindRule CfiTable::FindInSections(ElfAddress address, bool* compiled) {
  UnwindRule rule;
  if (const HelperRule* const helper = HelperAt(address)) return helper->rule;
  if (eh_frame_ != nullptr) rule = FindInSection(*eh_frame_, address, compiled);
  if (rule.kind != UnwindRule::kNone) return rule;
  rule = FindGoRule(address, compiled);
  if (rule.kind != UnwindRule::kNone) return rule;
  if (Section* debug_frame = DebugFrame()) rule = FindInSection(*debug_frame, address, compiled);
  if (rule.kind != UnwindRule::kNone) return rule;
  for (const LinkageTable& table : linkage_tables_) {
    if (address.value - table.start < table.size) return table.rule;
  }
  return rule;
}

UnwindRule CfiTable::FindInSection(Section& section, ElfAddress address, bool* compiled) {
  bool is_new = false;
  const UnwindRule rule = section.Find(address.value, &is_new);
  if (!is_new) return rule;
  *compiled = true;
  FindHelpers(section, address);
  const HelperRule* const helper = HelperAt(address);
  return helper == nullptr ? rule : helper->rule;
}

// Finds helpers in the function at `address`, which was just compiled.
void CfiTable::FindHelpers(Section& section, ElfAddress address) {
  const std::optional<FunctionExtent> function = section.FunctionAt(address.value);
  if (!function) return;
  const CodeRange* const range = FindRange(code_, function->start);
  if (range == nullptr) return;
  std::span<const std::byte> code =
      range->bytes.subspan(function->start.value - range->address.value);
  code = code.first(std::min<uint64_t>(code.size(), function->size));
  if (!MayCallItself(architecture_, code)) return;
  if (budget_ != nullptr && budget_->instructions_left() == 0) return;
  const auto told = [&](ElfAddress instruction) {
    bool compiled = false;
    return section.Find(instruction.value, &compiled);
  };
  uint64_t decoded = 0;
  const std::vector<HelperRule> rules =
      FindHelperRules(architecture_, function->start, code, told, &decoded);
  if (budget_ != nullptr) budget_->TakeInstructions(decoded * kInstructionsOfDecoding);
  const uint64_t bytes = rules.size() * sizeof(HelperRule);
  if (rules.empty() || (budget_ != nullptr && !budget_->TakeMemory(bytes))) return;
  helper_bytes_ += bytes;
  const auto after = std::find_if(helpers_.begin(), helpers_.end(), [&](const HelperRule& helper) {
    return helper.start > rules.front().start;
  });
  helpers_.insert(after, rules.begin(), rules.end());
}

const HelperRule* CfiTable::HelperAt(ElfAddress address) const {
  const auto after =
      std::upper_bound(helpers_.begin(), helpers_.end(), address,
                       [](ElfAddress a, const HelperRule& helper) { return a < helper.start; });
  if (after == helpers_.begin()) return nullptr;
  const HelperRule& helper = *std::prev(after);
  return address.value - helper.start.value < helper.size ? &helper : nullptr;
}

// Returns a rule with the frame size from .gopclntab, which Go's own stack traces use too. Go's
// .debug_frame has the same information, but would have to be decompressed.
UnwindRule CfiTable::FindGoRule(ElfAddress address, bool* compiled) {
  if (!go_functions_) return {};
  const std::optional<GoFunction> function = go_functions_->At(address);
  if (!function) return {};
  *compiled = true;
  if (function->is_outermost) return {.kind = UnwindRule::kThreadStart};
  if (function->switches_stack) return {.kind = UnwindRule::kFull};
  uint64_t steps = 0;
  const std::optional<uint64_t> size = go_functions_->FrameSize(*function, address, &steps);
  if (budget_ != nullptr) budget_->TakeInstructions(steps);
  if (!size) return {};
  // Each function with a frame saves its caller's frame pointer at the frame's outer end.
  return {.kind = UnwindRule::kFromStackPointer,
          .return_slot = -1,
          .frame_slot = *size == 0 ? 0 : -2,
          .cfa_offset = static_cast<int32_t>(*size + sizeof(uint64_t))};
}

std::optional<StackSwitch> CfiTable::StackSwitchAt(ElfAddress address) const {
  if (is_outdated_ || !go_functions_) return std::nullopt;
  const std::optional<GoFunction> function = go_functions_->At(address);
  if (!function || !function->switches_stack || function->is_outermost) return std::nullopt;
  uint64_t steps = 0;
  return StackSwitch{function->start,
                     go_functions_->FrameSize(*function, address, &steps).value_or(0)};
}

DerivedRule CfiTable::Derive(ElfAddress address) {
  if (is_outdated_) return {};
  bool compiled = false;
  if (derived_rules_ == nullptr) {
    const auto image = ElfImage::Parse(file_);
    if (!image.ok()) return {};
    derived_rules_ = std::make_unique<DerivedRules>(architecture_, *image, budget_);
  }
  const DerivedRule derived = derived_rules_->Find(address, &compiled);
  if (compiled) CheckForChanges();
  return is_outdated_ ? DerivedRule{} : derived;
}

// Adds the linkage tables. Entries of .plt push a word because of lazy binding. Entries of all
// other tables only jump.
void CfiTable::AddLinkageTables(const ElfImage& image) {
  constexpr int32_t kPushesBefore = 11;
  for (const ElfSection& section : image.sections()) {
    const bool is_code = (section.flags & SHF_EXECINSTR) != 0;
    if (!is_code || (!section.name.starts_with(".plt") && section.name != ".iplt")) continue;
    UnwindRule rule{.kind = UnwindRule::kFromStackPointer};
    if (architecture_->linkage_header != nullptr && section.name == ".plt") {
      if (const auto header = architecture_->linkage_header(section.contents)) {
        linkage_tables_.push_back({section.address.value + header->offset,
                                   header->size,
                                   {.kind = UnwindRule::kFromStackPointer,
                                    .return_slot = -1,
                                    .cfa_offset = header->cfa_offset}});
      }
    }
    if (!HasLinkRegister(architecture_)) {
      rule.cfa_offset = static_cast<int32_t>(WordSize(architecture_));
      rule.return_slot = -1;
      if (section.name == ".plt") {
        rule.kind = UnwindRule::kLinkageTable;
        rule.return_slot = kPushesBefore;
      }
    }
    linkage_tables_.push_back({section.address.value, section.size, rule});
  }
}

void CfiTable::StartChain(uint64_t chain) {
  // After this many chains, kMostFullInstructions are available again.
  constexpr uint64_t kMostChains =
      2 * static_cast<uint64_t>(kMostFullInstructions / kFullInstructionsOfChain);
  const auto chains = static_cast<int64_t>(std::min(chain - chain_, kMostChains));
  chain_ = chain;
  full_instructions_left_ =
      std::min(full_instructions_left_ + chains * kFullInstructionsOfChain, kMostFullInstructions);
}

CfiTable::Told CfiTable::FullRules(ElfAddress address, FrameRules* rules) {
  if (is_outdated_ || HelperAt(address) != nullptr) return Told::kNothing;
  if (known_rules_ == nullptr) {
    if (budget_ != nullptr && !budget_->TakeMemory(sizeof(KnownRules))) return Told::kTooLong;
    known_rules_ = std::make_unique<KnownRules>();
  }
  if (const FrameRules* const known = known_rules_->Find(address.value)) {
    *rules = *known;
    return Told::kRules;
  }
  if (full_instructions_left_ <= 0) return Told::kTooLong;
  const Told told = EvaluateRules(address.value, rules);
  if (told == Told::kRules) known_rules_->Add(address.value, *rules);
  return told;
}

CfiTable::Told CfiTable::EvaluateRules(uint64_t address, FrameRules* rules) {
  if (eh_frame_ != nullptr) {
    const Told told = eh_frame_->FullRules(address, rules, &full_instructions_left_);
    if (told != Told::kNothing) return told;
  }
  if (StackSwitchAt({address})) return Told::kNothing;
  Section* debug_frame = DebugFrame();
  return debug_frame == nullptr ? Told::kNothing
                                : debug_frame->FullRules(address, rules, &full_instructions_left_);
}

std::optional<FunctionExtent> CfiTable::FunctionAt(ElfAddress address) {
  if (is_outdated_) return std::nullopt;
  std::optional<FunctionExtent> function;
  if (eh_frame_ != nullptr) function = eh_frame_->FunctionAt(address.value);
  if (function) return function;
  if (go_functions_) {
    if (const auto of_go = go_functions_->At(address))
      return FunctionExtent{of_go->start, of_go->size};
  }
  Section* debug_frame = DebugFrame();
  return debug_frame == nullptr ? std::nullopt : debug_frame->FunctionAt(address.value);
}

size_t CfiTable::memory_used() const {
  return sizeof(*this) + (eh_frame_ == nullptr ? 0 : eh_frame_->memory_used()) +
         (debug_frame_ == nullptr ? 0 : debug_frame_->memory_used()) +
         (known_rules_ == nullptr ? 0 : sizeof(*known_rules_)) +
         (derived_rules_ == nullptr ? 0 : derived_rules_->memory_used()) +
         code_.capacity() * sizeof(CodeRange) + helpers_.capacity() * sizeof(HelperRule);
}

size_t CfiTable::CompileAll() {
  size_t functions = 0;
  for (Section* section : {eh_frame_.get(), DebugFrame()}) {
    for (size_t i = 0; section != nullptr && i < section->functions(); ++i, ++functions) {
      section->CompileOnce(i);
    }
  }
  return functions;
}

}  // namespace profiler::symbolize
