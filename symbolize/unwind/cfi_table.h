// What an image's call frame information says, as a table that unwinding can use:
//
//   address ──▶ function (FDE) ──▶ row ──▶ UnwindRule, 8 bytes: where CFA, return address and frame
//                                          pointer are
//
// The functions are found through the image's own .eh_frame_hdr, or, where that is missing, through
// an index that is made from .eh_frame; then in .debug_frame, which may be compressed and may stand
// in a separate debug file. A function is compiled to rows when an address in it is first asked
// for, so an image costs next to nothing to open, however big it is, and pages of its file come in
// as its functions are met.
//
// What a linker makes may be described nowhere: linkage tables (.plt, .plt.sec …) are known by
// their sections.
//
//   row     u32 distance from the function's start, u16 number of a rule; functions share rules
//
// Sources: DWARF 5, 6.4; Linux Standard Base core 5.0, 10.6 (.eh_frame, .eh_frame_hdr); the AArch64
// DWARF supplement, 4.4 (pointer authentication).

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
#include "symbolize/elf/go_functions.h"
#include "symbolize/unwind/frame_budget.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

class DerivedRules;
class FrameSection;
struct CodeRange;
struct FrameRules;

// How to come from a frame to its caller, where that takes the stack and frame pointers alone: all
// rows of compilers' code but very few. Slots are distances from the CFA in words of the
// architecture.
struct UnwindRule {
  enum Kind : uint32_t {
    kNone,              // no function is known here
    kThreadStart,       // the return address is undefined: no caller
    kFromStackPointer,  // CFA = sp + cfa_offset
    kFromFramePointer,  // CFA = fp + cfa_offset
    // A procedure linkage table, 16 bytes an entry, that pushes in each of them:
    // CFA = sp + cfa_offset + ((pc & 15) >= return_slot ? a word : 0), the return address is under
    // it.
    kLinkageTable,
    // A function that realigned its stack: CFA = word at fp + cfa_offset, the caller's frame
    // pointer is frame_slot words from fp.
    kRealigned,
    kFull,     // ask FullRules
    kTooLong,  // what is said of the function is more than is read
  };

  uint32_t kind : 3 = kNone;
  uint32_t signal_frame : 1 = 0;  // the caller was interrupted, it did not call
  // In the Unwinder: the frame's address follows no call. In DerivedRules: no path from the
  // function's start leads here.
  uint32_t not_called : 1 = 0;
  int32_t return_slot : 13 = 0;  // of the return address; 0: it is in the link register
  int32_t frame_slot : 14 = 0;   // of the caller's frame pointer; 0: it is still in its register
  int32_t cfa_offset = 0;

  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == 8);

// A function, or the part of one that a compiler moved elsewhere: what one FDE describes, or one
// symbol.
struct FunctionExtent {
  ElfAddress start;
  uint64_t size = 0;
};

// The rule of an instruction as its function's instructions tell it.
struct DerivedRule {
  UnwindRule rule;
  ElfAddress function;  // its start
  // True if a path from the start leads to the instruction. Else it was taken for a part of the
  // function because of its position.
  bool is_reached = false;
};

// Instructions of a helper inside a function (helper_rules.h), and their rule.
struct HelperRule {
  ElfAddress start;
  uint64_t size = 0;
  UnwindRule rule;
};

// The part of a function that runs on another stack than its caller.
struct StackSwitch {
  ElfAddress function;      // its start
  uint64_t frame_size = 0;  // at the instruction, as if it did not
};

// Of one image, for every process that maps it. Not thread-safe: look-ups compile. Immutable to the
// eye: the same address always has the same rule.
class CfiTable {
 public:
  // `debug` is the image's separate debug file or null. Views of both files are kept, so their
  // bytes must outlive the table. An image without any call frame information gives an empty table.
  // `budget` is shared with other tables and outlives this one: where it is used up, functions that
  // were not met yet have a rule of kTooLong, and tables that it has no room for are empty. Null:
  // none but the limits of a single image.
  // `has_changed` says whether those bytes may be others than when the image was opened, and is
  // asked when the table was made and whenever a function was compiled; without it they never are.
  // Errors: kUnimplemented for a machine that is not unwound.
  using ChangeCheck = std::function<bool()>;
  static absl::StatusOr<std::unique_ptr<CfiTable>> Create(const ElfImage& image,
                                                          const ElfImage* debug = nullptr,
                                                          ChangeCheck has_changed = nullptr,
                                                          FrameBudget* budget = nullptr);
  ~CfiTable();
  CfiTable(const CfiTable&) = delete;
  CfiTable& operator=(const CfiTable&) = delete;

