#include "src/views/interchange/firefox.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/amount.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/views/interchange/code_table.h"
#include "src/views/interchange/json_text.h"
#include "src/views/interchange/string_index.h"
#include "src/views/interchange/thread_rows.h"

namespace profiler::exports {
namespace {

using Json = nlohmann::ordered_json;
using profile::EventId;
using profile::Frame;
using profile::FrameId;
using profile::Image;
using profile::Profile;
using profile::Row;
using profile::StackId;

constexpr int kVersion = 61;  // version of the processed format
// Version of the unprocessed format that the file claims to come from.
constexpr int kGeckoVersion = 36;
constexpr int kLibraryResource = 1;  // type of a library in the resource table
constexpr int kIntervalMarker = 1;   // a marker's phase
constexpr double kNanosecondsInAMillisecond = 1e6;

// The categories, as indices of meta.categories.
enum Category { kOther, kUser, kKernel, kJit, kOffCpu };

Json Categories() {
  const auto category = [](const char* name, const char* color) {
    return Json{{"name", name}, {"color", color}, {"subcategories", {"Other"}}};
  };
  return {category("Other", "grey"), category("User", "yellow"), category("Kernel", "orange"),
          category("JIT", "green"), category("Off-CPU", "blue")};
}

Category CategoryOf(CodeKind kind) {
  switch (kind) {
    case CodeKind::kKernel:
      return kKernel;
    case CodeKind::kJit:
      return kJit;
    case CodeKind::kOffCpu:
      return kOffCpu;
    default:
      return kUser;
  }
}

// Returns the id by which the viewer identifies an image at symbol servers: the first sixteen bytes
// of the build-id as a GUID, whose first three numbers are little-endian, and the age 0.
std::string BreakpadId(std::span<const std::byte> build_id) {
  constexpr size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string guid;
  for (const size_t at : kOrder) {
    guid += at < build_id.size() ? static_cast<char>(build_id[at]) : '\0';
  }
  return absl::StrCat(absl::AsciiStrToUpper(absl::BytesToHexString(guid)), "0");
}

// A table: an object whose columns have equal lengths.
class Table {
 public:
  explicit Table(std::initializer_list<const char*> columns) {
    for (const char* column : columns) value_[column] = Json::array();
  }
  // Adds a row: a value for each column, in their order.
  void Add(std::initializer_list<Json> row) {
    auto column = value_.begin();
    for (const Json& value : row) (column++)->push_back(value);
    ++length_;
  }
  size_t length() const { return length_; }
  Json Finish() && {
    value_["length"] = length_;
    return std::move(value_);
  }

 private:
  Json value_ = Json::object();
  size_t length_ = 0;
};

class FirefoxWriter {
 public:
  FirefoxWriter(const Profile& profile, const Origin& origin)
      : profile_(profile), origin_(origin), code_(profile), has_times_(HasTimes(profile)) {}

  Json Write() && {
    AddLibraries();
    AddFunctions();
    AddFrames();
    AddStacks();
    Json threads = Threads();
    return {{"meta", Meta()},
            {"libs", std::move(libs_)},
            {"shared", Shared()},
            {"threads", std::move(threads)}};
  }

 private:
  bool IsOffCpu(EventId event) const { return IsOffCpuEvent(profile_.text(profile_[event].name)); }
  bool IsTime(EventId event) const { return analysis::IsTime(profile_.text(profile_[event].name)); }

