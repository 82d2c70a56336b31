// Annotates a function's instructions with samples and source lines.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/weight.h"
#include "src/base/address.h"
#include "src/base/status.h"
#include "src/profile/profile.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/disassembler.h"
#include "symbolize/symbolizer.h"

namespace profiler::annotate {

// The source line of an instruction. If calls were inlined there, it is a line of the innermost
// function.
struct SourceLine {
  std::string file;     // empty: unknown
  uint32_t line = 0;    // 0: unknown
  std::string inlined;  // name of the inlined function; empty if not inlined

  bool operator==(const SourceLine&) const = default;
};

struct AnnotatedInstruction {
  // Address in the image. For the kernel and for code in a JIT's dump: the runtime address. In a
  // dump, a function that was moved starts at its lowest runtime address, and a function that was
  // on no stack starts at 0.
  ElfAddress address;
  // The instruction, with the name of its call or jump target in <>. In a JIT's dump, only targets
  // in the dump that were on a stack have names.
  std::string text;
  uint64_t period = 0, samples = 0;
  // Weight of all samples whose call chain contains the instruction; only with callees.
  analysis::Weight children;
  std::vector<analysis::Weight> members;  // one weight per AnnotatedFunction::members
  SourceLine source;
};

// A further event of the group that the shown event leads.
struct AnnotatedMember {
  std::string event;
  analysis::Weight weight;     // 100 % of this event
  analysis::Weight elsewhere;  // sum over samples at none of the instructions
};

struct AnnotatedFunction {
  symbolize::ImageId in_symbolizer{};  // the image's id in the symbolizer
  ElfAddress start;                    // the start in the symbolizer's addresses
  ElfAddress shown_from;               // the first instruction's `address`
  std::string name;
  std::string image;  // path
  std::string event;
  // True if samples in callees count, too; then `samples` and `period` include them.
  bool with_callees = false;
  uint64_t samples = 0;
  uint64_t period = 0;  // 100 % of the listing
  std::vector<AnnotatedInstruction> instructions;
  // Weight of samples in the function, but at none of the instructions, and of samples whose call
  // chain contains such code.
  analysis::Weight elsewhere, children_elsewhere;
  // Weight of all samples whose call chain contains an instruction of a source line, by file and
  // line; only with callees.
  std::map<std::pair<std::string, uint32_t>, analysis::Weight> children_of_lines;
  bool cut = false;   // the code is longer than kLongestFunction
  std::string group;  // name of the event group: "anon group"; empty: no members
  std::vector<AnnotatedMember> members;
};

// The further events of the group that the shown event leads.
struct GroupMembers {
  std::string name;
  std::vector<profile::EventId> events;
};

// Longest part of a function that is disassembled, in bytes.
inline constexpr uint64_t kLongestFunction = 1 << 20;

// Disassembles a function and counts its samples. `symbolizer` must be the one that named the
// profile, or one that finds the same files. Refuses an image whose build-id differs from the
// recorded one. A dump has no build-id; it is refused if it no longer contains the function.
// `counted` must be the one with which the function was chosen. kWithCallees walks up the stack of
// each sample.
//
// Returns kFailedPrecondition, with the reason in one line, if there is no code to show. This is
// the case for modules, BPF programs, generated code without a dump, and files that are gone or
// were replaced. Returns kUnimplemented for a machine without disassembler.
absl::StatusOr<AnnotatedFunction> Annotate(const profile::Profile& profile, profile::EventId event,
                                           const ChosenFunction& function,
                                           symbolize::Symbolizer& symbolizer, Syntax syntax,
                                           const GroupMembers& group = {},
                                           Counted counted = Counted::kOwn);

// Makes all requests to `symbolizer` that Annotate would make for a function, so that a caching
// symbolizer stores the answers. The requests depend neither on the event nor on the syntax.
// Errors: those of Annotate. Cost: a line look-up per instruction.
absl::Status LookUpCode(const profile::Profile& profile, profile::SymbolId function,
                        symbolize::Symbolizer& symbolizer);

}  // namespace profiler::annotate
