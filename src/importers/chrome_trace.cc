#include "src/importers/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/importers/cpu_profile.h"
#include "src/importers/json_tree.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::StackId;
using Value = JsonTree::Value;

// Pid and tid of a thread.
using ThreadKey = std::pair<uint32_t, uint32_t>;

struct Slice {
  int64_t begin = 0, end = 0;  // in ns
  std::string_view name;
};

// Returns the number of a process or thread, which some writers write as text.
uint32_t IdOf(Value value) {
  if (const auto number = value.index()) return static_cast<uint32_t>(*number);
  uint32_t number = 0;
  return absl::SimpleAtoi(std::string(value.text()), &number) ? number : 0;
}

std::string TextOrNumber(Value value) {
  const auto number = value.number();
  return number ? absl::StrCat(*number) : std::string(value.text());
}

class TraceReader {
 public:
  explicit TraceReader(ProfileMaker& maker) : maker_(maker) {}

  absl::Status Read(const std::vector<Value>& events) {
    for (const Value event : events) Take(event);
    if (!profiles_.empty()) return AddProfiles();
    for (auto& [thread, track] : tracks_) AddTrack(thread, track);
    Warn();
    return absl::OkStatus();
  }

 private:
  struct Track {
    std::vector<Slice> slices;
    std::vector<Slice> open;  // slices that have begun, but not ended
    int64_t last = 0;         // time of the last event
  };
  struct ProfilePieces {
    ThreadKey thread;
    CpuProfileParts parts;
  };

  void Take(Value event) {
    const std::string_view phase = event["ph"].text(), name = event["name"].text();
    const ThreadKey thread = {IdOf(event["pid"]), IdOf(event["tid"])};
    if (phase == "M") {
      const std::string_view value = event["args"]["name"].text();
      if (name == "thread_name") names_[thread] = value;
      if (name == "process_name") process_names_[thread.first] = value;
    } else if (name == "Profile" || name == "ProfileChunk" || name == "CpuProfile") {
      TakeProfile(event, thread, /*begins=*/name != "ProfileChunk");
    } else if (phase == "X" || phase == "B" || phase == "E") {
      TakeSlice(event, phase[0], thread);
    }
  }

  // Adds a piece of a CPU profile. All pieces have the id of the profile, and may come from another
  // thread than the profiled one.
  void TakeProfile(Value event, const ThreadKey& thread, bool begins) {
    const Value data = event["args"]["data"];
    const auto [known, is_new] =
        profiles_.try_emplace(std::pair(thread.first, TextOrNumber(event["id"])));
    ProfilePieces& pieces = known->second;
    if (is_new || begins) pieces.thread = thread;
    CpuProfileParts& parts = pieces.parts;
    const Value profile = data["cpuProfile"];
    const auto append = [](Value list, std::vector<Value>& to) {
      const std::vector<Value> elements = list.elements();
      to.insert(to.end(), elements.begin(), elements.end());
    };
    append(profile["nodes"], parts.nodes);
    append(profile["samples"], parts.samples);
    append(data["timeDeltas"].exists() ? data["timeDeltas"] : profile["timeDeltas"],
           parts.time_deltas);
    for (const Value place : {data, profile}) {
      if (const auto start = place["startTime"].number()) parts.start = start;
      if (const auto end = place["endTime"].number(); end && *end != 0) parts.end = end;
    }
  }

  absl::Status AddProfiles() {
    for (auto& [key, pieces] : profiles_) {
      pieces.parts.thread = ThreadOf(pieces.thread);
      PROFILER_RETURN_IF_ERROR(AddCpuProfile(pieces.parts, maker_));
    }
    return absl::OkStatus();
  }

  static bool ToNanoseconds(Value microseconds, int64_t* nanoseconds) {
    const auto number = microseconds.number();
    if (!number) return false;
    const double scaled = *number * kNanosecondsInAMicrosecond;
    if (!(std::abs(scaled) < kMostExactNumber)) return false;
    *nanoseconds = std::llround(scaled);
    return true;
  }

  void TakeSlice(Value event, char phase, const ThreadKey& thread) {
    Slice slice{.name = event["name"].text()};
    int64_t duration = 0;
    if (!ToNanoseconds(event["ts"], &slice.begin) ||
        (phase == 'X' && (!ToNanoseconds(event["dur"], &duration) || duration < 0))) {
      ++left_out_;
      return;
    }
    Track& track = tracks_[thread];
    slice.end = slice.begin + duration;
    track.last = std::max(track.last, slice.end);
    if (phase == 'X') {
      track.slices.push_back(slice);
    } else if (phase == 'B') {
      track.open.push_back(slice);
    } else if (track.open.empty() || track.open.back().begin > slice.begin) {
      ++left_out_;
    } else {
      track.open.back().end = slice.begin;
      track.slices.push_back(track.open.back());
      track.open.pop_back();
    }
  }

