// Options and the storage of answers, which the sources of facts of all kinds of images share.
//
// Private to this package.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

struct FactsContext {
  const SymbolizerOptions options;
  std::vector<std::string> warnings;           // for ImageContents::TakeWarnings
  std::deque<std::string> names;               // names that are in no file; never moves a string
  std::vector<AddressFacts::Inlined> inlined;  // inlined calls of the last answer
};

// Returns the answer for an address without a name.
inline AddressFacts Unnamed(Reason reason) {
  AddressFacts facts;
  facts.reason = reason;
  return facts;
}

// Returns the answer for an address in `function`.
inline AddressFacts Named(const AddressFacts::Function& function, ElfAddress address) {
  AddressFacts facts;
  facts.reason = Reason::kNamed;
  facts.address = address;
  facts.function = function;
  return facts;
}

}  // namespace profiler::symbolize
