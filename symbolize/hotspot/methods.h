// Java methods: their names, as HotSpot itself spells them where it names its code
// (-XX:+DumpPerfMapAtExit), their bytecodes and lines.
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

// The name that Java has for what a class file calls `descriptor` of `holder`.`name`; empty where
// that is no method's: "(ILjava/lang/String;)V" of "pkg/C"."f" is "void pkg.C.f(int,
// java.lang.String)".
std::string MethodName(std::string_view holder, std::string_view name, std::string_view descriptor);

struct Method {
  struct Line {
    uint32_t bci, line;  // from that bytecode on
  };

  uint64_t const_method = 0;
  std::string name;
  std::string file;  // of its source; empty: unknown
  uint64_t bytecodes = 0;
  std::vector<std::byte> code;  // what is there; empty of native and abstract methods
  std::vector<Line> lines;      // by bci

  // Of the bytecode; 0: unknown.
  uint32_t LineAt(uint32_t bci) const;
};

// Not thread-safe. Keeps at most kMostMethods. Classes are unloaded, and methods of others come to
// lie at the same addresses: so at each look a method is compared with what is there.
class Methods {
 public:
  static constexpr size_t kMostMethods = size_t{1} << 16;

  // All must outlive it. `live` is read anew each time, `memory` may keep what was read of it until
  // the next look.
  Methods(ProcessMemory& live, ProcessMemory& memory, const Layout& layout)
      : memory_(memory), again_(live), layout_(layout) {}

  // What was found has to be looked at again before it is believed.
  void Refresh() { ++look_; }

  // The Method at that address; null where none is. Valid until the next call. `number` is another
  // one where it is not what was there before.
  struct Known {
    Method method;
    uint64_t number = 0;
    uint64_t look = 0;
    uint64_t since = 0;  // by when it was there, as ProcessMemory::Now
    std::string print;   // as PrintOf
  };
  const Known* Find(uint64_t address);

 private:
  // Texts that name a method, and where they were found.
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
  PagedMemory again_;  // of the second reading of a method
  const Layout& layout_;
  uint64_t look_ = 1;
  uint64_t last_number_ = 0;
  absl::node_hash_map<uint64_t, Known> known_;
};

}  // namespace profiler::symbolize::hotspot
