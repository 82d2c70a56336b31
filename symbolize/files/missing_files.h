// Finds out which files of an image are missing.
//
// Private to this package.

#pragma once

#include <optional>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Returns the missing files, like FactSource::MissingFilesOf of a source with `options`.
std::optional<MissingFiles> MissingFilesOf(const ImageSpec& spec, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
