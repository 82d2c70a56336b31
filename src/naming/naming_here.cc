#include "src/naming/naming_here.h"

#include <cstdlib>

#include "symbolize/confined/confinement.h"
#include "symbolize/files/debug_file_source.h"

namespace profiler::naming {

NamingHere TryNaming() {
  NamingHere here{.confinement = symbolize::TryConfinement(),
                  .has_landlock = symbolize::HasLandlock(),
                  .servers = {},
                  .fetching = {}};
  if (const char* const urls = std::getenv("DEBUGINFOD_URLS")) here.servers = urls;
  if (!here.servers.empty()) here.fetching = symbolize::CreateDebuginfodSource().status();
  return here;
}

}  // namespace profiler::naming
