#include "src/cli/views/symbols_remedy.h"

#include <algorithm>
#include <memory>
#include <string>

#include "src/machine/packages/debug_symbols.h"
#include "src/machine/procfs/build_id.h"
#include "src/profile/naming/fetch_files.h"

namespace profiler::cli {

report::SymbolsRemedy SymbolsRemedyHere() {
  const auto symbols =
      std::make_shared<packages::DebugSymbols>("", std::string(naming::DebugServers()));
  return [symbols](std::string_view path, std::span<const std::byte> build_id) {
    const procfs::BuildId here = procfs::BuildIdOfFile(std::string(path));
    const bool is_recorded = !build_id.empty() && std::ranges::equal(here, build_id);
    return is_recorded ? symbols->RemedyFor(path, true) : std::string(packages::kBuildUnstripped);
  };
}

}  // namespace profiler::cli
