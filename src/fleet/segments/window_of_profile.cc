#include "src/fleet/segments/window_of_profile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/frame_types.h"
#include "src/base/text.h"
#include "src/fleet/segments/window_builder.h"

namespace profiler::fleet {
namespace {

using profile::Profile;
using symbolize::ImageKind;

constexpr uint32_t kNone = UINT32_MAX;

class WindowMaker {
 public:
  WindowMaker(const Profile& profile, const DescribeProcess& describe,
              const HtlhashOfImage& htlhash_of)
      : profile_(profile),
        describe_(describe),
        htlhash_of_(htlhash_of),
        types_(analysis::FrameTypesOf(profile)),
        build_ids_(profile.images.size()) {}

  Window Make() && {
    MapStacks();
    MapThreads();
    for (const profile::Event& event : profile_.events) {
      events_.push_back(builder_.Event(profile_.text(event.name)));
    }
    for (const profile::Row& row : profile_.rows) {
      builder_.Add({.event = events_[static_cast<uint32_t>(row.event)],
                    .workload = workloads_[static_cast<uint32_t>(row.thread)],
                    .stack = stacks_[static_cast<uint32_t>(row.stack)],
                    .samples = row.count,
                    .value = row.period});
    }
    builder_.window().losses = {
        .lost_samples = profile_.losses.lost_records + profile_.losses.lost_samples,
        .chains = profile_.chains.chains(),
        .cut_chains = profile_.chains.cut()};
    return std::move(builder_).Finish();
  }

 private:
  // Converts the stacks in use. A frame with inlined calls has several functions, the innermost
  // first.
  void MapStacks() {
    std::vector<bool> is_used(profile_.stacks.size());
    for (const profile::Row& row : profile_.rows) is_used[static_cast<uint32_t>(row.stack)] = true;
    stacks_.assign(profile_.stacks.size(), kNone);
    for (size_t i = is_used.size(); i-- > 0;) {
      const profile::StackId caller = profile_.stacks[i].parent;
      if (is_used[i] && caller != profile::kNoStack) is_used[static_cast<uint32_t>(caller)] = true;
    }
    for (size_t i = 0; i < is_used.size(); ++i) {
      if (is_used[i]) stacks_[i] = StackOf(profile_.stacks[i]);
    }
  }

  uint32_t StackOf(const profile::StackNode& node) {
    uint32_t stack =
        node.parent == profile::kNoStack ? kNoCaller : stacks_[static_cast<uint32_t>(node.parent)];
    const profile::Frame& frame = profile_[node.frame];
    const profile::Image& image = profile_[frame.image];
    const std::string image_name = ImageNameOf(image);
    FrameNames names = {.function = {},
                        .image = image_name,
                        .type = analysis::NameOf(types_[static_cast<uint32_t>(node.frame)]),
                        .build_id = BuildIdOf(frame.image)};
    const auto lines = profile_.LinesOf(frame);
    if (lines.empty()) {
      const std::string name =
          image_name.starts_with('[') ? image_name : absl::StrCat("[", image_name, "]");
      names.function = name;
      return builder_.Stack(stack, builder_.Frame(names));
    }
    for (size_t i = lines.size(); i-- > 0;) {
      names.function = profile_.text(profile_[lines[i].symbol].name);
      stack = lines[i].inlined ? builder_.Stack(stack, names.function, std::string_view())
                               : builder_.Stack(stack, builder_.Frame(names));
    }
    return stack;
  }

  const std::string& BuildIdOf(profile::ImageId id) {
    std::optional<std::string>& build_id = build_ids_[static_cast<uint32_t>(id)];
    if (!build_id) build_id = MakeBuildId(profile_[id]);
    return *build_id;
  }

  std::string MakeBuildId(const profile::Image& image) const {
    if (image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump) return {};
    if (!image.build_id.empty()) return absl::StrCat("gnu:", HexOf(image.build_id));
    if (image.kind != ImageKind::kUser || !htlhash_of_) return {};
    const std::string htlhash = htlhash_of_(image);
    return htlhash.empty() ? std::string() : absl::StrCat("htlhash:", htlhash);
  }

  std::string ImageNameOf(const profile::Image& image) const {
    if (image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump) return "[JIT]";
    const std::string_view name = profile_.text(image.name);
    return std::string(name.empty() ? "[unknown]" : name);
  }

  void MapThreads() {
    absl::flat_hash_map<std::pair<uint32_t, StringId>, uint32_t> processes;
    for (const profile::Thread& thread : profile_.threads) {
      const StringId program =
          thread.process_comm == StringId::kEmpty ? thread.comm : thread.process_comm;
      const auto [known, is_new] = processes.try_emplace({thread.pid, program}, 0);
      if (is_new) {
        const std::string_view name = profile_.text(program);
        const ProcessFacts facts = describe_(thread.pid, name);
        known->second = builder_.Workload({.service = facts.service,
                                           .container = facts.container,
                                           .pod = facts.pod,
                                           .program = name,
                                           .build_id = facts.build_id});
      }
      workloads_.push_back(known->second);
    }
  }

  const Profile& profile_;
  const DescribeProcess& describe_;
  const HtlhashOfImage& htlhash_of_;
  const std::vector<analysis::FrameType> types_;
  std::vector<std::optional<std::string>> build_ids_;  // indexed by ImageId
  WindowBuilder builder_;
  std::vector<uint32_t> events_, workloads_, stacks_;  // indexed by ids of the profile
};

}  // namespace

Window WindowOf(const Profile& profile, const DescribeProcess& describe,
                const HtlhashOfImage& htlhash_of) {
  return WindowMaker(profile, describe, htlhash_of).Make();
}

}  // namespace profiler::fleet
