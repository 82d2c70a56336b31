#include "src/profile/naming/naming_here.h"

#include "src/profile/naming/fetch_files.h"
#include "symbolize/confined/confinement.h"
#include "symbolize/files/debug_file_source.h"

namespace profiler::naming {

NamingHere TryNaming() {
  NamingHere here{.confinement = symbolize::TryConfinement(),
                  .has_landlock = symbolize::HasLandlock(),
                  .servers = std::string(DebugServers()),
                  .fetching = {}};
  if (!here.servers.empty()) here.fetching = symbolize::CreateDebuginfodSource().status();
  return here;
}

}  // namespace profiler::naming
