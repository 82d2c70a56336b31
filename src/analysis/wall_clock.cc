#include "src/analysis/wall_clock.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::StackId;

// Finds an event by its name without modifiers: a user who may not sample the kernel gets
// "oncpu-time:u".
std::optional<EventId> Find(const Profile& profile, std::string_view name) {
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    const std::string_view text = profile.text(profile.events[i].name);
    if (text.substr(0, text.find(':')) == name) return EventId{i};
  }
  return std::nullopt;
}

// Adds a frame that stands for a thread's state instead of code.
FrameId AddStateFrame(std::string_view name, Profile& profile) {
  const StringId text = profile.strings.Intern(name);
  const profile::ImageId image{static_cast<uint32_t>(profile.images.size())};
  profile.images.push_back(
      {.name = text, .long_name = text, .kind = symbolize::ImageKind::kNoCode});
  const profile::SymbolId symbol{static_cast<uint32_t>(profile.symbols.size())};
  profile.symbols.push_back({.name = text, .image = image});
  profile::Frame frame;
  frame.unnamed = profile::Unnamed::kNamed;
  frame.image = image;
  frame.first_line = static_cast<uint32_t>(profile.lines.size());
  frame.line_count = 1;
  profile.lines.push_back({.symbol = symbol});
  const FrameId id{static_cast<uint32_t>(profile.frames.size())};
  profile.frames.push_back(frame);
  return id;
}

// A helper that adds a leaf to stacks. Each stack gets the leaf only once.
class LeafAdder {
 public:
  LeafAdder(std::string_view name, Profile& profile)
      : profile_(profile), frame_(AddStateFrame(name, profile)) {}

  void AddTo(Row& row) {
    row.self = frame_;
    const auto [found, is_new] = with_leaf_.try_emplace(row.stack);
    if (is_new) {
      const uint32_t depth = row.stack == profile::kNoStack ? 0 : profile_[row.stack].depth;
      found->second = StackId{static_cast<uint32_t>(profile_.stacks.size())};
      profile_.stacks.push_back({row.stack, frame_, depth + 1});
    }
    row.stack = found->second;
  }

 private:
  Profile& profile_;
  const FrameId frame_;
  absl::flat_hash_map<StackId, StackId> with_leaf_;
};

void Join(EventId event, EventId into, std::optional<LeafAdder> leaf, Profile& profile) {
  profile::Event& from = profile.events[static_cast<uint32_t>(event)];
  profile::Event& to = profile.events[static_cast<uint32_t>(into)];
  to.samples += std::exchange(from.samples, 0);
  to.period += std::exchange(from.period, 0);
  to.callchains |= from.callchains;
  for (Row& row : profile.rows) {
    if (row.event != event) continue;
    row.event = into;
    if (leaf) leaf->AddTo(row);
  }
}

}  // namespace

bool HasWallClock(const Profile& profile) {
  return Find(profile, kRunningEvent) &&
         (Find(profile, kBlockedEvent) || Find(profile, kPreemptedEvent));
}

void JoinWallClock(OffCpuLeaf leaf, Profile& profile) {
  if (!HasWallClock(profile)) return;
  const EventId into = *Find(profile, kRunningEvent);
  for (const auto& [name, state] : {std::pair(kBlockedEvent, std::string_view("[blocked]")),
                                    std::pair(kPreemptedEvent, std::string_view("[preempted]"))}) {
    const std::optional<EventId> event = Find(profile, name);
    if (!event) continue;
    std::optional<LeafAdder> adder;
    if (leaf == OffCpuLeaf::kOfState) adder.emplace(state, profile);
    Join(*event, into, std::move(adder), profile);
  }
  profile.events[static_cast<uint32_t>(into)].name = profile.strings.Intern(kWallClockEvent);
}

std::optional<OffCpuLeaf> WallClockFor(std::string_view event) {
  if (event.empty() || event == kWallClockEvent) return OffCpuLeaf::kOfState;
  return std::nullopt;
}

}  // namespace profiler::analysis
