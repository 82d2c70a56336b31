#include "src/live/chain_counts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/unwind/chain_quality.h"

namespace profiler::live {
namespace {

using profile::Frame;
using profile::FrameId;
using profile::kNoFrame;
using profile::kNoStack;
using profile::Mode;
using profile::Profile;
using profile::Row;
using profile::StackNode;

constexpr std::string_view kCutName = "[cut: ";  // how the mark of a cut is named

}  // namespace

void CountChains(Profile* profile) {
  struct Chain {
    bool has_caller = false;  // a user frame that was unwound and called another frame
    bool has_user = false;
    bool is_of_kernel = false;  // the kernel made the chain: it has return addresses
    bool is_unmapped = false;   // … and one of them is in no mapping
    FrameId cut = kNoFrame, outermost = kNoFrame;  // the mark of a cut, and the frame below it
  };
  std::vector<Chain> chains(profile->stacks.size());  // facts about the nodes up to the root
  for (size_t i = 0; i < chains.size(); ++i) {
    const StackNode& stack = profile->stacks[i];
    Chain& chain = chains[i];
    // A caller's node precedes those of its callees.
    if (stack.parent != kNoStack) {
      chain = chains[static_cast<uint32_t>(stack.parent)];
      const Frame& caller = (*profile)[(*profile)[stack.parent].frame];
      chain.has_caller |= caller.mode == Mode::kUser && !caller.return_address;
      if (chain.cut != kNoFrame && chain.outermost == kNoFrame) chain.outermost = stack.frame;
    }
    const Frame& frame = (*profile)[stack.frame];
    chain.has_user |= frame.mode == Mode::kUser;
    if (frame.mode == Mode::kUser && frame.return_address) {
      chain.is_of_kernel = true;
      chain.is_unmapped |= frame.unnamed == profile::Unnamed::kNoMapping;
    }
    if (frame.mode == Mode::kCut) chain.cut = stack.frame;
  }
  ChainQuality counts;
  std::map<std::pair<std::string, std::string>, uint64_t> cuts;
  for (const Row& row : profile->rows) {
    const Chain& chain = chains[static_cast<uint32_t>(row.stack)];
    if (chain.is_of_kernel) counts.by_kernel += row.count;
    if (chain.is_unmapped) counts.broken += row.count;
    if (chain.cut == kNoFrame) {
      if (chain.has_user && chain.has_caller) counts.complete += row.count;
      continue;
    }
    if ((*profile)[chain.cut].ip.value == kNoStackMark) {
      counts.no_stack += row.count;
      continue;
    }
    const auto lines = profile->LinesOf((*profile)[chain.cut]);
    std::string_view reason = lines.empty() ? "" : profile->text((*profile)[lines[0].symbol].name);
    if (reason.starts_with(kCutName)) reason = reason.substr(kCutName.size());
    if (reason.ends_with("]")) reason.remove_suffix(1);
    const std::string_view image =
        chain.outermost == kNoFrame
            ? ""
            : profile->text((*profile)[(*profile)[chain.outermost].image].long_name);
    cuts[{std::string(reason), std::string(image)}] += row.count;
  }
  for (const auto& [cut, count] : cuts) {
    counts.cuts.push_back({.chains = count, .reason = cut.first, .image = cut.second});
  }
  std::stable_sort(counts.cuts.begin(), counts.cuts.end(),
                   [](const auto& a, const auto& b) { return a.chains > b.chains; });
  profile->chains = std::move(counts);
}

}  // namespace profiler::live
