// Describes how recorded code gets its names on this machine.

#pragma once

#include <vector>

#include "src/profile/naming/naming_here.h"
#include "src/record/abilities.h"

namespace profiler::cli {

// Returns the abilities that give names to recorded code.
std::vector<record::Ability> NamingAbilities(const naming::NamingHere& here);

}  // namespace profiler::cli
