// Names code of libraries for profiles that have only addresses. samply saves such profiles, and
// `samply load` looks up the names when it shows a profile.
//
//   address in a library ─▶ FILE.syms.json beside the profile      a name
//                        └▶ the library itself, by its build-id    the file offset of the address,
//                                                                  from which readers of the
//                                                                  profile look up the name
//
// Addresses count from the beginning of the library's first segment.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/json_tree.h"
#include "symbolize/image_file.h"

namespace profiler::importers {

// Returns "profile.json.syms.json" for "profile.json" and "profile.json.gz".
std::string SymbolFileOf(std::string_view profile);

// The code of libraries. Not thread-safe.
class LibraryCode {
 public:
  // `symbols` is the text of a symbol file; empty if there is none. A damaged symbol file is
  // ignored.
  explicit LibraryCode(std::string_view symbols);

  // Returns the name of the code at an address; empty: unknown. `code_id` is the library's build-id
  // in hexadecimal.
  std::string_view NameAt(std::string_view code_id, uint64_t address);
  // Returns the file offset of the address in the file at `path`, or in another file with the same
  // build-id.
  std::optional<uint64_t> FileOffsetOf(std::string_view path, std::string_view code_id,
                                       uint64_t address);

 private:
  struct Symbol {
    uint64_t size = 0;
    std::string_view name;
  };
  using Symbols = std::map<uint64_t, Symbol>;  // keyed by the start address

  std::optional<JsonTree> tree_;
  // Both are keyed by build-id.
  std::map<std::string, Symbols, std::less<>> symbols_;
  std::map<std::string, std::optional<symbolize::ImageFile>, std::less<>> files_;
};

// Returns the bytes of a build-id; empty if the text is not a hexadecimal number of whole bytes.
std::vector<std::byte> BuildIdOfText(std::string_view hexadecimal);

}  // namespace profiler::importers
