#include "symbolize/symbols/demangle.h"

#include <cxxabi.h>

#include <optional>

#include "symbolize/symbols/llvm_demangle.h"
#include "symbolize/symbols/rust_demangle.h"

namespace profiler::symbolize {
namespace {

// Longer names are not demangled; no real program has them. Without a limit, a short corrupt name
// could expand to any size, because mangled names refer back to their own parts.
constexpr size_t kLongestName = 1 << 16;

DemangledText DemangleCxx(const std::string& name) {
  int status = 0;
  DemangledText text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  if (status == 0 && text != nullptr) return text;
  return CallDemangler(llvm::itaniumDemangle, name);
}

}  // namespace

std::string Demangle(std::string_view name) {
  // Names without this prefix are C. __cxa_demangle would read `f` as the type `float`.
  const bool may_be_cxx = name.starts_with("_Z") || name.starts_with("___Z");
  const bool may_be_rust = name.starts_with("_ZN") || name.starts_with("_R");
  if (!(may_be_cxx || may_be_rust) || name.size() > kLongestName) {
    return std::string(name);
  }
  if (may_be_rust) {
    if (auto rust = DemangleRust(name)) return *std::move(rust);
  }
  if (!may_be_cxx) return std::string(name);
  const DemangledText text = DemangleCxx(std::string(name));
  return std::string(text == nullptr ? name : std::string_view(text.get()));
}

}  // namespace profiler::symbolize
