// Samples that wait for the user part of their call chain.
//
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   CALLCHAIN_DEFERRED tid 7, cookie 3: ctx USER, user frames        both are whole now
//
// The kernel (6.19) unwinds user space only when the thread returns to it, once for all samples
// that were taken meanwhile. Cookies are a thread's own, so a new one says that the old one's chain
// was lost. Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/codec.h"
#include "src/perf_event/records.h"

namespace profiler::profile {

struct DeferredSample {
  std::vector<std::byte> bytes;  // of the record
  uint32_t event = 0;
  uint64_t time = 0;
};

// Not thread-safe. Memory: the records that wait.
class DeferredSamples {
 public:
  // The cookie at the end of a call chain that waits for its user part.
  static bool Waits(perf_event::U64Array callchain, uint64_t* cookie);

  // The chain with its user part in the place of marker and cookie.
  static std::vector<uint64_t> Join(perf_event::U64Array callchain, perf_event::U64Array user);

  bool empty() const { return waiting_.empty(); }

  // Returns the thread's samples of an older cookie: their chain will not come any more.
  std::vector<DeferredSample> Add(uint32_t tid, uint64_t cookie, DeferredSample sample);

  // The samples that this chain completes.
  std::vector<DeferredSample> Take(uint32_t tid, uint64_t cookie);

  // All that still wait, by time.
  std::vector<DeferredSample> TakeAll();

 private:
  struct Waiting {
    uint64_t cookie = 0;
    std::vector<DeferredSample> samples;
  };
  absl::flat_hash_map<uint32_t, Waiting> waiting_;  // by tid
};

}  // namespace profiler::profile
