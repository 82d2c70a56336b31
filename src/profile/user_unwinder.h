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
<<<<<<< HEAD
#include <optional>
#include <vector>

#include "src/base/chain_quality.h"
=======
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/string_table.h"
>>>>>>> unwind
#include "src/perf_event/records.h"
#include "src/profile/profile.h"
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
               symbolize::Architecture architecture);

  // The call chain of a sample: as it was recorded, or, where it has registers and stack bytes,
  // with its user part unwound. Valid until the next call.
<<<<<<< HEAD
  perf_event::U64Array Chain(const perf_event::Sample& sample);

  // How the unwound chains ended.
  ChainQuality Quality() const;
=======
  struct Chain {
    perf_event::U64Array entries;
    bool is_unwound = false;  // its user entries lie in the instructions themselves
  };
  Chain ChainOf(const perf_event::Sample& sample);

  // How the chains ended that were unwound so far. `dso_of` names images.
  UnwoundChains Quality(const std::function<DsoId(symbolize::ImageId)>& dso_of, DsoId unknown,
                        StringTable& strings) const;
>>>>>>> unwind

 private:
  std::optional<symbolize::UnwindImageFiles> Open(symbolize::ImageId image) const;

  const symbolize::Symbolizer& symbolizer_;
  symbolize::AddressSpaces& spaces_;
  const symbolize::Architecture architecture_;
  symbolize::UnwindImages images_;
  symbolize::MappedSpace space_;
  symbolize::Unwinder unwinder_;
  symbolize::UnwoundChain unwound_;
  std::vector<uint64_t> chain_;
<<<<<<< HEAD
  symbolize::ChainTally tally_;
=======
  UnwoundChains quality_;                                             // without `cut`
  std::map<std::pair<symbolize::ChainEnd, uint32_t>, uint64_t> cut_;  // by reason and image
>>>>>>> unwind
};

}  // namespace profiler::profile
