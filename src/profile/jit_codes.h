// Maps the code of JITs into address spaces at the times at which they generated it.
//
//   dump     f at 10, g over f at 20
//   samples        12            25
//                  f             g
//
// Many JITs write code, announce it in the dump, and then make its memory executable, again and
// again. The kernel's record of the last step only says that the memory is executable from then on,
// so the announced code stays mapped.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "symbolize/address_space.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// The code of all dumps. Not thread-safe.
class JitCodes {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // Adds the code of process `pid`'s dump `image`, in time order. `codes` must outlive this object.
  // Does nothing if the dump was added before.
  void Add(uint32_t pid, symbolize::ImageId image, std::span<const symbolize::JitCode> codes);
  // Forgets the code of a process; call it when the process begins another program.
  void Forget(uint32_t pid);

  // Returns the time of the next code to map; kNever if there is none.
  uint64_t next() const { return next_; }
  // Maps all code that was generated until `time`.
  void PlaceUntil(uint64_t time, symbolize::AddressSpaces& spaces);
  // Maps placed code of process `pid` again after other memory was mapped over it.
  void Cover(uint32_t pid, uint64_t start, uint64_t size, symbolize::AddressSpaces& spaces);

 private:
  struct Dump {
    uint32_t pid;
    symbolize::ImageId image;
    std::span<const symbolize::JitCode> left;
    // The placed code, keyed by start; the pieces do not overlap.
    std::map<uint64_t, const symbolize::JitCode*> placed{};
  };

  void FindNext();

  std::vector<Dump> dumps_;
  uint64_t next_ = kNever;
};

}  // namespace profiler::profile
