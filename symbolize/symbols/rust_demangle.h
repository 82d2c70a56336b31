// Demangles Rust's names: the legacy form, which is a C++ name with a hash in it, and v0.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profiler::symbolize {

// Returns the demangled name; empty if it is no Rust name. The hash of a legacy name, which
// distinguishes it from a C++ name, is removed. LLVM's suffix (`.llvm.1234`) is removed too, other
// suffixes are kept.
//
// Sources: rustc `compiler/rustc_symbol_mangling/src/legacy.rs`, RFC 2603.
std::optional<std::string> DemangleRust(std::string_view name);

}  // namespace profiler::symbolize
