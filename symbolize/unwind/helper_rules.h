// Finds rules for helpers: parts of an assembly function that the function itself calls.
//
//   vm_entry:  sub $32, %rsp        call frame information, one rule: CFA = sp + 40
//              call 1f
//              add $32, %rsp
//              ret
//   1:         dec %rcx             here the stack has 8 bytes more, the helper's return address
//              jnz 1b
//              ret
//
// Call frame information that ignores the call would take a local variable for the return address.
// Therefore a helper counts as a function of its own, with rules derived from its instructions. Its
// caller is the function around it. Information that counts the words pushed by the call and by the
// helper, or that is based on a frame pointer, is correct and is not replaced.
//
// Only assembly code has helpers, because compilers call functions at their start. One search
// through a function's bytes shows whether it calls code inside itself.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// Returns true if the function `code` may call an address inside itself; false for nearly all
// functions.
bool MayCallItself(Architecture architecture, std::span<const std::byte> code);

// Returns the rules that replace rules of call frame information, sorted by start. The rule is
// kNone for instructions that are reached both with a call of the helper and without. `told`
// returns the rule of call frame information. Adds the number of decoded instructions, at most
// 8 × 2^16, to `*decoded`. Returns no rules for a function of more than 256 KB or with more than 64
// helpers.
std::vector<HelperRule> FindHelperRules(Architecture architecture, ElfAddress start,
                                        std::span<const std::byte> code,
                                        absl::FunctionRef<UnwindRule(ElfAddress)> told,
                                        uint64_t* decoded);

}  // namespace profiler::symbolize
