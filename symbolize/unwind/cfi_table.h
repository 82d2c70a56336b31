// Compiles the call frame information of an image into a table for fast unwinding:
//
//   address ──▶ function (FDE) ──▶ row ──▶ UnwindRule, 8 bytes: where CFA, return address and frame
//                                          pointer are
//
// Functions are looked up in .eh_frame, through .eh_frame_hdr or, without it, through an index made
// from .eh_frame. Functions that .eh_frame lacks are looked up in .debug_frame, which may be
// compressed or in a separate debug file. A function is compiled to rows at the first look-up in
// it. So opening even a large image costs almost nothing. Only the pages of the file that describe
// these functions are read.
//
// Linkage tables (.plt, .plt.sec …), which linkers make, may have no information. They are
// recognized by their sections.
//
// A row has a u32 distance from the function's start and the u16 number of a rule. Functions share
// rules.
//
// Sources: DWARF 5, 6.4; Linux Standard Base core 5.0, 10.6 (.eh_frame, .eh_frame_hdr).

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/go/table/functions.h"
#include "symbolize/unwind/frame_budget.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

class DerivedRules;
class FrameSection;
struct CodeRange;
struct FrameRules;

// A rule for stepping from a frame to its caller that needs only the stack and frame pointers.
// Nearly all rows of compilers' code are such rules. Slots are distances from the CFA in words of
// the architecture.
struct UnwindRule {
  enum Kind : uint32_t {
    kNone,              // no function is known at this address
    kThreadStart,       // the return address is undefined, so there is no caller
    kFromStackPointer,  // CFA = sp + cfa_offset
    kFromFramePointer,  // CFA = fp + cfa_offset
    // A procedure linkage table with 16-byte entries that each push one word. CFA = sp + cfa_offset
    // + ((pc & 15) >= return_slot ? a word : 0); the return address is the word below the CFA.
    kLinkageTable,
    // A function that realigned its stack. CFA = word at fp + cfa_offset; the caller's frame
    // pointer is frame_slot words from fp.
    kRealigned,
    kFull,     // no simple rule is enough; use FullRules
    kTooLong,  // the function's information exceeds the limits
  };

  uint32_t kind : 3 = kNone;
  uint32_t signal_frame : 1 = 0;  // 1: a signal interrupted the caller, which made no call
  // In the Unwinder: the frame's address follows no call. In DerivedRules: no path from the
  // function's start leads here.
  uint32_t not_called : 1 = 0;
  int32_t return_slot : 13 = 0;  // slot of the return address; 0: it is in the link register
  int32_t frame_slot : 14 = 0;   // slot of the caller's frame pointer; 0: it is still in fp
  int32_t cfa_offset = 0;

  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == 8);

// The code of one FDE or symbol: a function, or a part of a function that the compiler moved away
// from the function.
struct FunctionExtent {
  ElfAddress start;
  uint64_t size = 0;
};

// A rule derived from the instructions of a function.
struct DerivedRule {
  UnwindRule rule;
  ElfAddress function;  // start of the function
  // True if a path from the function's start leads to the instruction. False if only its position
  // suggests that it belongs to the function.
  bool is_reached = false;
};

// Instructions of a helper inside a function (helper_rules.h), and their rule.
struct HelperRule {
  ElfAddress start;
  uint64_t size = 0;
  UnwindRule rule;
};

// A position in a function that switches stacks.
struct StackSwitch {
  ElfAddress function;      // start of the function
  uint64_t frame_size = 0;  // bytes of the frame at the position, if the stack is not switched
};

// The call frame information of one image, for all processes that map it. Not thread-safe, because
// look-ups compile functions. Results never change: an address always has the same rule.
class CfiTable {
 public:
  // Creates the table of an image. `debug` is its separate debug file or null. The bytes of both
  // files must outlive the table. An image without call frame information gets an empty table.
  //
  // `budget` limits the cost of this and of other tables together, and must outlive the table. If
  // the budget is used up, functions that were not looked up before have the rule kTooLong, and a
  // new table that does not fit is empty. If `budget` is null, only the limits per image apply.
  //
  // `has_changed` returns true if the bytes may have changed since the image was opened. It is
  // called after the table was made and after each compilation. If `has_changed` is null, the bytes
  // never change.
  //
  // Errors: kUnimplemented for a machine that cannot be unwound.
  using ChangeCheck = std::function<bool()>;
  static absl::StatusOr<std::unique_ptr<CfiTable>> Create(const ElfImage& image,
                                                          const ElfImage* debug = nullptr,
                                                          ChangeCheck has_changed = nullptr,
                                                          FrameBudget* budget = nullptr);
  // Like Create, for an architecture that need not be in arch/list.h.
  static std::unique_ptr<CfiTable> CreateFor(Architecture architecture, const ElfImage& image,
                                             const ElfImage* debug = nullptr,
                                             ChangeCheck has_changed = nullptr,
                                             FrameBudget* budget = nullptr);
  ~CfiTable();
  CfiTable(const CfiTable&) = delete;
  CfiTable& operator=(const CfiTable&) = delete;

