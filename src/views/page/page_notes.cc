#include "src/views/page/page_notes.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/profile/chain_shares.h"
#include "src/profile/losses_text.h"
#include "src/views/flamegraph/xml_text.h"

namespace profiler::page {
namespace {

void AddSide(const profile::Profile& profile, const std::string& begin,
             std::vector<std::string>& notes) {
  const std::string losses = profile::LossesText(profile.losses);
  notes.push_back(begin + (losses.empty() ? "nothing was lost" : losses));
  const std::vector<profile::ChainShares> shares = profile::SharesOfChains(profile);
  for (const profile::ChainShares& event : shares) {
    if (event.cut == 0) continue;
    notes.push_back(absl::StrCat(begin,
                                 absl::StrFormat("%.2f %% of ", 100 * (1 - event.whole_part())),
                                 exports::CleanUtf8(profile.text(profile[event.event].name)),
                                 " is in call chains that are cut"));
  }
  if (const uint64_t cut = profile.chains.cut(); cut != 0 && shares.empty()) {
    notes.push_back(absl::StrCat(begin, cut, " call chains are cut"));
  }
  if (const uint64_t broken = profile.chains.broken; broken != 0) {
    notes.push_back(absl::StrCat(begin, broken, " of ", profile.chains.by_kernel,
                                 " call chains that the kernel made are broken: a caller is in no "
                                 "mapping"));
  }
  for (const std::string& warning : profile.losses.warnings) {
    notes.push_back(begin + exports::CleanUtf8(warning));
  }
}

}  // namespace

std::vector<std::string> NotesOf(std::span<const Side> sides, const Bounds& bounds,
                                 const Bounded& bounded) {
  std::vector<std::string> notes;
  for (const Side& side : sides) {
    AddSide(*side.profile, sides.size() == 1 ? std::string() : exports::CleanUtf8(side.name) + ": ",
            notes);
  }
  if (bounded.folded_samples != 0) {
    notes.push_back(
        absl::StrFormat("%u samples are in paths with less than %g %% of all: these are shown as "
                        "one callee, %s, of "
                        "each caller, to keep this page small",
                        bounded.folded_samples, 100 * bounds.least_share, kLighter));
  }
  if (bounded.merged_threads != 0) {
    notes.push_back(
        absl::StrCat(bounded.merged_threads, " threads with few samples are merged, by name"));
  }
  if (bounds.slice_divisor != 1) {
    notes.push_back(absl::StrCat("slices of time are ", bounds.slice_divisor,
                                 " times as long as in the recording, to "
                                 "keep this page small"));
  }
  return notes;
}

}  // namespace profiler::page
