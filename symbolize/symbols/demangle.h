// Demangles names into readable form.

#pragma once

#include <string>
#include <string_view>

namespace profiler::symbolize {

// Returns the source form of a mangled name; other names are returned unchanged:
//
//   C++ (Itanium)  _Z3fooi, _Z3fooi.isra.0      foo(int), foo(int) [clone .isra.0]
//   Rust, legacy   _ZN3foo3bar17h<16 hex>E      foo::bar      (without the hash)
//   Rust, v0       _RNvC6_123foo3bar            123foo::bar
//
// Names of other languages are readable already. C++ names look as GCC writes them
// (`{lambda(int)#1}`, `> >`), with parameters, as in perf, gdb and addr2line. Never fails: names
// that are too long or too deeply nested are returned unchanged. Cost: about 0.5 µs per name.
// Thread-safe.
std::string Demangle(std::string_view name);

}  // namespace profiler::symbolize
