#include "src/importers/cpu_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::StackId;
using Value = JsonTree::Value;

constexpr double kMicrosecondsInASecond = 1e6;

class CpuProfileReader {
 public:
  explicit CpuProfileReader(ProfileMaker& maker) : maker_(maker) {}

  void AddNode(Value value) {
    const uint64_t id = AddCode(value, value["callFrame"], /*first_line=*/0);
    for (const Value child : value["children"].elements()) parents_.emplace_back(IdOf(child), id);
    if (value["parent"].exists()) parents_.emplace_back(id, IdOf(value["parent"]));
  }

  // Adds the tree of the older form.
  void AddTree(Value head) {
    std::vector<Value> open = {head};
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      const uint64_t id = AddCode(value, value, /*first_line=*/1);
      for (const Value child : value["children"].elements()) {
        parents_.emplace_back(IdOf(child["id"]), id);
        open.push_back(child);
      }
    }
  }

  absl::Status MakeStacks() {
    for (const auto& [child, parent] : parents_) {
      const auto found = nodes_.find(child);
      if (found != nodes_.end()) found->second.parent = parent;
    }
    std::vector<uint64_t> path;
    for (const uint64_t id : order_) {
      path.clear();
      for (uint64_t at = id; at != kNone;) {
        const auto found = nodes_.find(at);
        if (found == nodes_.end() || found->second.has_stack) break;
        path.push_back(at);
        if (path.size() > nodes_.size()) {
          return absl::DataLossError(absl::StrCat("node ", id, " is among its own callers"));
        }
        at = found->second.parent;
      }
      while (!path.empty()) {
        MakeStack(nodes_.find(path.back())->second);
        path.pop_back();
      }
    }
    return absl::OkStatus();
  }

  // Adds samples. `times` has one time for each sample, in µs. Samples need not be in time order,
  // because timestamps may go back.
  void AddSamples(const std::vector<Value>& samples, const std::vector<double>& times,
                  std::optional<double> start, std::optional<double> end,
                  profile::ThreadId thread) {
    struct Sample {
      double at;
      uint64_t node;
    };
    std::vector<Sample> ordered;
    for (size_t i = 0; i < std::min(samples.size(), times.size()); ++i) {
      if (std::isfinite(times[i])) ordered.push_back({times[i], IdOf(samples[i])});
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Sample& a, const Sample& b) { return a.at < b.at; });
    // Samples are cut to the time between the profile's start and end.
    constexpr double kEver = std::numeric_limits<double>::infinity();
    const double first = start ? *start : -kEver;
    const bool has_end = end && *end >= first;
    const double last = has_end ? *end : kEver;
    const auto within = [&](double at) { return std::clamp(at, first, last); };
    const profile::EventId event = maker_.Event("time");
    for (size_t i = 0; i < ordered.size(); ++i) {
      const double at = within(ordered[i].at);
      const double next = i + 1 < ordered.size() ? within(ordered[i + 1].at) : has_end ? last : at;
      const auto node = nodes_.find(ordered[i].node);
      if (node == nodes_.end() || !(at >= 0) || at > kMostExactNumber / kNanosecondsInAMicrosecond)
        continue;
      const double period =
          std::clamp((next - at) * kNanosecondsInAMicrosecond, 0.0, kMostExactNumber);
      maker_.Add({.event = event,
                  .thread = thread,
                  .stack = node->second.stack,
                  .period = static_cast<uint64_t>(std::llround(period)),
                  .time = static_cast<uint64_t>(std::llround(at * kNanosecondsInAMicrosecond))});
    }
  }

  void AddHits(profile::ThreadId thread) {
    const profile::EventId event = maker_.Event("samples");
    for (const uint64_t id : order_) {
      const Node& node = nodes_.find(id)->second;
      if (node.hits == 0) continue;
      maker_.Add({.event = event,
                  .thread = thread,
                  .stack = node.stack,
                  .count = node.hits,
                  .period = node.hits});
    }
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;

  struct Node {
    profile::FrameId frame{};
    bool is_root = false;
    uint64_t hits = 0;
    uint64_t parent = kNone;
    bool has_stack = false;
    StackId stack = profile::kNoStack;
  };

  static uint64_t IdOf(Value id) { return id.index(uint64_t{1} << 53).value_or(kNone); }

  // Adds the function of a node and returns the node's id. `first_line` is the number that the
  // profile gives to a file's first line. A smaller number means that the line is unknown.
  uint64_t AddCode(Value node_value, Value call, double first_line) {
    const std::string_view name = call["functionName"].text();
    const double line = call["lineNumber"].number().value_or(-1) + 1 - first_line;
    const FunctionLine function{.name = name.empty() ? "<anonymous>" : name,
                                .file = call["url"].text(),
                                .line = line > 0 && line < 1e9 ? static_cast<uint32_t>(line) : 0};
    Node node{.is_root = name == "(root)", .hits = node_value["hitCount"].index().value_or(0)};
    if (!node.is_root) node.frame = maker_.Frame({.functions = {&function, 1}});
    const uint64_t id = IdOf(node_value["id"]);
    if (nodes_.try_emplace(id, node).second) order_.push_back(id);
    return id;
  }

  // Makes the stack of a node. Its caller must have one already.
  void MakeStack(Node& node) {
    const auto parent = nodes_.find(node.parent);
    const StackId caller = parent == nodes_.end() ? profile::kNoStack : parent->second.stack;
    node.stack = node.is_root ? caller : maker_.Stack(caller, node.frame);
    node.has_stack = true;
  }

  ProfileMaker& maker_;
  std::vector<std::pair<uint64_t, uint64_t>> parents_;  // ids of child and parent
  absl::flat_hash_map<uint64_t, Node> nodes_;
  std::vector<uint64_t> order_;  // ids of the nodes, in the order of the file
};

