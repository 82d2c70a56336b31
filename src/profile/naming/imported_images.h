// Restricts files for an imported recording to images with a build-id.

#pragma once

#include <memory>

#include "symbolize/address_facts.h"

namespace profiler::naming {

// Returns a source with the facts of `files` only for images with a build-id. A profile of another
// program may name /usr/bin/python3 of any machine, and its addresses may be invented, so this
// machine's file of that name proves nothing.
std::unique_ptr<symbolize::FactSource> OnlyFilesWithBuildId(
    std::unique_ptr<symbolize::FactSource> files);

}  // namespace profiler::naming
