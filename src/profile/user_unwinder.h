// Samples that bring the user's registers and a copy of the stack, as `perf record --call-graph
// dwarf` writes them: their user frames are found here, from call frame information.
//
//   recorded   ctx KERNEL  k0 k1                 registers, stack bytes
//   chain      ctx KERNEL  k0 k1  ctx USER  u0 u1−1 u2−1 …
//
// A user part that the kernel found as well (by frame pointers) is replaced. Callers stand as
// return address − 1, inside the call, as perf's own unwinding has them; what a signal interrupted
// stands as it is. So each entry is looked up where it points to.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/perf_event/records.h"
#include "symbolize/address_space.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/chain_tally.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::profile {

// Not thread-safe. What it refers to must outlive it.
class UserUnwinder {
 public:
  // Of a recording made on `architecture`; the images are those of `symbolizer`, and are opened as
  // it opens them: of another build-id than the recorded one nothing is used.
  UserUnwinder(const symbolize::Symbolizer& symbolizer, symbolize::AddressSpaces& spaces,
               symbolize::Architecture architecture, symbolize::SymbolizerOptions files = {});

  // The innermost user address of a sample: by its registers, or by its call chain as recorded.
  std::optional<RuntimeAddress> UserIpOf(const perf_event::Sample& sample) const;

  // The call chain of a sample: as it was recorded, or, where it has registers and stack bytes,
  // with its user part unwound. `stack_bytes` were asked for; without `has_stack` an exec has
  // replaced the stack that they are of. Valid until the next call.
  struct Chain {
    perf_event::U64Array entries;
    bool is_unwound = false;  // its user entries lie in the instructions themselves
  };
  Chain ChainOf(const perf_event::Sample& sample, uint32_t stack_bytes, bool has_stack);

  // How the chains ended that were unwound so far.
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
