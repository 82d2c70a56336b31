// Runs the instructions of a CIE and an FDE, which build the rows of a table one after the other:
//
//   address      CFA        rbx      rbp      return address
//   start        rsp+8      —        —        CFA−8
//   start+1      rsp+16     —        CFA−16   CFA−8
//   …
//
// Source: DWARF 5, 6.4.2 and 7.24; DW_CFA_GNU_* of binutils; supplements of
// architectures.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "symbolize/unwind/dwarf_reader.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/frame_section.h"

namespace profiler::symbolize {

// An interpreter. Reuse one object for many functions to reuse its memory. Not thread-safe.
class CfiProgram {
 public:
  // Receives the rules of [start, end). Returns true to continue.
  using RowVisitor = absl::FunctionRef<bool(uint64_t start, uint64_t end, const FrameRules&)>;

  struct Outcome {
    uint64_t instructions = 0;  // number of instructions that ran, including the CIE's
    bool is_cut = false;        // true if the limit was reached, so that rows are missing
  };

  // Calls `visit` for each row of `function`, in order and without overlap. Stops if `visit`
  // returns false, at an invalid instruction, and after `most` instructions. Time is linear in the
  // number of instructions.
  Outcome Run(Architecture architecture, const FrameSection& section, const FunctionEntry& function,
              uint64_t most, RowVisitor visit);

 private:
  enum class Step { kNext, kAdvance, kMalformed };

  bool RunCommon(std::span<const std::byte> instructions);
  void RunFunction(std::span<const std::byte> instructions, uint64_t end, RowVisitor visit);
  bool MayRunOneMore();
  Step Execute(DwarfReader& code);
  Step ExecuteExtended(uint8_t op, DwarfReader& code);
  Step SetCfa(uint8_t op, DwarfReader& code);
  Step SetRule(uint8_t op, DwarfReader& code);
  Step AdvanceBy(uint64_t distance);
  Step SetRegister(uint64_t number, RegisterRule rule);
  Step SetCfaRegister(uint64_t number, int64_t offset);
  Step SetCfaExpression(DwarfReader& code);
  bool IsFromStackPointer(int64_t offset, uint32_t size) const;
  Step RestoreInitial(uint64_t number);
  Step Expression(DwarfReader& code, int64_t* offset, uint32_t* size);
  int64_t Factored(uint64_t value) const;

  Architecture architecture_ = kNativeArchitecture;
  const FrameSection* section_ = nullptr;
  const FunctionEntry* function_ = nullptr;
  uint64_t code_address_ = 0;  // memory address of the running instructions
  uint64_t most_ = 0;          // largest number of instructions to run
  Outcome outcome_;
  uint64_t location_ = 0;
  uint64_t next_location_ = 0;    // start of the next row, set by a step that returns kAdvance
  uint64_t last_expression_ = 0;  // location_ at which a register's expression was last set
  FrameRules rules_;
  FrameRules initial_;  // rules after the CIE's instructions
  std::vector<FrameRules> remembered_;
};

}  // namespace profiler::symbolize
