// Facts in, names out: the one place that knows what the options of naming mean.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Not thread-safe. The names that it makes live as long as this, the others as long as the source
// of the facts. Each distinct name is demangled once.
class Presenter {
 public:
  explicit Presenter(const PresentOptions& options) : options_(options) {}

  // `kind` is that of the image. The functions live until the next call.
  Naming Present(const AddressFacts& facts, ImageKind kind);

 private:
  void AddFunctions(const AddressFacts& facts, const AddressFacts::Function& function,
                    ImageKind kind);
  std::string_view Demangled(std::string_view name);

  const PresentOptions options_;
  std::vector<NamedFunction> functions_;
  // By where the source has the name: each source has a name in one place.
  absl::flat_hash_map<const char*, std::string_view> demangled_;
  std::deque<std::string> made_names_;  // never moves a string
};

}  // namespace profiler::symbolize
