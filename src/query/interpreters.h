// Programs that run programs of another language, known by the names of their files, as
// distributions and their own builds call them:
//
//   node, libnode.so.108          Node.js             java, libjvm.so      Java
//   python3.12, libpython3.12.so  Python              ruby, libruby.so     Ruby
//   php8.2, libphp.so             PHP                 luajit, libluajit-5.1.so.2
//   dotnet, libcoreclr.so         .NET                beam.smp             Erlang
//
// A file of another name is none, whatever is in it.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::query {

// The name without "lib", version and ending of a file of that base name (profile::Dso::name) if it
// is an interpreter or virtual machine, or the library that has all of one: "python", "jvm". Else
// empty. Constant in cost.
std::string_view InterpreterOf(std::string_view base_name);
inline bool IsInterpreter(std::string_view base_name) { return !InterpreterOf(base_name).empty(); }

// Of "python3.12" and "libpython3.12.so.1.0", which both are 3.12: the 12. Nothing of other files,
// and of Pythons whose file does not say which of 3 it is.
std::optional<uint32_t> MinorOfPython3(std::string_view base_name);

}  // namespace profiler::query
