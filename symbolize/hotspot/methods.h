// Reads the names, bytecodes and lines of Java methods. Names are spelled as in HotSpot's own perf
// map (-XX:+DumpPerfMapAtExit).
//
//   Method ──▶ ConstMethod │ fields │ bytecodes │ line table │ …
//                  └──▶ ConstantPool │ fields │ entry 0 │ entry 1 │ …    names: Symbol *
//                            └──▶ holder, a Klass ──▶ name: Symbol
//
//   int java.lang.String.indexOf(java.lang.String, int)
//
// Source: src/hotspot/share/oops/{method,constMethod,constantPool,symbol}.hpp, JDK 17 and 25.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "symbolize/hotspot/layout.h"
#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

// Returns a method's name in Java's spelling. For the holder "pkg/C", the name "f" and the
// descriptor "(ILjava/lang/String;)V", the result is "void pkg.C.f(int, java.lang.String)". Empty
// if `descriptor` does not describe a method.
std::string MethodName(std::string_view holder, std::string_view name, std::string_view descriptor);

struct Method {
  struct Line {
    uint32_t bci, line;  // the line is valid from bytecode `bci` on
  };

  uint64_t const_method = 0;
  std::string name;
  std::string file;  // source file; empty: unknown
  // Address of the bytecodes.
  uint64_t bytecodes = 0;
  std::vector<std::byte> code;  // the bytecodes; empty for native and abstract methods
  std::vector<Line> lines;      // sorted by bci

  // Returns the line of the bytecode; 0: unknown.
  uint32_t LineAt(uint32_t bci) const;
};

// The methods of one process. Keeps at most kMostMethods. When classes are unloaded, other methods
// may get the same addresses. So after Refresh, Find compares methods with memory. Not thread-safe.
class Methods {
 public:
  static constexpr size_t kMostMethods = size_t{1} << 16;

  // All arguments must outlive this object. `live` must not cache; `memory` may cache until the
  // next look.
  Methods(ProcessMemory& live, ProcessMemory& memory, const Layout& layout)
      : memory_(memory), again_(live), layout_(layout) {}

  // Makes Find compare each method with memory once more before it returns the method.
  void Refresh() { ++look_; }

  // A method that was found. `number` changes if another method replaces it.
  struct Known {
    Method method;
    uint64_t number = 0;
    uint64_t look = 0;
    uint64_t since = 0;  // a time at which the method was there already (ProcessMemory::Now)
    std::string print;   // result of PrintOf
  };
  // Returns the Method at that address; null: none. Valid until the next call.
  const Known* Find(uint64_t address);

 private:
  // The texts from which a method's name is made, and their addresses.
  struct Texts {
    uint64_t const_method = 0, pool = 0;
    uint16_t code_size = 0;
    std::string holder, name, signature, file;
  };

  std::optional<Texts> ReadTexts(ProcessMemory& memory, uint64_t address);
  static std::string PrintOf(const Texts& texts);
  std::optional<Method> Read(const Texts& texts);
  std::optional<std::string> SymbolAt(ProcessMemory& memory, uint64_t pool, uint32_t entries,
                                      uint32_t index);
  std::optional<std::string> ReadSymbol(ProcessMemory& memory, uint64_t symbol);
  void ReadLines(Method& method);

  ProcessMemory& memory_;
  PagedMemory again_;  // cache for the second reading of a method
  const Layout& layout_;
  uint64_t look_ = 1;
  uint64_t last_number_ = 0;
  absl::node_hash_map<uint64_t, Known> known_;
};

}  // namespace profiler::symbolize::hotspot
