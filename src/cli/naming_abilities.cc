#include "src/cli/naming_abilities.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/shown_url.h"

namespace profiler::cli {

using record::Ability;

std::vector<Ability> NamingAbilities(const naming::NamingHere& here) {
  Ability sandbox{"sandbox", here.confinement.ok(), ""};
  if (!sandbox.works) {
    sandbox.text =
        absl::StrCat(here.confinement.message(),
                     ": without a sandbox, names are read from files only with --no-sandbox");
  } else if (!here.has_landlock) {
    sandbox.text = "only by a seccomp filter, because the kernel has no Landlock";
  }
  Ability fetching{"debuginfod", false, std::string(here.fetching.message())};
  if (here.servers.empty()) {
    fetching.text = "$DEBUGINFOD_URLS names no server";
  } else if (here.fetching.ok()) {
    std::vector<std::string> shown;
    for (const absl::string_view server : absl::StrSplit(here.servers, ' ', absl::SkipEmpty())) {
      shown.push_back(ShownUrl({server.data(), server.size()}));
    }
    fetching = {"debuginfod", true, absl::StrJoin(shown, " ")};
  }
  return {sandbox, fetching};
}

}  // namespace profiler::cli
