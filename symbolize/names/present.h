// Turns facts into names. Only this code implements the naming options.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// A converter from facts to names. Names that the converter makes live as long as this object;
// other names live as long as the source of the facts. Demangles each distinct name once. Not
// thread-safe.
class NameFormatter {
 public:
  explicit NameFormatter(const PresentOptions& options) : options_(options) {}

  // Returns the naming of an address in an image of kind `kind`. `functions` is valid until the
  // next call.
  Naming Present(const AddressFacts& facts, ImageKind kind);

 private:
  void AddFunctions(const AddressFacts& facts, const AddressFacts::Function& function,
                    ImageKind kind);
  std::string_view Demangled(std::string_view name);

  const PresentOptions options_;
  std::vector<NamedFunction> functions_;
  // Demangled names. The key is the address of the mangled name, of which a source has one copy.
  absl::flat_hash_map<const char*, std::string_view> demangled_;
  std::deque<std::string> made_names_;  // never moves a string
};

}  // namespace profiler::symbolize