  // Adds the slices of a thread. A slice without an end lasts until the thread's last event.
  void AddTrack(const ThreadKey& thread, Track& track) {
    for (Slice& slice : track.open) {
      slice.end = track.last;
      track.slices.push_back(slice);
    }
    std::stable_sort(track.slices.begin(), track.slices.end(), [](const Slice& a, const Slice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    struct Open {
      int64_t end;
      StackId stack;
    };
    std::vector<Open> open;
    int64_t at = 0;
    const profile::ThreadId id = ThreadOf(thread);
    const auto run_to = [&](int64_t time) {
      while (!open.empty() && open.back().end <= time) {
        AddTime(id, open.back().stack, at, open.back().end);
        at = std::max(at, open.back().end);
        open.pop_back();
      }
      if (!open.empty()) AddTime(id, open.back().stack, at, time);
      at = std::max(at, time);
    };
    for (const Slice& slice : track.slices) {
      run_to(slice.begin);
      // A slice that outlasts its caller is cut at the caller's end, because a thread executes only
      // one function at a time.
      const int64_t end = open.empty() ? slice.end : std::min(slice.end, open.back().end);
      cut_ += end != slice.end;
      const StackId caller = open.empty() ? profile::kNoStack : open.back().stack;
      open.push_back({end, maker_.Stack(caller, maker_.Function(slice.name))});
    }
    run_to(track.last);
  }

  void AddTime(profile::ThreadId thread, StackId stack, int64_t begin, int64_t end) {
    if (end <= begin) return;
    maker_.Add({.event = maker_.Event("time"),
                .thread = thread,
                .stack = stack,
                .period = static_cast<uint64_t>(end - begin),
                .time = static_cast<uint64_t>(std::max<int64_t>(begin, 0))});
  }

  profile::ThreadId ThreadOf(const ThreadKey& thread) {
    std::string_view name = names_[thread];
    if (name.empty()) name = process_names_[thread.first];
    return maker_.Thread(thread.first, thread.second, name.empty() ? "[unknown]" : name);
  }

  void Warn() {
    if (left_out_ != 0) {
      maker_.Warn(absl::StrCat(
          "slices without a begin or a time, or with a negative one, were left out: ", left_out_));
    }
    if (cut_ != 0) {
      maker_.Warn(absl::StrCat(
          "slices that end after the slice that they began in were cut there: ", cut_));
    }
  }

  ProfileMaker& maker_;
  std::map<ThreadKey, Track> tracks_;
  absl::flat_hash_map<ThreadKey, std::string_view> names_;
  absl::flat_hash_map<uint32_t, std::string_view> process_names_;
  std::map<std::pair<uint32_t, std::string>, ProfilePieces> profiles_;  // keyed by pid and id
  size_t left_out_ = 0, cut_ = 0;
};

// Parses a trace. The end of the array is missing if its writer was interrupted.
absl::StatusOr<JsonTree> ParseTrace(std::string_view text) {
  absl::StatusOr<JsonTree> whole = JsonTree::Parse(text);
  if (whole.ok() || !Trimmed(text).starts_with('[')) return whole;
  const size_t last = text.find_last_not_of(" \t\r\n,");
  absl::StatusOr<JsonTree> ended =
      JsonTree::Parse(absl::StrCat(std::string(text.substr(0, last + 1)), "]"));
  return ended.ok() ? std::move(ended) : std::move(whole);
}

}  // namespace

absl::Status ReadChromeTrace(std::string_view text, ProfileMaker& maker) {
  PROFILER_ASSIGN_OR_RETURN(const JsonTree tree, ParseTrace(text));
  const Value root = tree.root();
  return TraceReader(maker).Read(
      (root.kind() == JsonTree::Kind::kArray ? root : root["traceEvents"]).elements());
}

bool LooksLikeChromeTrace(std::string_view text) {
  const size_t first = text.find_first_of("[{");
  return Contains(text, "\"traceEvents\"") ||
         (first != std::string_view::npos && text[first] == '[' && Contains(text, "\"ph\""));
}

}  // namespace profiler::importers
