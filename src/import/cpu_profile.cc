#include "src/import/cpu_profile.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace profiler::import {
namespace {

using profile::StackId;
using Value = JsonTree::Value;

constexpr double kNanosecondsInAMicrosecond = 1e3;
constexpr double kMost = 9007199254740992.0;

class CpuProfileReader {
 public:
  explicit CpuProfileReader(ProfileMaker& maker) : maker_(maker) {}

  absl::Status Read(Value root) {
    std::vector<std::pair<uint64_t, uint64_t>> parents;  // child, parent
    for (const Value node : root["nodes"].elements()) AddNode(node, parents);
    for (const auto& [child, parent] : parents) {
      const auto found = nodes_.find(child);
      if (found != nodes_.end()) found->second.parent = parent;
    }
    PROFILER_RETURN_IF_ERROR(MakeStacks());
    AddSamples(root);
    return absl::OkStatus();
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;

  struct Node {
    profile::FrameId frame{};
    bool is_root = false;
    uint64_t parent = kNone;
    bool has_stack = false;
    StackId stack = profile::kNoStack;
  };

  static uint64_t IdOf(Value id) { return id.index(uint64_t{1} << 53).value_or(kNone); }

  void AddNode(Value value, std::vector<std::pair<uint64_t, uint64_t>>& parents) {
    const Value call = value["callFrame"];
    const std::string_view name = call["functionName"].text();
    // Lines count from 0 here, and -1 is none.
    const double line = call["lineNumber"].number().value_or(-1) + 1;
    const FunctionLine function{.name = name.empty() ? "<anonymous>" : name,
                                .file = call["url"].text(),
                                .line = line > 0 && line < 1e9 ? static_cast<uint32_t>(line) : 0};
    const uint64_t id = IdOf(value["id"]);
    Node node{.is_root = name == "(root)"};
    if (!node.is_root) node.frame = maker_.Frame({.functions = {&function, 1}});
    nodes_.try_emplace(id, node);
    for (const Value child : value["children"].elements()) parents.emplace_back(IdOf(child), id);
    if (value["parent"].exists()) parents.emplace_back(id, IdOf(value["parent"]));
  }

  absl::Status MakeStacks() {
    std::vector<uint64_t> path;
    for (const auto& [id, unused] : nodes_) {
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

  // That of its caller is there.
  void MakeStack(Node& node) {
    const auto parent = nodes_.find(node.parent);
    const StackId caller = parent == nodes_.end() ? profile::kNoStack : parent->second.stack;
    node.stack = node.is_root ? caller : maker_.Stack(caller, node.frame);
    node.has_stack = true;
  }

  void AddSamples(Value root) {
    const std::vector<Value> samples = root["samples"].elements();
    const std::vector<Value> deltas = root["timeDeltas"].elements();
    const profile::EventId event = maker_.Event("time");
    const profile::ThreadId thread = maker_.NamedThread("[unknown]");
    double at = root["startTime"].number().value_or(0);
    const double end = root["endTime"].number().value_or(at);
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i < deltas.size()) at += deltas[i].number().value_or(0);
      // The clock of a sample may be behind that of the one before.
      const double lasts = i + 1 < deltas.size() && i + 1 < samples.size()
                               ? deltas[i + 1].number().value_or(0)
                               : end - at;
      const auto node = nodes_.find(IdOf(samples[i]));
      if (node == nodes_.end() || !(at >= 0) || at > kMost / kNanosecondsInAMicrosecond) continue;
      const double period = std::clamp(lasts * kNanosecondsInAMicrosecond, 0.0, kMost);
      maker_.Add({.event = event,
                  .thread = thread,
                  .stack = node->second.stack,
                  .period = static_cast<uint64_t>(std::llround(period)),
                  .time = static_cast<uint64_t>(std::llround(at * kNanosecondsInAMicrosecond))});
    }
  }

  ProfileMaker& maker_;
  absl::flat_hash_map<uint64_t, Node> nodes_;
};

}  // namespace

bool IsCpuProfile(Value root) {
  return root["nodes"].child()["callFrame"].exists() && root["samples"].exists();
}

absl::Status ReadCpuProfile(Value root, ProfileMaker& maker) {
  return CpuProfileReader(maker).Read(root);
}

}  // namespace profiler::import
