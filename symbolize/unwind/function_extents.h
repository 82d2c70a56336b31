// Finds start and end of functions without symbols, by call frame information (.eh_frame,
// .debug_frame).
//
// Private to this package.

#pragma once

#include <memory>
#include <optional>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::symbolize {

// The functions of an image. Reads nothing until the first call. Not thread-safe.
class FunctionExtents {
 public:
  FunctionExtents() = default;
  // `debug` is the image's separate debug file or the image itself. Both must outlive this object.
  FunctionExtents(const ElfImage* image, const ElfImage* debug) : image_(image), debug_(debug) {}

  // Returns the function that contains `address`; empty: unknown.
  std::optional<FunctionExtent> Find(ElfAddress address);

  // Returns true if a function that starts at `start` may extend to `address`. That is so if both
  // are in one section and no other function is known to start in between. `address` must not be
  // less than `start`.
  bool MayBeOne(ElfAddress start, ElfAddress address);

 private:
  const ElfImage* image_ = nullptr;
  const ElfImage* debug_ = nullptr;
  bool read_ = false;
  std::unique_ptr<CfiTable> table_;  // null: not read yet, or the image has no table
};

}  // namespace profiler::symbolize
