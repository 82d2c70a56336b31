// Converts the names of a profile into facts about the places of its code in a written recording.

#pragma once

#include "src/importers/code_layout.h"
#include "src/profile/profile.h"
#include "symbolize/names/name_facts.h"

namespace profiler::importers {

// Returns the names of all frames that are in an image.
symbolize::NameFacts NamesOf(const profile::Profile& profile, const CodeLayout& layout);

}  // namespace profiler::importers