  Architecture architecture() const { return architecture_; }
  // Returns a number that is unique over all tables of the program run; never 0.
  uint32_t id() const { return id_; }
  // Returns true if the files have changed. From then on there are no rules.
  bool is_outdated() const { return is_outdated_; }
  // Returns the image's entry point; 0 for a shared library.
  ElfAddress entry() const { return entry_; }
  // Returns the rule at an instruction. For a return address the caller passes address − 1. Corrupt
  // information counts as none. Cost: two binary searches. The first look-up in a function compiles
  // it, with at most 2^18 instructions of its FDE. All functions of a section together run at most
  // four instructions per byte of the section; valid information needs far fewer, except if
  // functions share instructions.
  UnwindRule Find(ElfAddress address);

  // Returns the rule at an instruction without call frame information. Derives it from the
  // function's instructions (derived_rules.h); kNone if they do not show it. The rule may be wrong.
  // Cost: two binary searches. The first call scans all code of the image, 1 ms per MB; the first
  // look-up in a function decodes the function.
  DerivedRule Derive(ElfAddress address);

  // Returns the stack switch at an instruction of a Go function that continues on another stack.
  // Empty for instructions of other functions. In functions that switch stacks, Find returns kFull,
  // and FullRules returns kNothing.
  std::optional<StackSwitch> StackSwitchAt(ElfAddress address) const;
  bool has_go_functions() const { return go_functions_.has_value(); }

  // Evaluates all rules at an instruction from the FDE: slow, except for recently used addresses.
  // Returns kNothing if Find returns kNone. Runs at most 2^20 instructions of FDEs, plus 2^14 per
  // chain; beyond that, returns kTooLong until the next chain.
  enum class Told : uint8_t { kNothing, kRules, kTooLong };
  Told FullRules(ElfAddress address, FrameRules* rules);

  // Sets the number of the current chain, counted from the first one, for the limits of FullRules.
  void StartChain(uint64_t chain);

  // Returns the extent of the FDE that covers an instruction, or of the function in Go's table.
  // Empty if neither covers it. Compiles nothing. Cost: a binary search, and reading the FDE's
  // head.
  std::optional<FunctionExtent> FunctionAt(ElfAddress address);

  // Returns the size of the table's heap memory in bytes.
  size_t memory_used() const;

  // Compiles all functions, for tests of memory_used. Functions in both sections count twice.
  size_t CompileAll();

 private:
  class Section;     // .eh_frame or .debug_frame
  class KnownRules;  // a cache of the results of FullRules
  struct LinkageTable {
    uint64_t start, size;
    UnwindRule rule;
  };

  CfiTable();
  void CheckForChanges();
  // Returns the rule at `address` from .eh_frame or .debug_frame. Sets `*compiled` if this call
  // compiled a function.
  UnwindRule FindInSections(ElfAddress address, bool* compiled);
  UnwindRule FindInSection(Section& section, ElfAddress address, bool* compiled);
  void FindHelpers(Section& section, ElfAddress address);
  const HelperRule* HelperAt(ElfAddress address) const;  // null: no helper contains the address
  UnwindRule FindGoRule(ElfAddress address, bool* compiled);
  Section* DebugFrame();  // null: the image has no .debug_frame
  // Returns null if the budget has no room. `header` is .eh_frame_hdr; null: there is none.
  std::unique_ptr<Section> MakeSection(const FrameSection& section, const ElfSection* header,
                                       std::vector<std::byte> owned) const;
  Told EvaluateRules(uint64_t address, FrameRules* rules);
  void AddLinkageTables(const ElfImage& image);

  std::span<const std::byte> file_;
  Architecture architecture_ = kNativeArchitecture;
  uint32_t id_ = 0;
  ChangeCheck has_changed_;
  FrameBudget* budget_ = nullptr;  // null: no budget
  bool is_outdated_ = false;
  ElfAddress entry_;
  std::unique_ptr<Section> eh_frame_;
  std::vector<LinkageTable> linkage_tables_;
  std::optional<GoFunctions> go_functions_;
  std::optional<ElfImage> debug_source_;  // file with a .debug_frame; empty: none, or already read
  std::unique_ptr<Section> debug_frame_;
  std::vector<CodeRange> code_;
  std::vector<HelperRule> helpers_;          // helpers of all compiled functions, sorted by start
  uint64_t helper_bytes_ = 0;                // bytes of helpers_ that were taken from the budget
  std::unique_ptr<KnownRules> known_rules_;  // null: FullRules was not called yet
  std::unique_ptr<DerivedRules> derived_rules_;  // null: Derive was not called yet
  uint64_t chain_ = 0;
  int64_t full_instructions_left_ = 0;  // instructions that FullRules may still run
};

}  // namespace profiler::symbolize