std::vector<double> TimesOf(double start, const std::vector<Value>& deltas) {
  std::vector<double> times;
  double at = start;
  for (const Value delta : deltas) times.push_back(at += delta.number().value_or(0));
  return times;
}

absl::Status ReadOldProfile(Value root, ProfileMaker& maker) {
  CpuProfileReader reader(maker);
  reader.AddTree(root["head"]);
  PROFILER_RETURN_IF_ERROR(reader.MakeStacks());
  const profile::ThreadId thread = maker.NamedThread("[unknown]");
  if (!root["timestamps"].has_child()) {
    reader.AddHits(thread);
    return absl::OkStatus();
  }
  const auto microseconds = [](Value seconds) -> std::optional<double> {
    if (!seconds.number()) return std::nullopt;
    return *seconds.number() * kMicrosecondsInASecond;
  };
  std::vector<double> times;
  for (const Value time : root["timestamps"].elements()) {
    times.push_back(time.number().value_or(-1));
  }
  reader.AddSamples(root["samples"].elements(), times, microseconds(root["startTime"]),
                    microseconds(root["endTime"]), thread);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddCpuProfile(const CpuProfileParts& parts, ProfileMaker& maker) {
  CpuProfileReader reader(maker);
  for (const Value node : parts.nodes) reader.AddNode(node);
  PROFILER_RETURN_IF_ERROR(reader.MakeStacks());
  if (parts.samples.empty()) {
    reader.AddHits(parts.thread);
  } else {
    reader.AddSamples(parts.samples, TimesOf(parts.start.value_or(0), parts.time_deltas),
                      parts.start, parts.end, parts.thread);
  }
  return absl::OkStatus();
}

absl::Status ReadCpuProfile(Value root, ProfileMaker& maker) {
  if (root["head"].exists()) return ReadOldProfile(root, maker);
  return AddCpuProfile({.nodes = root["nodes"].elements(),
                        .samples = root["samples"].elements(),
                        .time_deltas = root["timeDeltas"].elements(),
                        .start = root["startTime"].number(),
                        .end = root["endTime"].number(),
                        .thread = maker.NamedThread("[unknown]")},
                       maker);
}

bool LooksLikeCpuProfile(std::string_view text) {
  return Contains(text, "\"callFrame\"") ||
         (Contains(text, "\"head\"") && Contains(text, "\"functionName\""));
}

}  // namespace profiler::importers
