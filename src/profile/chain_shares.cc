#include "src/profile/chain_shares.h"

#include <algorithm>
#include <map>
#include <utility>

namespace profiler::profile {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Facts about the frames from a stack's node to the root.
struct Ends {
  bool has_user = false;       // True if it has a frame of a program.
  bool has_stack = true;       // True if the thread had its user stack.
  uint32_t cut = kNone;        // frame that gives the reason of the cut; kNone: not cut
  uint32_t outermost = kNone;  // frame called by `cut`: the outermost caller
};

std::vector<Ends> EndsOfStacks(const Profile& profile) {
  std::vector<Ends> all(profile.stacks.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const StackNode& stack = profile.stacks[i];
    Ends& ends = all[i];
    // A caller's node precedes those of its callees.
    if (stack.parent != kNoStack) ends = all[static_cast<uint32_t>(stack.parent)];
    const Frame& frame = profile[stack.frame];
    if (ends.cut != kNone && ends.outermost == kNone) {
      ends.outermost = static_cast<uint32_t>(stack.frame);
    }
    if (frame.mode == Mode::kUser) ends.has_user = true;
    if (frame.mode != Mode::kCut) continue;
    ends.cut = static_cast<uint32_t>(stack.frame);
    ends.has_stack = frame.ip.value != kNoStackMark;
  }
  return all;
}

std::string_view NameOf(const Profile& profile, uint32_t frame) {
  const auto lines = profile.LinesOf(profile.frames[frame]);
  if (lines.empty() || lines[0].symbol == kNoSymbol) return "[cut]";
  return profile.text(profile[lines[0].symbol].name);
}

std::string_view ImageOf(const Profile& profile, uint32_t frame) {
  return frame == kNone ? std::string_view()
                        : profile.text(profile[profile.frames[frame].image].long_name);
}

}  // namespace

std::vector<ChainShares> SharesOfChains(const Profile& profile) {
  std::vector<ChainShares> shares;
  if (profile.chains.chains() == 0) return shares;
  const bool has_marks = std::any_of(profile.frames.begin(), profile.frames.end(),
                                     [](const Frame& f) { return f.mode == Mode::kCut; });
  if (!has_marks && profile.chains.cut() != 0) return shares;
  const std::vector<Ends> ends = EndsOfStacks(profile);
  shares.resize(profile.events.size());
  using Place = std::pair<std::string_view, std::string_view>;
  std::vector<std::map<Place, uint64_t>> cuts(shares.size());
  for (const Row& row : profile.rows) {
    const Ends& of = ends[static_cast<uint32_t>(row.stack)];
    const auto event = static_cast<uint32_t>(row.event);
    if (!of.has_user || !of.has_stack) continue;
    if (of.cut == kNone) {
      shares[event].whole += row.period;
    } else {
      shares[event].cut += row.period;
      cuts[event][{NameOf(profile, of.cut), ImageOf(profile, of.outermost)}] += row.period;
    }
  }
  for (uint32_t i = 0; i < shares.size(); ++i) {
    shares[i].event = EventId{i};
    for (const auto& [place, weight] : cuts[i]) {
      shares[i].cuts.push_back({place.first, place.second, weight});
    }
    std::stable_sort(shares[i].cuts.begin(), shares[i].cuts.end(),
                     [](const auto& a, const auto& b) { return a.weight > b.weight; });
  }
  std::erase_if(shares, [](const ChainShares& s) { return s.whole + s.cut == 0; });
  return shares;
}

}  // namespace profiler::profile
