// Finds source lines and inlined calls for addresses of one image, in its DWARF debug information
// (versions 2 to 5).
//
//   address → unit      by the address ranges of the unit's root entry
//           → scopes    the function and the calls inlined there, from an index of that unit
//           → line      a row of that unit's line table
//
// libdw reads the format, one unit at a time. The first look-up in a unit walks over its entries
// and makes index and table. Function names are not copied.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/fetched_files.h"

namespace profiler::symbolize::dwarf {

// One function at an address.
struct SourceFrame {
  std::string_view function;  // linkage name, else source name; empty: unknown
  std::string_view file;      // empty: unknown
  uint32_t line = 0;          // 0: unknown
  uint32_t column = 0;        // 0: unknown
  bool inlined = false;       // true if inlined into the next frame
  ElfAddress start;           // start of the function's first range
  uint64_t size = 0;
};

struct DebugInfoFiles {
  const ElfImage* image = nullptr;  // the file that ran
  std::string image_path;
  const ElfImage* debug = nullptr;  // the file with debug information; may be `image`
  std::string debug_path;
  // Root directory of the process that has these files (src/base/regular_file.h); empty: ours. If
  // the debug information lies below this root, the files that it names are looked for there too.
  std::string root;
  // True to open files named by the debug information, and files beside `image` and `debug`. Set it
  // only if root or the effective user owns both files, because debug information of other users
  // could name any file. A file opened this way must also belong to root or the effective user.
  bool follow_names = false;
  std::vector<std::string> debug_directories;   // for alternate files, by build-id
  std::shared_ptr<const FetchedFiles> fetched;  // for alternate files; may be null
  bool lines = true;                            // false: no files and lines
};

// Returns the build-id of the alternate file of `files.debug` if that file is missing. Empty if it
// is present or if `files.debug` needs none.
std::vector<std::byte> MissingAlternate(const DebugInfoFiles& files);

// Debug information of one image. Not thread-safe.
class DebugInfo {
 public:
  // Opens the debug information; null if `files.debug` has none. Both images must outlive this
  // object. Decompresses sections, reads nothing else yet.
  static std::unique_ptr<DebugInfo> Open(const DebugInfoFiles& files);
  virtual ~DebugInfo() = default;

  // Returns the functions at an address, innermost first; the last one contains the code. The line
  // of the first frame is that of the instruction; each other frame has the line of its call to the
  // previous one. Empty if there is no debug information for the address. A frame without a
  // function name belongs to code that has only lines (assembler).
  //
  // The span is valid until the next call, its views as long as this object. Cost: less than 1 µs.
  // Some look-ups cost more: the first of all reads the list of units; the first in a unit reads
  // the unit's functions and lines; the first in a function reads the function's inlined calls.
  virtual std::span<const SourceFrame> Find(ElfAddress address) = 0;

  // Returns true if functions and inlined calls were skipped because the debug information has far
  // more attributes than compilers write for its size.
  virtual bool is_cut() const = 0;
};

}  // namespace profiler::symbolize::dwarf