  Json Meta() const {
    Json meta = {
        {"interval", Interval()},
        {"startTime", static_cast<double>(origin_.WallClockOf(origin_.first_sample)) /
                          kNanosecondsInAMillisecond},
        {"processType", 0},
        {"product", origin_.command.empty() ? "recording" : ValidUtf8(origin_.command)},
        {"stackwalk", 1},
        {"version", kGeckoVersion},
        {"preprocessedProfileVersion", kVersion},
        {"symbolicated", true},
        {"importedFrom", origin_.producer},
        {"categories", Categories()},
        {"sampleUnits", {{"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "µs"}}},
        {"markerSchema",
         {{{"name", "off-cpu"},
           {"display", {"marker-chart", "marker-table", "timeline-overview"}},
           {"tooltipLabel", "{marker.name}"},
           {"chartLabel", "{marker.data.function}"},
           {"tableLabel", "{marker.data.function}"},
           {"fields", {{{"key", "function"}, {"label", "Where"}, {"format", "string"}}}}}}},
    };
    if (!origin_.os.empty()) meta["oscpu"] = ValidUtf8(origin_.os);
    if (!origin_.machine.empty()) meta["abi"] = ValidUtf8(origin_.machine);
    return meta;
  }

  // Returns the milliseconds between samples of the first event that measures time on the CPU.
  // Returns 1 if there is no such event.
  double Interval() const {
    for (const profile::Event& event : profile_.events) {
      const std::string_view name = profile_.text(event.name);
      if (event.samples == 0 || !analysis::IsTime(name) || IsOffCpuEvent(name)) continue;
      return static_cast<double>(event.period) / static_cast<double>(event.samples) /
             kNanosecondsInAMillisecond;
    }
    return 1;
  }

  void AddLibraries() {
    for (const Image& image : profile_.images) {
      const std::string path = ImagePath(profile_, image);
      const std::string name(BaseName(path));
      resources_.Add({libs_.size(), strings_.Of(name), nullptr, kLibraryResource});
      libs_.push_back({{"arch", ValidUtf8(origin_.machine)},
                       {"name", name},
                       {"path", path},
                       {"debugName", name},
                       {"debugPath", path},
                       {"breakpadId", BreakpadId(image.build_id)},
                       {"codeId", image.build_id.empty() ? Json() : Json(HexOf(image.build_id))}});
    }
  }

  void AddFunctions() {
    absl::flat_hash_map<std::string, size_t> sources;
    for (const CodeFunction& function : code_.functions()) {
      Json source;
      if (!function.file.empty()) {
        const auto [known, added] = sources.try_emplace(function.file, sources_.length());
        source = known->second;
        if (added) sources_.Add({nullptr, strings_.Of(function.file), 1, 1, nullptr});
      }
      functions_.Add({strings_.Of(function.name), false, false,
                      static_cast<uint32_t>(function.image), source, nullptr, nullptr});
    }
  }

  // Adds the frames. For each function of one of our frames, the viewer has a frame of its own.
  void AddFrames() {
    first_frame_.reserve(profile_.frames.size());
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[i];
      first_frame_.push_back(static_cast<uint32_t>(frames_.length()));
      const auto lines = code_.At(FrameId{i});
      const Category category = CategoryOf(KindOf(profile_[frame.image], frame.mode));
      for (size_t at = lines.size(); at-- > 0;) {
        const CodeLine& line = lines[at];
        frames_.Add({frame.place.in_file ? Json(profile_.AddressOf(frame)) : Json(-1),
                     lines.size() - 1 - at, category, 0, line.function, nullptr, nullptr,
                     line.line == 0 ? Json() : Json(line.line), nullptr});
      }
    }
  }

  // Adds the stacks; callers have lower numbers than callees.
  void AddStacks() {
    stack_of_.reserve(profile_.stacks.size());
    for (const profile::StackNode& node : profile_.stacks) {
      Json prefix;
      if (node.parent != profile::kNoStack) prefix = stack_of_[static_cast<uint32_t>(node.parent)];
      const uint32_t first = first_frame_[static_cast<uint32_t>(node.frame)];
      for (size_t i = 0; i < code_.At(node.frame).size(); ++i) {
        const size_t stack = stacks_.length();
        stacks_.Add({first + i, prefix});
        prefix = stack;
      }
      stack_of_.push_back(static_cast<uint32_t>(stacks_.length() - 1));
    }
  }

  Json Shared() {
    Table symbols({"libIndex", "address", "name", "functionSize"});
    return {{"stackTable", std::move(stacks_).Finish()},
            {"frameTable", std::move(frames_).Finish()},
            {"funcTable", std::move(functions_).Finish()},
            {"resourceTable", std::move(resources_).Finish()},
            {"nativeSymbols", std::move(symbols).Finish()},
            {"sources", std::move(sources_).Finish()},
            {"stringArray", StringArray()}};
  }

  Json StringArray() const {
    Json array = Json::array();
    for (uint32_t i = 0; i < strings_.size(); ++i) array.push_back(strings_[i]);
    return array;
  }

  Json Threads() {
    // Times on and off the CPU share one list; each other event has its own lists.
    std::vector<std::vector<EventId>> lists;
    const std::vector<EventId> events = EventsWithRows(profile_);
    const bool joins =
        std::any_of(events.begin(), events.end(), [&](EventId event) { return IsOffCpu(event); });
    for (const EventId event : events) {
      if (joins && IsTime(event) && !lists.empty() && IsTime(lists.front().front())) {
        lists.front().push_back(event);
      } else if (joins && IsTime(event)) {
        lists.insert(lists.begin(), {event});
      } else {
        lists.push_back({event});
      }
    }
    Json threads = Json::array();
    for (const std::vector<EventId>& list : lists) AddThreadsOf(list, lists.size() > 1, threads);
    return threads;
  }

  void AddThreadsOf(const std::vector<EventId>& list, bool name_event, Json& threads) {
    std::map<std::pair<uint32_t, uint32_t>, ThreadRows> joined;
    for (const EventId event : list) {
      for (ThreadRows& thread : RowsByThread(profile_, event)) {
        const auto [at, added] =
            joined.try_emplace({thread.pid, thread.tid == thread.pid ? 0 : thread.tid}, thread);
        if (added) continue;
        std::vector<uint32_t>& rows = at->second.rows;
        rows.insert(rows.end(), thread.rows.begin(), thread.rows.end());
      }
    }
    const std::string event =
        name_event ? absl::StrCat(" (", ValidUtf8(profile_.text(profile_[list.front()].name)), ")")
                   : "";
    for (auto& [ids, thread] : joined) {
      std::stable_sort(thread.rows.begin(), thread.rows.end(), [&](uint32_t a, uint32_t b) {
        return TimeOf(profile_, a) < TimeOf(profile_, b);
      });
      threads.push_back(Thread(thread, event));
    }
  }

  Json Thread(const ThreadRows& thread, const std::string& event) {
    const double end = Milliseconds(origin_.last_sample);
    return {{"name", thread.name + event},
            {"isMainThread", thread.pid == thread.tid},
            {"processType", "default"},
            {"processName", thread.process_name},
            {"processStartupTime", 0},
            {"processShutdownTime", end},
            {"registerTime", 0},
            {"unregisterTime", end},
            {"pausedRanges", Json::array()},
            {"showMarkersInTimeline", true},
            {"pid", absl::StrCat(thread.pid)},
            {"tid", thread.tid},
            {"samples", Samples(thread)},
            {"markers", Markers(thread)}};
  }

  double Milliseconds(uint64_t time) const {
    const uint64_t first = origin_.first_sample;
    return time < first ? -static_cast<double>(first - time) / kNanosecondsInAMillisecond
                        : static_cast<double>(time - first) / kNanosecondsInAMillisecond;
  }

  Json Samples(const ThreadRows& thread) const {
    const bool has_off_cpu = std::any_of(thread.rows.begin(), thread.rows.end(), [&](uint32_t row) {
      return IsOffCpu(profile_.rows[row].event);
    });
    Json stacks = Json::array(), times = Json::array(), weights = Json::array(),
         cpu = Json::array();
    bool weighs = has_off_cpu;
    uint64_t before = 0;
    for (size_t i = 0; i < thread.rows.size(); ++i) {
      const Row& row = profile_.rows[thread.rows[i]];
      const uint64_t time = TimeOf(profile_, thread.rows[i]);
      stacks.push_back(stack_of_[static_cast<uint32_t>(row.stack)]);
      times.push_back(has_times_ ? Milliseconds(time) : static_cast<double>(i));
      weighs = weighs || row.count != 1;
      weights.push_back(has_off_cpu
                            ? Json(static_cast<double>(row.period) / kNanosecondsInAMillisecond)
                            : Json(row.count));
      // CPU time since the previous sample, in microseconds.
      const bool on_cpu = IsTime(row.event) && !IsOffCpu(row.event);
      cpu.push_back(i == 0 || !on_cpu ? Json(0) : Json(std::min(row.period, time - before) / 1000));
      before = time;
    }
    Json samples = {{"stack", std::move(stacks)},
                    {"time", std::move(times)},
                    {"weight", weighs ? std::move(weights) : Json()},
                    {"weightType", has_off_cpu ? "tracing-ms" : "samples"},
                    {"length", thread.rows.size()}};
    const bool is_time = !thread.rows.empty() && IsTime(profile_.rows[thread.rows[0]].event);
    if (has_times_ && is_time) samples["threadCPUDelta"] = std::move(cpu);
    return samples;
  }

  Json Markers(const ThreadRows& thread) {
    Table markers({"data", "name", "startTime", "endTime", "phase", "category"});
    for (const uint32_t index : thread.rows) {
      const Row& row = profile_.rows[index];
      if (!has_times_ || !IsOffCpu(row.event)) continue;
      const bool blocked = profile_.text(profile_[row.event].name) == kBlockedEvent;
      const double end = Milliseconds(TimeOf(profile_, index));
      const double length = static_cast<double>(row.period) / kNanosecondsInAMillisecond;
      markers.Add(
          {{{"type", "off-cpu"},
            {"function", code_[code_.At(row.self)[0].function].name},
            {"cause",
             {{"time", end - length}, {"stack", stack_of_[static_cast<uint32_t>(row.stack)]}}}},
           strings_.Of(blocked ? "Off-CPU" : "Preempted"),
           end - length,
           end,
           kIntervalMarker,
           kOffCpu});
    }
    return std::move(markers).Finish();
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const bool has_times_;
  StringIndex strings_;
  Json libs_ = Json::array();
  Table resources_{"lib", "name", "host", "type"};
  Table sources_{"id", "filename", "startLine", "startColumn", "sourceMapURL"};
  Table functions_{"name",   "isJS",       "relevantForJS", "resource",
                   "source", "lineNumber", "columnNumber"};
  Table frames_{"address",      "inlineDepth",   "category", "subcategory", "func",
                "nativeSymbol", "innerWindowID", "line",     "column"};
  Table stacks_{"frame", "prefix"};
  std::vector<uint32_t> first_frame_;  // [f]: the viewer's outermost frame for our frame f
  std::vector<uint32_t> stack_of_;     // [s]: the viewer's innermost stack for our stack s
};

}  // namespace

nlohmann::ordered_json FirefoxJson(const Profile& profile, const Origin& origin) {
  return FirefoxWriter(profile, origin).Write();
}

std::string Firefox(const Profile& profile, const Origin& origin) {
  return Gzip(
      FirefoxJson(profile, origin).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace profiler::exports
