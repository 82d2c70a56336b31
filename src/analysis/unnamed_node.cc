#include "src/analysis/unnamed_node.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"

namespace profiler::analysis {

using profile::Profile;
using symbolize::ImageKind;

namespace {

constexpr double kLeastPart = 0.02;

// True for the names that distributions and npm packages give to Node.js.
bool IsNode(std::string_view base_name) {
  return base_name == "node" || base_name == "nodejs" || base_name.starts_with("libnode.so");
}

struct OnStack {
  bool has_node = false;
  bool has_named = false;    // True if it has generated code with a name.
  bool has_unnamed = false;  // True if it has generated code without a name.
};

std::vector<OnStack> ReadStacks(const Profile& profile) {
  std::vector<OnStack> on_stack;
  on_stack.reserve(profile.stacks.size());
  for (const profile::StackNode& stack : profile.stacks) {
    OnStack at;
    if (stack.parent != profile::kNoStack) at = on_stack[static_cast<uint32_t>(stack.parent)];
    const profile::Frame& frame = profile[stack.frame];
    const profile::Image& image = profile[frame.image];
    if (image.kind == ImageKind::kUser && IsNode(profile.text(image.name))) at.has_node = true;
    if (image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump) {
      const bool is_named = frame.unnamed == profile::Unnamed::kNamed;
      (is_named ? at.has_named : at.has_unnamed) = true;
    }
    on_stack.push_back(at);
  }
  return on_stack;
}

struct Process {
  bool has_node = false, has_named = false;
  double unnamed = 0;
};

double PartOf(const Profile& profile, const std::vector<OnStack>& on_stack,
              profile::EventId event) {
  absl::flat_hash_map<uint32_t, Process> processes;  // keyed by pid
  double all = 0, unnamed = 0;
  for (const profile::Row& row : profile.rows) {
    if (row.event != event) continue;
    const auto weight = static_cast<double>(row.period);
    all += weight;
    if (row.stack == profile::kNoStack) continue;
    const OnStack& at = on_stack[static_cast<uint32_t>(row.stack)];
    Process& process = processes[profile[row.thread].pid];
    process.has_node |= at.has_node;
    process.has_named |= at.has_named;
    if (at.has_unnamed) process.unnamed += weight;
  }
  for (const auto& [pid, process] : processes) {
    if (process.has_node && !process.has_named) unnamed += process.unnamed;
  }
  return all == 0 ? 0 : unnamed / all;
}

}  // namespace

std::optional<UnnamedNode> FindUnnamedNode(const Profile& profile) {
  const bool has_node =
      std::any_of(profile.images.begin(), profile.images.end(),
                  [&](const profile::Image& image) { return IsNode(profile.text(image.name)); });
  if (!has_node) return std::nullopt;
  const std::vector<OnStack> on_stack = ReadStacks(profile);
  UnnamedNode most;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (!profile.events[i].callchains) continue;
    most.part = std::max(most.part, PartOf(profile, on_stack, profile::EventId{i}));
  }
  if (most.part < kLeastPart) return std::nullopt;
  return most;
}

std::string MissingText(const UnnamedNode& node) {
  return absl::StrFormat("JavaScript of Node.js took %.1f %%, and its functions have no names",
                         100 * node.part);
}

std::string RemedyText(const UnnamedNode&) {
  return "start it with node --perf-basic-prof (and --interpreted-frames-native-stack for "
         "functions "
         "that are not compiled)";
}

}  // namespace profiler::analysis
