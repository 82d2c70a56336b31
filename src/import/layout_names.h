// The names of a profile as facts about the places where its code lies in a written recording.

#pragma once

#include "src/import/code_layout.h"
#include "src/profile/profile.h"
#include "symbolize/names/name_facts.h"

namespace profiler::import {

// Of every frame that is in an image.
symbolize::NameFacts NamesOf(const profile::Profile& profile, const CodeLayout& layout);

}  // namespace profiler::import
