// Lines and inlined calls of one ELF file, from its debug information.
//
// Private to this package.

#pragma once

#include <memory>
#include <span>
#include <string>

#include "symbolize/dwarf/debug_info.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {

class DebugLines {
 public:
  explicit DebugLines(FactsContext& context) : context_(context) {}

  // Opens the debug information in `debug`, which is `image` or its debug file. Both must outlive
  // this object. `shown_path` is the path in warnings.
  void Open(const ImageFile& image, const ImageFile& debug, const std::string& shown_path);
  bool is_open() const { return info_ != nullptr; }

  // Returns the functions at `address`, innermost first; empty if there is no information.
  std::span<const dwarf::SourceFrame> Find(ElfAddress address);
  // Adds lines and inlined calls to `facts`. The last frame is the function itself.
  void AddFrames(std::span<const dwarf::SourceFrame> frames, AddressFacts& facts) const;

 private:
  FactsContext& context_;
  std::unique_ptr<dwarf::DebugInfo> info_;  // null: the image has none
  std::string shown_path_;
  bool is_cut_told_ = false;  // true after the warning that the information was not read completely
};

}  // namespace profiler::symbolize
