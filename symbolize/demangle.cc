#include "symbolize/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "llvm/Demangle/Demangle.h"
#include "symbolize/rust_demangle.h"

namespace profiler::symbolize {
namespace {

// Longer ones are met in no real program, and substitutions let a short corrupt name grow without
// bounds.
constexpr size_t kLongestName = 1 << 16;

struct Free {
  void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, Free>;

Text DemangleCxx(const char* name) {
  int status = 0;
  Text text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  if (status == 0 && text != nullptr) return text;
  return Text(llvm::itaniumDemangle(name, nullptr, nullptr, &status));
}

}  // namespace

std::string Demangle(std::string_view name) {
  // What does not begin so is C; __cxa_demangle would take `f` for the type `float`.
  const bool may_be_cxx = name.starts_with("_Z") || name.starts_with("___Z");
  const bool may_be_rust = name.starts_with("_ZN") || name.starts_with("_R");
  const bool may_be_d = name.starts_with("_D");
  if (!(may_be_cxx || may_be_rust || may_be_d) || name.size() > kLongestName) {
    return std::string(name);
  }
  if (may_be_rust) {
    if (auto rust = DemangleRust(name)) return *std::move(rust);
  }
  const std::string terminated(name);
  Text text;
  if (may_be_cxx) {
    text = DemangleCxx(terminated.c_str());
  } else if (may_be_d) {
    text.reset(llvm::dlangDemangle(terminated.c_str()));
  }
  return text == nullptr ? terminated : std::string(text.get());
}

}  // namespace profiler::symbolize
