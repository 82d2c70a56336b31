#include "src/report/chains.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/report/text.h"

namespace profiler::report {
namespace {

struct Remedy {
  std::string_view reason;  // as the unwinder calls it
  std::string_view text;
};
constexpr std::array<Remedy, 10> kRemedies = {{
    {"stack too short", "copy more of the stack: --call-graph dwarf,65528"},
    {"stack copied short",
     "its memory ended there, or the record was full: asking for more does not help"},
    {"no call frame information",
     "install its debug symbols; for JIT code, let it keep frame pointers"},
    {"no image", "code outside of all files (JIT): let it keep frame pointers"},
    {"bad register", "install its debug symbols, or try --call-graph fp"},
    {"no progress", "its call frame information is wrong: try --call-graph fp"},
    {"bad return address",
     "its call frame information is wrong, or it has a stack of its own: try --call-graph fp"},
    {"stack switch",
     "its caller is on another stack, of which nothing was left when it was read afterwards"},
    {"file changed",
     "it was overwritten while it was recorded: let builds replace it (write anew, then rename)"},
    {"too deep", "8000 entries are all that a record holds: the inner ones are there"},
}};

constexpr std::string_view kWithoutStack = " more had no user stack (exec or exit)";

std::string_view RemedyFor(std::string_view reason) {
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [reason](const Remedy& r) { return r.reason == reason; });
  return found == kRemedies.end() ? std::string_view() : found->text;
}

// Of the kernel's chains; empty where there are none.
std::string KernelChainsLine(const ChainQuality& chains) {
  if (chains.by_kernel == 0) return {};
  return absl::StrFormat(
      "# Chains by frame pointers: %.2f%% of %d are broken (a caller is in no mapping)\n",
      Percent(chains.broken, chains.by_kernel), chains.by_kernel);
}

// Of those that were unwound; empty where there are none.
std::string UnwoundChainsLine(const ChainQuality& chains) {
  if (chains.chains() == 0 && chains.no_stack == 0) return {};
  if (chains.chains() == 0) {
    return absl::StrCat("# Call chains: none; ", chains.no_stack, View(kWithoutStack), "\n");
  }
  std::string line = absl::StrFormat("# Call chains: %.2f%% of %d are whole",
                                     Percent(chains.whole(), chains.chains()), chains.chains());
  std::string_view before = " (";
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count == 0) return;
    absl::StrAppend(&line, View(before), count, " ", View(what));
    before = ", ";
  };
  add(chains.joined, "joined");
  add(chains.late_read, "read late");
  add(chains.guessed, "guessed");
  if (before == ", ") line += ')';
  if (chains.cut() > 0) absl::StrAppend(&line, ", ", chains.cut(), " cut");
  if (chains.no_stack > 0) {
    absl::StrAppend(&line, "; ", chains.no_stack, View(kWithoutStack));
  }
  return line + "\n";
}

}  // namespace

std::string ChainsLine(const ChainQuality& chains) {
  return UnwoundChainsLine(chains) + (chains.broken == 0 ? "" : KernelChainsLine(chains));
}

std::string FormatChains(const ChainQuality& chains) {
  if (chains.chains() == 0) {
    return KernelChainsLine(chains) +
           "# No call chains were unwound: record with --call-graph dwarf.\n";
  }
  std::string text = UnwoundChainsLine(chains) + KernelChainsLine(chains);
  const auto row = [&](uint64_t count, std::string_view what) {
    absl::StrAppendFormat(&text, "%10d  %6.2f%%  %s\n", count, Percent(count, chains.chains()),
                          std::string(what));
  };
  text += "#\n#   Chains    Share\n# ........  .......\n#\n";
  row(chains.complete, "whole, by call frame information");
  row(chains.joined, "whole, joined with an earlier chain of the thread");
  row(chains.late_read, "whole, the outer part read from the process afterwards");
  row(chains.guessed, "whole, with frames guessed by frame pointers or the code at hand");
  if (chains.no_stack > 0) {
    absl::StrAppendFormat(&text, "%10d        -  not counted: no user stack, in exec or exit\n",
                          chains.no_stack);
  }
  for (const ChainQuality::Cut& cut : chains.cuts) {
    std::string what = absl::StrCat("cut: ", cut.reason);
    if (!cut.image.empty()) {
      what += " in ";
      AppendPrintable(cut.image, what);
    }
    row(cut.chains, what);
    if (const std::string_view remedy = RemedyFor(cut.reason); !remedy.empty()) {
      absl::StrAppend(&text, "                       ", View(remedy), "\n");
    }
  }
  return text;
}

}  // namespace profiler::report
