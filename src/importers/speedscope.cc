#include "src/importers/speedscope.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/importers/firefox.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::FrameId;
using profile::StackId;
using Value = JsonTree::Value;

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr Unit kTimes[] = {
    {"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};

// Rounds an amount; returns nothing if `value` is negative, too large or not a number.
std::optional<uint64_t> Amount(double value) {
  if (!(value >= 0) || value > kMostExactNumber) return std::nullopt;
  return static_cast<uint64_t>(std::llround(value));
}

class SpeedscopeReader {
 public:
  explicit SpeedscopeReader(ProfileMaker& maker) : maker_(maker) {}

  absl::Status Read(Value root) {
    for (const Value frame : root["shared"]["frames"].elements()) AddFrame(frame);
    for (const Value profile : root["profiles"].elements()) {
      PROFILER_RETURN_IF_ERROR(AddProfile(profile));
    }
    if (left_out_ != 0) {
      maker_.Warn(absl::StrCat(left_out_, " weights are not valid amounts and were left out"));
    }
    return absl::OkStatus();
  }

 private:
  void AddFrame(Value frame) {
    const FunctionLine function{.name = frame["name"].text(),
                                .file = frame["file"].text(),
                                .line = static_cast<uint32_t>(frame["line"].index().value_or(0))};
    frames_.push_back(maker_.Frame({.functions = {&function, 1}}));
  }

  absl::Status AddProfile(Value profile) {
    ++profile_;
    const std::string_view unit = profile["unit"].text();
    const auto* const time = std::ranges::find(kTimes, unit, &Unit::name);
    is_time_ = time != std::end(kTimes);
    scale_ = is_time_ ? time->nanoseconds : 1;
    const bool counts = unit == "none" || unit.empty();
    event_ = maker_.Event(is_time_ ? "time" : counts ? "samples" : unit);
    counts_ = counts;
    const std::string_view name = profile["name"].text();
    thread_ = maker_.NamedThread(name.empty() ? "[unknown]" : name);
    return profile["type"].text() == "evented" ? AddEvents(profile) : AddSamples(profile);
  }

  absl::Status AddSamples(Value profile) {
    double at = profile["startValue"].number().value_or(0);
    const std::vector<Value> samples = profile["samples"].elements();
    const std::vector<Value> weights = profile["weights"].elements();
    for (size_t i = 0; i < samples.size(); ++i) {
      StackId stack = profile::kNoStack;
      for (const Value index : samples[i].elements()) {
        PROFILER_ASSIGN_OR_RETURN(const FrameId frame, FrameAt(index));
        stack = maker_.Stack(stack, frame);
      }
      const double weight = i < weights.size() ? weights[i].number().value_or(-1) : 1;
      Add(stack, at, weight);
      at += std::max(weight, 0.0);
    }
    return absl::OkStatus();
  }

  struct TimedEvent {
    double at = 0;
    bool opens = false;
    FrameId frame{};
  };

  // Adds an evented profile. The frames that are open between two events are the stack during that
  // time.
  absl::Status AddEvents(Value profile) {
    std::vector<TimedEvent> at_once;  // events at the same time
    double last = profile["startValue"].number().value_or(0);
    open_.clear();
    for (const Value event : profile["events"].elements()) {
      const double at = std::max(event["at"].number().value_or(last), last);
      PROFILER_ASSIGN_OR_RETURN(const FrameId frame, FrameAt(event["frame"]));
      if (at > last) {
        PROFILER_RETURN_IF_ERROR(Apply(at_once));
        at_once.clear();
        if (!open_.empty()) Add(open_.back().stack, last, at - last);
        last = at;
      }
      at_once.push_back({at, event["type"].text() == "O", frame});
    }
    return Apply(at_once);
  }

  // Opens and closes the frames of one moment. Frames close from the leaf outwards, because some
  // writers list the callers first.
  absl::Status Apply(const std::vector<TimedEvent>& at_once) {
    std::vector<FrameId> closing;  // frames that were open before this moment
    std::vector<FrameId> opening;
    for (const TimedEvent& event : at_once) {
      if (event.opens) {
        opening.push_back(event.frame);
      } else if (const auto found = std::find(opening.rbegin(), opening.rend(), event.frame);
                 found != opening.rend()) {
        opening.erase(std::next(found).base());  // the frame has opened and closed at one moment
      } else {
        closing.push_back(event.frame);
      }
    }
    while (!closing.empty()) {
      const auto found = open_.empty()
                             ? closing.end()
                             : std::find(closing.begin(), closing.end(), open_.back().frame);
      if (found == closing.end()) {
        return absl::DataLossError(
            absl::StrCat("profile ", profile_, ": at ", at_once.front().at,
                         " a frame closes that is not open, or before a frame that it called"));
      }
      closing.erase(found);
      open_.pop_back();
    }
    for (const FrameId frame : opening) {
      const StackId caller = open_.empty() ? profile::kNoStack : open_.back().stack;
      open_.push_back({frame, maker_.Stack(caller, frame)});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<FrameId> FrameAt(Value index) const {
    const auto number = index.index();
    if (number && *number < frames_.size()) return frames_[*number];
    return absl::DataLossError(absl::StrCat("profile ", profile_,
                                            ": it names a frame that is not among the ",
                                            frames_.size(), " of the file"));
  }

  void Add(StackId stack, double at, double weight) {
    const auto period = Amount(weight * scale_);
    if (!period) {
      ++left_out_;
      return;
    }
    SampleSpec sample{.event = event_, .thread = thread_, .stack = stack, .period = *period};
    sample.count = counts_ ? *period : 1;
    if (is_time_) sample.time = Amount(at * scale_);
    if (*period != 0) maker_.Add(sample);
  }

  struct OpenFrame {
    FrameId frame{};
    StackId stack = profile::kNoStack;
  };

  ProfileMaker& maker_;
  std::vector<FrameId> frames_;
  std::vector<OpenFrame> open_;  // open frames of an evented profile
  size_t profile_ = 0;           // number of the profile in the file, from 1 on
  profile::EventId event_{};
  profile::ThreadId thread_{};
  bool is_time_ = false, counts_ = false;
  double scale_ = 1;
  size_t left_out_ = 0;
};

}  // namespace

absl::Status ReadSpeedscope(Value root, ProfileMaker& maker) {
  return SpeedscopeReader(maker).Read(root);
}

bool LooksLikeSpeedscope(std::string_view text) {
  if (Contains(text, "speedscope.app/file-format-schema")) return true;
  return Contains(text, "\"shared\"") && Contains(text, "\"profiles\"") && !LooksLikeFirefox(text);
}

}  // namespace profiler::importers
