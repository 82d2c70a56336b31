#include "src/views/interchange/chrome_trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/text.h"
#include "src/format/perf_event/off_cpu_events.h"
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

// The interval that a sample stands for, in nanoseconds.
struct Stretch {
  uint64_t begin = 0, end = 0;
  uint32_t row = 0;
};

struct Lane {
  std::string name, process_name;
  std::vector<Stretch> stretches;
};

// Formats a time in microseconds, the unit of trace events.
std::string Microseconds(uint64_t nanoseconds) {
  return absl::StrFormat("%d.%03d", nanoseconds / 1000, nanoseconds % 1000);
}

class TraceWriter {
 public:
  TraceWriter(const Profile& profile, const Origin& origin, uint64_t most_slices)
      : profile_(profile),
        origin_(origin),
        most_slices_(most_slices),
        code_(profile),
        has_times_(HasTimes(profile)) {
    for (const CodeFunction& function : code_.functions()) names_.push_back(Quoted(function.name));
    for (const profile::Event& event : profile.events) {
      event_names_.push_back(Quoted(profile.text(event.name)));
    }
  }

  ChromeTraceFile Write() && {
    CollectLanes();
    FindBegin();
    FindShortest();
    absl::StrAppend(&out_, "{\"otherData\":{\"producer\":", Quoted(origin_.producer),
                    ",\"command\":", Quoted(origin_.command),
                    "},\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for (const auto& [ids, lane] : lanes_) WriteLane(ids.first, ids.second, lane);
    for (const EventId event : instant_events_) WriteInstants(event);
    if (out_.ends_with(",\n")) out_.erase(out_.size() - 2, 1);
    out_ += "]}\n";
    return {std::move(out_), left_out_, shortest_};
  }

 private:
  struct Slice {
    FunctionIndex function = 0;
    uint64_t begin = 0, samples = 0;
  };

  bool IsTime(EventId event) const { return analysis::IsTime(profile_.text(profile_[event].name)); }

  void CollectLanes() {
    std::vector<EventId> shown;
    for (const EventId event : EventsWithRows(profile_)) {
      (IsTime(event) ? shown : instant_events_).push_back(event);
    }
    if (shown.empty() && !instant_events_.empty()) {
      shown.push_back(instant_events_.front());
      instant_events_.erase(instant_events_.begin());
    }
    for (const EventId event : shown) {
      for (const ThreadRows& thread : RowsByThread(profile_, event)) {
        Lane& lane = lanes_[{thread.pid, thread.tid}];
        lane.name = thread.name;
        lane.process_name = thread.process_name;
        AddStretches(thread, IsTime(event), lane);
      }
    }
  }

  // Sets the timeline's begin, which is that of the first sample's interval.
  void FindBegin() {
    begin_ = has_times_ ? origin_.first_sample : 0;
    for (const auto& [ids, lane] : lanes_) {
      for (const Stretch& stretch : lane.stretches) begin_ = std::min(begin_, stretch.begin);
    }
  }

  void AddStretches(const ThreadRows& thread, bool is_time, Lane& lane) {
    if (!has_times_) return AddEndToEnd(thread, lane);
    const uint64_t gap = is_time ? 0 : MedianGap(thread);
    const uint64_t longest = 2 * gap;
    const uint64_t first = TimeOf(profile_, thread.rows.front());
    uint64_t before = first - std::min(gap, first);
    for (const uint32_t row : thread.rows) {
      const uint64_t end = TimeOf(profile_, row);
      const uint64_t length = is_time ? profile_.rows[row].period : std::min(end - before, longest);
      lane.stretches.push_back({end - std::min(length, end), end, row});
      before = end;
    }
  }

  void AddEndToEnd(const ThreadRows& thread, Lane& lane) const {
    uint64_t end = lane.stretches.empty() ? 0 : lane.stretches.back().end;
    for (const uint32_t row : thread.rows) {
      const uint64_t begin = end;
      end += WeightOf(profile_.rows[row], WeightBy::kPeriod).period;
      lane.stretches.push_back({begin, end, row});
    }
  }

  uint64_t MedianGap(const ThreadRows& thread) const {
    std::vector<uint64_t> gaps;
    for (size_t i = 1; i < thread.rows.size(); ++i) {
      gaps.push_back(TimeOf(profile_, thread.rows[i]) - TimeOf(profile_, thread.rows[i - 1]));
    }
    if (gaps.empty()) return 0;
    const auto middle = gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return *middle;
  }

  // Counts all slices by length before any is written, to find the shortest that fit.
  void FindShortest() {
    for (auto& [ids, lane] : lanes_) {
      std::stable_sort(lane.stretches.begin(), lane.stretches.end(),
                       [](const Stretch& a, const Stretch& b) { return a.end < b.end; });
      ShowLane(lane);
    }
    is_counting_ = false;
    uint64_t slices = 0;
    for (size_t bits = lengths_.size(); bits-- > 0;) {
      slices += lengths_[bits];
      if (slices <= most_slices_) continue;
      shortest_ = uint64_t{2} << bits;
      return;
    }
  }

  void WriteLane(uint32_t pid, uint32_t tid, const Lane& lane) {
    pid_ = pid;
    tid_ = tid;
    WriteName("process_name", lane.process_name);
    WriteName("thread_name", lane.name);
    ShowLane(lane);
  }

  void ShowLane(const Lane& lane) {
    uint64_t end = 0;  // end of the part of the thread that has been written
    for (Stretch stretch : lane.stretches) {
      stretch.begin = std::max(stretch.begin, end);
      // Each slice needs a length; otherwise viewers could not tell which of two is the outer one.
      stretch.end = std::max(stretch.end, stretch.begin + 1);
      // Tolerates small gaps, because a clock's samples come some microseconds early or late.
      const uint64_t jitter = (stretch.end - stretch.begin) / 4;
      if (stretch.begin > end + jitter) {
        CloseTo(0, end);
      } else {
        stretch.begin = end;
      }
      ShowSample(stretch);
      end = stretch.end;
    }
    CloseTo(0, end);
  }

  // Closes open calls that are not on the sample's stack, and opens new ones.
  void ShowSample(const Stretch& stretch) {
    const Row& row = profile_.rows[stretch.row];
    code_.GetStack(profile_, row.stack, functions_);
    std::reverse(functions_.begin(), functions_.end());
    if (const FunctionIndex state = StateOf(row.event); state != kNoState) {
      functions_.push_back(state);
    }
    size_t common = 0;
    while (common < std::min(open_.size(), functions_.size()) &&
           open_[common].function == functions_[common]) {
      ++common;
    }
    CloseTo(common, stretch.begin);
    for (size_t i = common; i < functions_.size(); ++i) {
      open_.push_back({functions_[i], stretch.begin});
    }
    for (Slice& slice : open_) slice.samples += row.count;
  }

  static constexpr FunctionIndex kNoState = UINT32_MAX;
  static constexpr FunctionIndex kBlocked = UINT32_MAX - 1;
  static constexpr FunctionIndex kPreempted = UINT32_MAX - 2;

  FunctionIndex StateOf(EventId event) const {
    const std::string_view name = profile_.text(profile_[event].name);
    if (name == kBlockedEvent) return kBlocked;
    return name == kPreemptedEvent ? kPreempted : kNoState;
  }

  void CloseTo(size_t depth, uint64_t end) {
    while (open_.size() > depth) {
      const Slice slice = open_.back();
      open_.pop_back();
      const uint64_t length = end - slice.begin;
      if (is_counting_) {
        ++lengths_[std::bit_width(length) - (length == 0 ? 0 : 1)];
      } else if (length < shortest_ && !open_.empty()) {
        ++left_out_;
      } else {
        WriteSlice(slice, end);
      }
    }
  }

  void WriteSlice(const Slice& slice, uint64_t end) {
    const bool is_state = slice.function >= kPreempted;
    std::string_view name = "\"[blocked]\"";
    if (slice.function == kPreempted) name = "\"[preempted]\"";
    if (!is_state) name = names_[slice.function];
    absl::StrAppend(
        &out_, "{\"ph\":\"X\",\"name\":", View(name), ",\"cat\":\"",
        View(is_state ? "off-CPU" : CategoryOf(code_[slice.function].kind)), "\",\"pid\":", pid_,
        ",\"tid\":", tid_, ",\"ts\":", Microseconds(SinceBegin(slice.begin)),
        ",\"dur\":", Microseconds(end - slice.begin), ",\"samples\":", slice.samples, "},\n");
  }

  static std::string_view CategoryOf(CodeKind kind) {
    switch (kind) {
      case CodeKind::kKernel:
        return "kernel";
      case CodeKind::kJit:
        return "JIT";
      default:
        return "user";
    }
  }

  void WriteName(std::string_view what, const std::string& name) {
    absl::StrAppend(&out_, "{\"ph\":\"M\",\"name\":\"", View(what), "\",\"pid\":", pid_,
                    ",\"tid\":", tid_, ",\"args\":{\"name\":", Quoted(name), "}},\n");
  }

  void WriteInstants(EventId event) {
    for (const ThreadRows& thread : RowsByThread(profile_, event)) {
      for (const uint32_t index : thread.rows) {
        const Row& row = profile_.rows[index];
        const CodeLine& leaf = code_.At(row.self).front();
        absl::StrAppend(&out_, "{\"ph\":\"i\",\"s\":\"t\",\"name\":",
                        event_names_[static_cast<uint32_t>(event)], ",\"pid\":", thread.pid,
                        ",\"tid\":", thread.tid,
                        ",\"ts\":", Microseconds(SinceBegin(TimeOf(profile_, index))),
                        ",\"args\":{\"function\":", names_[leaf.function],
                        ",\"samples\":", row.count, ",\"period\":", row.period, "}},\n");
      }
    }
  }

  uint64_t SinceBegin(uint64_t time) const { return time - std::min(time, begin_); }

  const Profile& profile_;
  const Origin& origin_;
  const uint64_t most_slices_;
  const CodeTable code_;
  const bool has_times_;
  std::vector<std::string> names_;  // [f]: name of function f, quoted
  std::vector<std::string> event_names_;
  std::vector<EventId> instant_events_;
  std::map<std::pair<uint32_t, uint32_t>, Lane> lanes_;  // keyed by pid and tid
  bool is_counting_ = true;
  std::array<uint64_t, 64> lengths_{};  // [b]: number of slices whose length has b + 1 bits
  uint64_t shortest_ = 0, left_out_ = 0;
  uint64_t begin_ = 0;  // begin of the timeline, in the samples' clock
  uint32_t pid_ = 0, tid_ = 0;
  std::vector<Slice> open_;
  std::vector<FunctionIndex> functions_;
  std::string out_;
};

}  // namespace

ChromeTraceFile ChromeTrace(const Profile& profile, const Origin& origin, uint64_t most_slices) {
  return TraceWriter(profile, origin, most_slices).Write();
}

}  // namespace profiler::exports
