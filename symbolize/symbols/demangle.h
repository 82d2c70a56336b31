// Names as a person reads them.

#pragma once

#include <string>
#include <string_view>

namespace profiler::symbolize {

// The source form of a mangled name, or `name` itself where it is none:
//
//   C++ (Itanium)  _Z3fooi, _Z3fooi.isra.0      foo(int), foo(int) [clone .isra.0]
//   Rust, legacy   _ZN3foo3bar17h<16 hex>E      foo::bar      (the hash is cut off)
//   Rust, v0       _RNvC6_123foo3bar            123foo::bar
//
// The names of other languages are readable as they are, more or less. C++ is written as GCC writes
// it (`{lambda(int)#1}`, `> >`), parameters included, as perf, gdb and addr2line show it. Cost:
// about half a microsecond a name. Thread-safe. Never fails: names too long or too deep are given
// back as they are.
std::string Demangle(std::string_view name);

}  // namespace profiler::symbolize
