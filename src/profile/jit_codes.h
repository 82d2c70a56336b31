// Puts the code of JITs into address spaces at the times at which they made it.
//
//   dump     f at 10, g over f at 20
//   samples        12            25
//                  f             g
//
// Many JITs write code, say in the dump what it is, and then make its memory executable, again and
// again. A record says only that the memory is executable from then on, so code that was announced
// for it stays.
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

// Not thread-safe.
class JitCodes {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // What process `pid` has in the dump `image`, in the order of time; lives as long as this. Does
  // nothing where it was given before.
  void Add(uint32_t pid, symbolize::ImageId image, std::span<const symbolize::JitCode> codes);
  // The process begins another program.
  void Forget(uint32_t pid);

  // When the next code is to be placed; kNever where none is.
  uint64_t next() const { return next_; }
  // Maps all code that was made until then.
  void PlaceUntil(uint64_t time, symbolize::AddressSpaces& spaces);
  // Memory of process `pid` was mapped over what was placed there: maps that again.
  void Cover(uint32_t pid, uint64_t start, uint64_t size, symbolize::AddressSpaces& spaces);

 private:
  struct Dump {
    uint32_t pid;
    symbolize::ImageId image;
    std::span<const symbolize::JitCode> left;
    std::map<uint64_t, const symbolize::JitCode*> placed{};  // by start, disjoint
  };

  void FindNext();

  std::vector<Dump> dumps_;
  uint64_t next_ = kNever;
};

}  // namespace profiler::profile
