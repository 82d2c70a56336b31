// Looks for an image's files where names would be looked for.
//
// Private to this package.

#pragma once

#include <optional>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// As FactSource::MissingFilesOf, for a source with `options`.
std::optional<MissingFiles> MissingFilesOf(const ImageSpec& spec, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
