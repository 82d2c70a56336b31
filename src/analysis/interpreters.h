// Recognises interpreters and virtual machines by the names that distributions and upstream builds
// give to their files:
//
//   node, libnode.so.108          Node.js             java, libjvm.so      Java
//   python3.12, libpython3.12.so  Python              ruby, libruby.so     Ruby
//   php8.2, libphp.so             PHP                 luajit, libluajit-5.1.so.2
//   dotnet, libcoreclr.so         .NET                beam.smp             Erlang
//   perl, libperl.so              Perl                lua5.4, liblua5.4.so Lua
//
// A file with another name is not recognised, whatever it contains.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::analysis {

// Returns the name without "lib", version and ending ("python", "jvm") if a file with this base
// name (profile::Image::name) is an interpreter, a virtual machine, or the library of one. Returns
// "" for other files. Constant cost.
std::string_view InterpreterOf(std::string_view base_name);
inline bool IsInterpreter(std::string_view base_name) { return !InterpreterOf(base_name).empty(); }

// Base name of the image in which our recorder puts the functions of Python that it has found.
inline constexpr std::string_view kPythonFunctions = "[python]";

// Returns the minor version of Python 3: 12 for "python3.12" and "libpython3.12.so.1.0". Returns
// nothing for other files, and for names without a minor version.
std::optional<uint32_t> MinorOfPython3(std::string_view base_name);

}  // namespace profiler::analysis
