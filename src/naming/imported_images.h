// Files for the images of an imported recording.

#pragma once

#include <memory>

#include "symbolize/address_facts.h"

namespace profiler::naming {

// What `files` know of images that have a build-id, and of no others. A profile that another
// program wrote may name /usr/bin/python3 of any machine, and its addresses may be made up: the
// file that this machine has under that name says nothing of it.
std::unique_ptr<symbolize::FactSource> OnlyFilesWithBuildId(
    std::unique_ptr<symbolize::FactSource> files);

}  // namespace profiler::naming
