#include "symbolize/unwind/arch/register_names.h"

namespace profiler::symbolize {

const RegisterNames* RegisterNamesOf(std::string_view machine) {
#define PROFILER_ENTRY(name) &k##name##RegisterNames,
  for (const RegisterNames* const names : {PROFILER_ARCHITECTURES(PROFILER_ENTRY)}) {
    if (names->belongs_to(machine)) return names;
  }
#undef PROFILER_ENTRY
  return nullptr;
}

}  // namespace profiler::symbolize
