// Rust's mangled names: the legacy form, which is a C++ name with a hash in it, and v0.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profiler::symbolize {

// Empty for what is no Rust name. Of a legacy name the hash is cut off, which is what tells it from
// a C++ one. A suffix that LLVM added (`.llvm.1234`) is dropped, any other one kept.
//
// Sources: rustc `compiler/rustc_symbol_mangling/src/legacy.rs`, RFC 2603.
std::optional<std::string> DemangleRust(std::string_view name);

}  // namespace profiler::symbolize
