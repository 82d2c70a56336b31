// A function's instructions with their samples and source lines.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/annotate/choice.h"
#include "src/annotate/disassembler.h"
#include "src/base/address.h"
#include "src/base/status.h"
#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::annotate {

// A source line, or one of a function that was inlined there.
struct SourceLine {
  std::string file;     // empty: unknown
  uint32_t line = 0;    // 0: unknown
  std::string inlined;  // the innermost function, where it was inlined; else empty

  bool operator==(const SourceLine&) const = default;
};

struct AnnotatedInstruction {
  ElfAddress address;
  std::string text;  // with the name of what it calls or jumps to in <>
  uint64_t period = 0, samples = 0;
  SourceLine source;
};

struct AnnotatedFunction {
  std::string name;
  std::string image;  // path
  std::string event;
  uint64_t samples = 0;
  uint64_t period = 0;  // what 100 % is
  std::vector<AnnotatedInstruction> instructions;
  uint64_t period_elsewhere = 0;  // of samples at none of the instructions
  bool cut = false;               // longer than what is disassembled
};

// Functions longer than that are cut, in bytes.
inline constexpr uint64_t kLongestFunction = 1 << 20;

// `symbolizer` must be the one that named the profile, or one that finds the same files. An image
// that is not the one recorded gives nothing: its build-id is checked.
//
// Errors: kFailedPrecondition, with the reason in one line, where there is no code to show: the
// kernel's, generated code, a file that is gone or was replaced. kUnimplemented for a machine that
// is not disassembled.
absl::StatusOr<AnnotatedFunction> Annotate(const profile::Profile& profile, profile::EventId event,
                                           const ChosenFunction& function,
                                           symbolize::Symbolizer& symbolizer, Syntax syntax);

// Asks `symbolizer` all that Annotate asks it for a function, whatever the event and the syntax:
// for who keeps the answers. Errors likewise. Cost: a look-up an instruction, of its line.
absl::Status LookUpCode(const profile::Profile& profile, profile::SymbolId function,
                        symbolize::Symbolizer& symbolizer);

}  // namespace profiler::annotate
