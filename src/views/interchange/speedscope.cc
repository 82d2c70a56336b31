#include "src/views/interchange/speedscope.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/analysis/amount.h"
#include "src/base/text.h"
#include "src/views/flamegraph/call_tree.h"
#include "src/views/interchange/code_table.h"
#include "src/views/interchange/json_text.h"
#include "src/views/interchange/thread_rows.h"

namespace profiler::exports {
namespace {

using profile::EventId;
using profile::Profile;
using profile::Row;
using profile::StackId;

struct WeightedStack {
  StackId stack = profile::kNoStack;
  uint64_t weight = 0;
};

// Returns a thread's stacks in order of time; successive equal stacks are merged.
std::vector<WeightedStack> InTimeOrder(const Profile& profile, const ThreadRows& thread) {
  std::vector<WeightedStack> stacks;
  for (const uint32_t index : thread.rows) {
    const Row& row = profile.rows[index];
    if (stacks.empty() || stacks.back().stack != row.stack) stacks.push_back({row.stack});
    stacks.back().weight += WeightOf(row, WeightBy::kPeriod).period;
  }
  return stacks;
}

// Merges equal stacks, in the order of their first rows.
std::vector<WeightedStack> MergedByStack(const std::vector<WeightedStack>& in_order) {
  std::vector<WeightedStack> stacks;
  absl::flat_hash_map<StackId, size_t> known;
  for (const WeightedStack& next : in_order) {
    const auto [at, added] = known.try_emplace(next.stack, stacks.size());
    if (added) stacks.push_back({next.stack});
    stacks[at->second].weight += next.weight;
  }
  return stacks;
}

struct ThreadProfile {
  std::string name;
  std::string_view unit;
  std::vector<WeightedStack> stacks;
};

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Profile& profile, const Origin& origin, size_t most_frames)
      : profile_(profile), origin_(origin), most_frames_(most_frames), code_(profile) {}

  SpeedscopeFile Write() && {
    CollectThreads();
    out_ = R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":)";
    absl::StrAppend(&out_, Quoted(origin_.producer),
                    ",\"name\":", Quoted(origin_.command.empty() ? "recording" : origin_.command),
                    ",\"activeProfileIndex\":", heaviest_, ",\"shared\":{\"frames\":[");
    for (const CodeFunction& function : code_.functions()) WriteFunction(function);
    if (out_.back() == ',') out_.pop_back();
    out_ += "]},\"profiles\":[";
    for (const ThreadProfile& thread : threads_) WriteThread(thread);
    if (out_.back() == ',') out_.pop_back();
    out_ += "]}\n";
    return {std::move(out_), in_time_order_};
  }

 private:
  void CollectThreads() {
    const std::vector<EventId> events = EventsWithRows(profile_);
    size_t frames = 0;
    for (const EventId event : events) {
      const std::string name = ValidUtf8(profile_.text(profile_[event].name));
      for (const ThreadRows& thread : RowsByThread(profile_, event)) {
        threads_.push_back({.name = absl::StrCat(thread.name, " ", thread.pid, "/", thread.tid,
                                                 events.size() == 1 ? "" : absl::StrCat(" ", name)),
                            .unit = analysis::IsTime(name) ? "nanoseconds" : "none",
                            .stacks = InTimeOrder(profile_, thread)});
        for (const WeightedStack& at : threads_.back().stacks) frames += profile_[at.stack].depth;
      }
    }
    in_time_order_ = frames <= most_frames_ && HasTimes(profile_);
    uint64_t most = 0;
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (!in_time_order_) threads_[i].stacks = MergedByStack(threads_[i].stacks);
      const uint64_t total = TotalOf(threads_[i]);
      if (total > most) heaviest_ = i;
      most = std::max(most, total);
    }
  }

  static uint64_t TotalOf(const ThreadProfile& thread) {
    uint64_t total = 0;
    for (const WeightedStack& at : thread.stacks) total += at.weight;
    return total;
  }

  void WriteFunction(const CodeFunction& function) {
    absl::StrAppend(&out_, "{\"name\":", Quoted(function.name));
    if (!function.file.empty()) absl::StrAppend(&out_, ",\"file\":", Quoted(function.file));
    out_ += "},";
  }

  void WriteThread(const ThreadProfile& thread) {
    absl::StrAppend(&out_, "{\"type\":\"sampled\",\"name\":", Quoted(thread.name), ",\"unit\":\"",
                    View(thread.unit), "\",\"startValue\":0,\"endValue\":", TotalOf(thread),
                    ",\"samples\":[");
    for (const WeightedStack& at : thread.stacks) WriteStack(at.stack);
    out_.back() = ']';
    out_ += ",\"weights\":[";
    for (const WeightedStack& at : thread.stacks) absl::StrAppend(&out_, at.weight, ",");
    out_.back() = ']';
    out_ += "},";
  }

  void WriteStack(StackId stack) {
    code_.GetStack(profile_, stack, functions_);
    out_ += '[';
    for (size_t i = functions_.size(); i-- > 0;) absl::StrAppend(&out_, functions_[i], ",");
    out_.back() = ']';
    out_ += ',';
  }

  const Profile& profile_;
  const Origin& origin_;
  const size_t most_frames_;
  const CodeTable code_;
  std::vector<ThreadProfile> threads_;
  size_t heaviest_ = 0;
  bool in_time_order_ = false;
  std::vector<FunctionIndex> functions_;
  std::string out_;
};

}  // namespace

SpeedscopeFile Speedscope(const Profile& profile, const Origin& origin, size_t most_frames) {
  return SpeedscopeWriter(profile, origin, most_frames).Write();
}

}  // namespace profiler::exports
