#include "src/views/report/chains.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/profile/chain_shares.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {
namespace {

using profile::Profile;

// Remedies for stacks of which the kernel copied too little (record/stacks).
constexpr std::string_view kCopyMore =
    "copy more of the stack: --call-graph dwarf,65528; as root, or with CAP_BPF and CAP_PERFMON, "
    "record reads up to 2 MiB";
constexpr std::string_view kReadMore =
    "no larger copy helps; as root, or with CAP_BPF and CAP_PERFMON, record reads up to 2 MiB";

struct Remedy {
  std::string_view reason;  // the reason as the unwinder's text names it
  std::string_view text;
};
constexpr std::array<Remedy, 10> kRemedies = {{
    {"stack too short", kCopyMore},
    {"stack copied short", kReadMore},
    {"no call frame information",
     "install its debug symbols; for JIT code, let it keep frame pointers"},
    {"no image", "code outside of all files (JIT): let it keep frame pointers"},
    {"bad register", "install its debug symbols, or try --call-graph fp"},
    {"no progress", "its call frame information is wrong: try --call-graph fp"},
    {"bad return address",
     "its call frame information is wrong, or it has a stack of its own: try --call-graph fp"},
    {"stack switch", "its caller is on another stack, and a sample copies only one"},
    {"file changed",
     "it was overwritten while it was recorded: let builds replace it (write anew, then rename)"},
    {"too deep", "a record holds at most 8000 frames: callers of these are missing"},
}};

constexpr std::string_view kWithoutStack = " more had no user stack (exec or exit)";

// Largest stack copy of the kernel: the size is a u16 and a multiple of 8.
constexpr uint64_t kMostStack = 65528;

std::string_view RemedyFor(std::string_view reason, uint64_t copied_stack) {
  if (reason == "stack too short" && copied_stack >= kMostStack) return kReadMore;
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [reason](const Remedy& r) { return r.reason == reason; });
  return found == kRemedies.end() ? std::string_view() : found->text;
}

// Returns the line of the kernel's chains; empty if there are none.
std::string KernelChainsLine(const ChainQuality& chains) {
  if (chains.by_kernel == 0) return {};
  return absl::StrFormat(
      "# Chains by frame pointers: %.2f%% of %d are broken (a caller is in no mapping)\n",
      Percent(chains.broken, chains.by_kernel), chains.by_kernel);
}

// Returns "99.71% of 51952 are whole by weight", or with several events "99.71% of cpu-clock and …
// are whole by weight; 51952 chains". "By weight" is missing if the recording does not mark cut
// chains.
std::string WholePart(const Profile& profile, const std::vector<profile::ChainShares>& shares) {
  const ChainQuality& chains = profile.chains;
  if (shares.size() < 2) {
    const double percent =
        shares.empty() ? Percent(chains.whole(), chains.chains()) : 100 * shares[0].whole_part();
    return absl::StrFormat("%.2f%% of %d are whole%s", percent, chains.chains(),
                           shares.empty() ? "" : " by weight");
  }
  std::string text;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (i > 0) text += i + 1 == shares.size() ? " and " : ", ";
    absl::StrAppendFormat(&text, "%.2f%% of ", 100 * shares[i].whole_part());
    AppendPrintable(profile.text(profile[shares[i].event].name), text);
  }
  return absl::StrCat(text, " are whole by weight; ", chains.chains(), " chains");
}

// Returns the line of the chains that were unwound; empty if there are none.
std::string UnwoundChainsLine(const Profile& profile,
                              const std::vector<profile::ChainShares>& shares) {
  const ChainQuality& chains = profile.chains;
  if (chains.chains() == 0 && chains.no_stack == 0) return {};
  if (chains.chains() == 0) {
    return absl::StrCat("# Call chains: none; ", chains.no_stack, View(kWithoutStack), "\n");
  }
  std::string line = "# Call chains: " + WholePart(profile, shares);
  std::string_view before = " (";
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count == 0) return;
    absl::StrAppend(&line, View(before), count, " ", View(what));
    before = ", ";
  };
  add(chains.late_read, "read while waiting");
  add(chains.guessed, "guessed");
  if (before == ", ") line += ')';
  if (chains.cut() > 0) absl::StrAppend(&line, ", ", chains.cut(), " cut");
  if (chains.no_stack > 0) {
    absl::StrAppend(&line, "; ", chains.no_stack, View(kWithoutStack));
  }
  return line + "\n";
}

void AppendCut(std::string_view number, double percent, std::string_view reason,
               std::string_view image, uint64_t copied_stack, std::string& text) {
  std::string what = absl::StrCat("cut: ", View(reason));
  if (!image.empty()) {
    what += " in ";
    AppendPrintable(image, what);
  }
  absl::StrAppendFormat(&text, "%10s  %6.2f%%  %s\n", std::string(number), percent, what);
  if (const std::string_view remedy = RemedyFor(reason, copied_stack); !remedy.empty()) {
    absl::StrAppend(&text, "                       ", View(remedy), "\n");
  }
}

// Appends the cuts of one event's chains.
void AppendCutsByWeight(const Profile& profile, const profile::ChainShares& shares,
                        std::string& text) {
  if (shares.cuts.empty()) return;
  text += "#\n# By weight of ";
  AppendPrintable(profile.text(profile[shares.event].name), text);
  text += ":\n#\n";
  constexpr std::string_view kBegin = "[cut: ";
  for (const profile::ChainShares::Cut& cut : shares.cuts) {
    std::string_view reason = cut.reason;
    if (reason.starts_with(kBegin)) reason = reason.substr(kBegin.size(), reason.size() - 7);
    AppendCut("", Percent(cut.weight, shares.whole + shares.cut), reason, cut.image,
              profile.copied_stack, text);
  }
}

}  // namespace

std::string ChainsLine(const Profile& profile) {
  return UnwoundChainsLine(profile, SharesOfChains(profile)) +
         (profile.chains.broken == 0 ? "" : KernelChainsLine(profile.chains));
}

std::string FormatChains(const Profile& profile) {
  const ChainQuality& chains = profile.chains;
  if (chains.chains() == 0) {
    return KernelChainsLine(chains) +
           "# No call chains were unwound: record with --call-graph dwarf.\n";
  }
  const std::vector<profile::ChainShares> shares = SharesOfChains(profile);
  std::string text = UnwoundChainsLine(profile, shares) + KernelChainsLine(chains);
  const auto row = [&](uint64_t count, std::string_view what) {
    absl::StrAppendFormat(&text, "%10d  %6.2f%%  %s\n", count, Percent(count, chains.chains()),
                          std::string(what));
  };
  text += "#\n#   Chains    Share\n# ........  .......\n#\n";
  row(chains.complete, "whole, by call frame information");
  row(chains.late_read, "whole, read from a thread that waited");
  row(chains.guessed, "whole, with frames guessed from frame pointers or from the code");
  if (chains.no_stack > 0) {
    absl::StrAppendFormat(&text, "%10d        -  not counted: no user stack, in exec or exit\n",
                          chains.no_stack);
  }
  if (!shares.empty()) {
    row(chains.cut(), "cut");
    for (const profile::ChainShares& event : shares) AppendCutsByWeight(profile, event, text);
    return text;
  }
  for (const ChainQuality::Cut& cut : chains.cuts) {
    AppendCut(absl::StrCat(cut.chains), Percent(cut.chains, chains.chains()), cut.reason, cut.image,
              profile.copied_stack, text);
  }
  return text;
}

}  // namespace profiler::report
