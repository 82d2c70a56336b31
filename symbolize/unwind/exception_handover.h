// Finds the frame that catches an exception which is being handed over.
//
// The throwing function, libgcc's _Unwind_RaiseException or a similar function, finally returns
// into the function that catches. Before it returns, it overwrites the registers saved in its own
// frame, one after the other, with the registers of the catching function. It also overwrites its
// return address with an address in the catching function:
//
//   its frame               │ fp …           │  of the catching function
//                           │ return address │  in the catching function: a copy of …
//                           ├────────────────┤
//   frames to be dropped    │                │
//   … of the catching       │ return address │  … this one; finally the address that catches
//     function's callee     ├────────────────┤  so the catching function's frame begins here
//
// During most of a throw, the catching function is still being searched for. So a chain that ends
// with the stack's bytes, or at the frame limit, is right as far as it goes.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/full_rule_lookup.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns true if the function that contains `instruction` hands over exceptions. Then `rules` has
// the full rules at `instruction`. Only functions that hand over exceptions save the two registers
// that carry an exception, because other functions need not preserve these registers.
bool HandsOver(RuntimeAddress instruction, FullRuleLookup& rules, const CodeSpace& space);

// The frame of the catching function.
struct CatchingFrame {
  size_t kept = 0;    // number of the chain's frames that are right, from the leaf on
  CallerStep caller;  // kCaller: the step from the last kept frame
};

// Returns the frame that catches if `chain`, which has ended, is lost because an exception is being
// handed over. `word` is the size of a word on the stack in bytes. Searches the copied stack.
std::optional<CatchingFrame> FindCatchingFrame(const UnwoundChain& chain, uint64_t word,
                                               FullRuleLookup& rules, StackReader& stack,
                                               const CodeSpace& space);

}  // namespace profiler::symbolize
