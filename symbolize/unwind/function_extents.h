// Where the functions of an image start and end by its call frame information (.eh_frame,
// .debug_frame): all that is known of a function whose symbol was stripped.
//
// Private to this package.

#pragma once

#include <memory>
#include <optional>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::symbolize {

// Reads nothing until it is first asked. Not thread-safe.
class FunctionExtents {
 public:
  FunctionExtents() = default;
  // `debug` may be the image's separate debug file, or the image. Both must outlive this.
  FunctionExtents(const ElfImage* image, const ElfImage* debug) : image_(image), debug_(debug) {}

  // The function that has the code at `address`; empty where that is not known.
  std::optional<FunctionExtent> Find(ElfAddress address);

  // Whether a function that starts at `start` may reach as far as `address`, which is not before
  // it: not beyond its section, and not where another function is known to be.
  bool MayBeOne(ElfAddress start, ElfAddress address);

 private:
  const ElfImage* image_ = nullptr;
  const ElfImage* debug_ = nullptr;
  bool read_ = false;
  std::unique_ptr<CfiTable> table_;  // null: none, or not read
};

}  // namespace profiler::symbolize
