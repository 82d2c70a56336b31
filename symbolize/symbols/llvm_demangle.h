// Calls LLVM's demanglers with one signature. Up to version 16 they take a C string and an optional
// buffer, from version 17 on a string view.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "llvm/Demangle/Demangle.h"

namespace profiler::symbolize {

struct Free {
  void operator()(char* text) const { std::free(text); }
};
// Result of a demangler; null if it does not know the form of the name.
using DemangledText = std::unique_ptr<char, Free>;

inline DemangledText CallDemangler(char* (*demangler)(const char*, char*, size_t*, int*),
                                   const std::string& name) {
  return DemangledText(demangler(name.c_str(), nullptr, nullptr, nullptr));
}
inline DemangledText CallDemangler(char* (*demangler)(std::string_view), const std::string& name) {
  return DemangledText(demangler(name));
}
inline DemangledText CallDemangler(char* (*demangler)(std::string_view, bool parse_parameters),
                                   const std::string& name) {
  return DemangledText(demangler(name, true));
}

}  // namespace profiler::symbolize