  Architecture architecture() const { return architecture_; }
  // Distinct over all tables of the program run, never 0.
  uint32_t id() const { return id_; }
  // Whether the files were found to have changed. No rule is found from then on.
  bool is_outdated() const { return is_outdated_; }
  // Where the image's first instruction is, 0 for a shared library.
  ElfAddress entry() const { return entry_; }
  // The rule at an instruction. For a return address the caller passes address − 1. Corrupt
  // information counts as none. Cost: two binary searches; the first time in a function it is
  // compiled, by at most 2^18 instructions of its FDE. All functions together have at most four
  // times as many as their section has bytes, which sound information is far below, as functions
  // may share theirs.
  UnwindRule Find(ElfAddress address);

  // The rule at an instruction of which nothing is said, by the function's instructions
  // (derived_rules.h); kNone where they do not tell. It may be wrong. Cost: two binary searches;
  // the first time all code of the image is looked through, a millisecond a megabyte, and the first
  // time in a function its instructions.
  DerivedRule Derive(ElfAddress address);

  // Of a function of Go that goes on on another stack; empty for every other one. Find has kFull
  // there, and FullRules kNothing.
  std::optional<StackSwitch> StackSwitchAt(ElfAddress address) const;
  bool has_go_functions() const { return go_functions_.has_value(); }

  // All that is known of the frame at an instruction, evaluated from the FDE: slow, but for the
  // addresses that were asked for last. kNothing where Find has kNone. Evaluates 2^20 instructions
  // of FDEs, and 2^14 more for each chain since; then, until the next chain, kTooLong.
  enum class Told : uint8_t { kNothing, kRules, kTooLong };
  Told FullRules(ElfAddress address, FrameRules* rules);

  // Tells which chain, counted from the first one, asks for full rules from now on.
  void StartChain(uint64_t chain);

  // The function whose FDE, or Go's table, covers an instruction; empty where none does. Compiles
  // nothing: a binary search and the FDE's head.
  std::optional<FunctionExtent> FunctionAt(ElfAddress address);

  // Heap memory, in bytes.
  size_t memory_used() const;

  // Compiles everything, as a test of memory_used wants it. Functions in both sections count twice.
  size_t CompileAll();

 private:
  class Section;     // .eh_frame or .debug_frame
  class KnownRules;  // that were asked for last
  struct LinkageTable {
    uint64_t start, size;
    UnwindRule rule;
  };

  CfiTable();
  void CheckForChanges();
  // Sets `*compiled` if it compiled a function.
  UnwindRule FindInSections(ElfAddress address, bool* compiled);
  UnwindRule FindInSection(Section& section, ElfAddress address, bool* compiled);
  void FindHelpers(Section& section, ElfAddress address);
  const HelperRule* HelperAt(ElfAddress address) const;  // null: no helper is there
  UnwindRule FindGoRule(ElfAddress address, bool* compiled);
  Section* DebugFrame();  // null where there is none
  // Null where the budget has no room for it. `header` is the section's index; null: there is none.
  std::unique_ptr<Section> MakeSection(const FrameSection& section, const ElfSection* header,
                                       std::vector<std::byte> owned) const;
  Told EvaluateRules(uint64_t address, FrameRules* rules);
  void AddLinkageTables(const ElfImage& image);
  void AddTableHeader(const ElfSection& section);

  std::span<const std::byte> file_;
  Architecture architecture_ = kNativeArchitecture;
  uint32_t id_ = 0;
  ChangeCheck has_changed_;
  FrameBudget* budget_ = nullptr;  // null: none
  bool is_outdated_ = false;
  ElfAddress entry_;
  std::unique_ptr<Section> eh_frame_;
  std::vector<LinkageTable> linkage_tables_;
  std::optional<GoFunctions> go_functions_;
  std::optional<ElfImage> debug_source_;  // with a .debug_frame that was not read yet
  std::unique_ptr<Section> debug_frame_;
  std::vector<CodeRange> code_;
  std::vector<HelperRule> helpers_;              // of functions that were met, by address
  uint64_t helper_bytes_ = 0;                    // taken from the budget
  std::unique_ptr<KnownRules> known_rules_;      // null: not asked yet
  std::unique_ptr<DerivedRules> derived_rules_;  // null: not asked yet
  uint64_t chain_ = 0;
  int64_t full_instructions_left_ = 0;  // that may be run for full rules
};

}  // namespace profiler::symbolize
