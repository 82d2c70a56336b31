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
#include "src/query/weight.h"
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
  // The image's own; of the kernel the one at which it ran, and so of code in a JIT's dump: the
  // lowest one where it was moved, and from 0 where no sample says.
  ElfAddress address;
  // With the name of what it calls or jumps to in <>; of code in a JIT's dump, where that is in the
  // dump as well and was on a stack.
  std::string text;
  uint64_t period = 0, samples = 0;
  std::vector<query::Weight> members;  // of AnnotatedFunction::members
  SourceLine source;
};

// A further event of the group that the shown event leads.
struct AnnotatedMember {
  std::string event;
  query::Weight weight;     // what 100 % is
  query::Weight elsewhere;  // of samples at none of the instructions
};

struct AnnotatedFunction {
  symbolize::ImageId in_symbolizer{};  // the image as the symbolizer numbers it
  ElfAddress start;                    // as the symbolizer is asked for it
  ElfAddress shown_from;               // the address of the first instruction
  std::string name;
  std::string image;  // path
  std::string event;
  uint64_t samples = 0;
  uint64_t period = 0;  // what 100 % is
  std::vector<AnnotatedInstruction> instructions;
  uint64_t period_elsewhere = 0;  // of samples at none of the instructions
  bool cut = false;               // longer than what is disassembled
  std::string group;              // its name: "anon group"; empty: there are no members
  std::vector<AnnotatedMember> members;
};

// The events that the shown event leads.
struct GroupMembers {
  std::string name;
  std::vector<profile::EventId> events;
};

// Functions longer than that are cut, in bytes.
inline constexpr uint64_t kLongestFunction = 1 << 20;

// `symbolizer` must be the one that named the profile, or one that finds the same files. An image
// that is not the one recorded gives nothing: its build-id is checked, and of a dump, which has
// none, that it has that function there.
//
// Errors: kFailedPrecondition, with the reason in one line, where there is no code to show: of
// modules and BPF programs, generated code that is in no dump, a file that is gone or was replaced.
// kUnimplemented for a machine that is not disassembled.
absl::StatusOr<AnnotatedFunction> Annotate(const profile::Profile& profile, profile::EventId event,
                                           const ChosenFunction& function,
                                           symbolize::Symbolizer& symbolizer, Syntax syntax,
                                           const GroupMembers& group = {});

// Asks `symbolizer` all that Annotate asks it for a function, whatever the event and the syntax:
// for who keeps the answers. Errors likewise. Cost: a look-up an instruction, of its line.
absl::Status LookUpCode(const profile::Profile& profile, profile::SymbolId function,
                        symbolize::Symbolizer& symbolizer);

}  // namespace profiler::annotate
