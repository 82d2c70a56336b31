// Unwinds samples that have the user's registers and a copy of the stack, as `perf record
// --call-graph dwarf` writes them, by call frame information.
//
//   recorded   ctx KERNEL  k0 k1                 registers, stack bytes
//   chain      ctx KERNEL  k0 k1  ctx USER  u0 u1−1 u2−1 …
//
// The unwound user part replaces one that the kernel found by frame pointers. Callers are listed as
// return address − 1, inside the call, as in perf's own unwinding; an instruction that a signal
// interrupted is listed unchanged. So each entry is looked up at its own address.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/format/perf_event/records.h"
#include "symbolize/address_space.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/chain_quality.h"
#include "symbolize/unwind/chain_tally.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::profile {

// The unwinder. Not thread-safe. All objects that it refers to must outlive it.
class UserUnwinder {
 public:
  // Unwinds samples recorded on `architecture`. Opens images as `symbolizer` does: a file is not
  // used if its build-id differs from the recorded one.
  UserUnwinder(const symbolize::Symbolizer& symbolizer, symbolize::AddressSpaces& spaces,
               symbolize::Architecture architecture, symbolize::SymbolizerOptions files = {});

  // Returns the innermost user address of a sample, from its registers or from its recorded call
  // chain.
  std::optional<RuntimeAddress> UserIpOf(const perf_event::Sample& sample) const;

  // A call chain of a sample.
  struct Chain {
    perf_event::U64Array entries;
    bool is_unwound = false;  // True if its user entries lie inside the call instructions.
  };
  // Returns the recorded chain of a sample. If the sample has registers and stack bytes, an unwound
  // user part replaces the chain's user part. `stack_bytes` is the requested size of a stack copy.
  // `has_stack` is false if an exec has replaced the stack. Valid until the next call.
  Chain ChainOf(const perf_event::Sample& sample, uint32_t stack_bytes, bool has_stack);

  // Returns how many chains have ended in each possible way so far.
  ChainQuality Quality() const;

 private:
  std::optional<symbolize::UnwindImageFiles> Open(symbolize::ImageId image) const;

  const symbolize::Symbolizer& symbolizer_;
  symbolize::AddressSpaces& spaces_;
  const symbolize::SymbolizerOptions files_;
  const symbolize::Architecture architecture_;
  symbolize::UnwindImages images_;
  symbolize::MappedSpace space_;
  symbolize::Unwinder unwinder_;
  symbolize::UnwoundChain unwound_;
  std::vector<uint64_t> chain_;
  symbolize::ChainTally tally_;
};

}  // namespace profiler::profile
