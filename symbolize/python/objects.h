// Reads Python objects of another process: texts, bytes, the name of a module. The process is not
// trusted, and may have freed the object: its type is checked first, and all reads are bounded.
//
//   text    │ header, type str │ number of characters │ state │ characters of 1, 2 or 4 bytes
//   bytes   │ header, type bytes │ size │ contents
//   module  │ dictionary ──▶ keys │ … │ hash table │ entries: "__name__", its value │ …
//
// Source: Include/cpython/unicodeobject.h, Objects/dictobject.c, CPython 3.8 to 3.14.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/process_memory.h"
#include "symbolize/python/code_layout.h"

namespace profiler::symbolize::python {

// Addresses of types; 0: unknown. Types of built-in objects live as long as the interpreter.
struct KnownTypes {
  uint64_t code = 0, text = 0, bytes = 0, dictionary = 0;
};

// The objects of one process. Not thread-safe.
class Objects {
 public:
  // `memory` must outlive this object.
  Objects(ProcessMemory& memory, const Layout& layout, const KnownTypes& types)
      : memory_(memory), layout_(layout), types_(types) {}

  ProcessMemory& memory() { return memory_; }
  const Layout& layout() const { return layout_; }
  const KnownTypes& types() const { return types_; }

  bool IsCode(uint64_t object) { return IsOfType(object, types_.code, "code"); }
  // Returns the text in UTF-8, at most `most` characters, with control characters replaced. A
  // longer text ends with "…". Empty if the object is no text.
  std::optional<std::string> Text(uint64_t object, size_t most);
  // Returns the contents of a bytes object. Empty if it is none, or has more than `most` bytes.
  std::optional<std::vector<std::byte>> Bytes(uint64_t object, size_t most);
  // Returns the size of a bytes object; empty if it is none.
  std::optional<uint64_t> BytesSize(uint64_t object);
  // Returns the value of __name__ in the dictionary of a module; empty: there is none.
  std::optional<std::string> ModuleName(uint64_t dictionary);

 private:
  bool IsOfType(uint64_t object, uint64_t& known, std::string_view name);

  ProcessMemory& memory_;
  const Layout& layout_;
  KnownTypes types_;
};

}  // namespace profiler::symbolize::python
