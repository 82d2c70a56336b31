// Finds source lines and inlined calls for addresses of one image, in its DWARF debug information
// (versions 2 to 5).
//
//   address → unit      found in the address ranges of the units' root entries
//           → scopes    the function and the calls inlined there, found in an index of the unit
//           → line      found in the rows of the unit's line table
//
// libdw reads the format, one unit at a time. The first look-up in a unit walks over the unit's
// entries, and makes its index and its line table. Function names are not copied.

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
  bool inlined = false;       // true if the function is inlined into the next frame's function
  ElfAddress start;           // start of the function's first range
  uint64_t size = 0;
};

struct DebugInfoFiles {
  const ElfImage* image = nullptr;  // the file that ran
  std::string image_path;
  const ElfImage* debug = nullptr;  // the file with debug information; may be `image`
  std::string debug_path;
  // Root directory of the process that has these files (src/base/regular_file.h); empty: the root
  // directory of this process. If the debug information lies below `root`, the files that it names
  // are also looked for below `root`.
  std::string root;
  // True to open files named by the debug information, and files beside `image` and `debug`. Set it
  // only if root or the effective user owns both files, because debug information of other users
  // could name any file. A file opened this way must also belong to root or the effective user.
  bool follow_names = false;
  std::vector<std::string> debug_directories;   // searched for the build-id of an alternate file
  std::shared_ptr<const FetchedFiles> fetched;  // searched for an alternate file; may be null
  bool lines = true;                            // false: frames get no source file and line
};

// Returns the build-id of the alternate file of `files.debug` if the alternate file is missing.
// Empty if it is present, or if `files.debug` needs none.
std::vector<std::byte> MissingAlternate(const DebugInfoFiles& files);

// Debug information of one image. Not thread-safe.
class DebugInfo {
 public:
  // Opens the debug information; null if `files.debug` has none. Both images must outlive the
  // result. Decompresses sections; everything else is read by look-ups.
  static std::unique_ptr<DebugInfo> Open(const DebugInfoFiles& files);
  virtual ~DebugInfo() = default;

  // Returns the functions at an address, innermost first. The last function contains the code; all
  // others are inlined. The first frame has the line of the instruction; each other frame has the
  // line of its call of the previous frame's function. Empty if there is no debug information for
  // the address. A frame without a function name belongs to code that has only lines (assembler).
  //
  // The span is valid until the next call. Its string views are valid as long as this object. Cost:
  // less than 1 µs. Some look-ups cost more: the first look-up reads the list of units; the first
  // look-up in a unit reads the unit's functions and lines; the first look-up in a function reads
  // the function's inlined calls.
  virtual std::span<const SourceFrame> Find(ElfAddress address) = 0;

  // Returns true if functions and inlined calls were skipped because the debug information has far
  // more attributes than compilers write for its size.
  virtual bool is_cut() const = 0;
};

}  // namespace profiler::symbolize::dwarf
