// Names code of libraries for profiles that have only addresses, as samply saves them
// (samply load looks the names up when it shows one).
//
//   address in a library ─▶ FILE.syms.json beside the profile      a name
//                        └▶ the library itself, by its build-id    where the address is in the
//                        file,
//                           from which whoever reads the profile takes the name
//
// Addresses count from where the library's first segment begins.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/import/json_tree.h"
#include "symbolize/image_file.h"

namespace profiler::import {

// "profile.json.syms.json" for "profile.json" and "profile.json.gz".
std::string SymbolFileOf(std::string_view profile);

// Not thread-safe.
class LibraryCode {
 public:
  // `symbols` is the text of a symbol file, empty where there is none; one that is damaged is none.
  explicit LibraryCode(std::string_view symbols);

  // `code_id`: the build-id in hexadecimal. Empty: nothing is known.
  std::string_view NameAt(std::string_view code_id, uint64_t address);
  // Where the address is in the file at `path`, or one elsewhere that has the build-id.
  std::optional<uint64_t> FileOffsetOf(std::string_view path, std::string_view code_id,
                                       uint64_t address);

 private:
  struct Symbol {
    uint64_t size = 0;
    std::string_view name;
  };
  using Symbols = std::map<uint64_t, Symbol>;  // by start

  std::optional<JsonTree> tree_;
  std::map<std::string, Symbols, std::less<>> symbols_;                            // by build-id
  std::map<std::string, std::optional<symbolize::ImageFile>, std::less<>> files_;  // likewise
};

// The bytes of a build-id; empty for what is no hexadecimal number of whole bytes.
std::vector<std::byte> BuildIdOfText(std::string_view hexadecimal);

}  // namespace profiler::import
