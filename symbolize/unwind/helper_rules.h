// The rules of helpers: parts of a function of assembly that the function itself calls.
//
//   vm_entry:  sub $32, %rsp        call frame information, one rule: CFA = sp + 40
//              call 1f
//              add $32, %rsp
//              ret
//   1:         dec %rcx             here the stack has 8 bytes more, the helper's return address
//              jnz 1b
//              ret
//
// Call frame information that leaves out the call would take a local variable for the return
// address. So a helper is taken for a function of its own, whose rules its instructions tell; its
// caller is the function around it. Information that counts what a helper has pushed, or that goes
// by a frame pointer, is right and stays.
//
// Only assembly is written so: compilers call functions at their start. Finding out that a function
// calls nothing inside itself takes one search through its bytes.
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

// True if `code`, a function from its start on, may have a call of an address inside itself. False
// for nearly all functions.
bool MayCallItself(Architecture architecture, std::span<const std::byte> code);

// The rules that replace those of call frame information, in the order of addresses: kNone for
// instructions that are reached both by a call and without one. `told`: what that information says
// of an instruction. Adds to `*decoded` how many instructions it decodes, at most eight times
// 2^16. Functions of more than 256 KB, or with more than 64 helpers, have none.
std::vector<HelperRule> FindHelperRules(Architecture architecture, ElfAddress start,
                                        std::span<const std::byte> code,
                                        absl::FunctionRef<UnwindRule(ElfAddress)> told,
                                        uint64_t* decoded);

}  // namespace profiler::symbolize
