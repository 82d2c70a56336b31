// profiler evlist and profiler buildid-list

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_event/describe.h"
#include "src/profile/profile.h"

namespace profiler::cli {
namespace {

using perf_data::EventDescription;

struct EvlistArguments {
  std::string input = "perf.data";
  bool verbose = false, rate = false, groups = false;
};

std::string Details(const EventDescription& event) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : perf_event::DescribeAttr(event.attr)) {
    fields.push_back(absl::StrCat(name, ": ", value));
  }
  return absl::StrCat(event.name, ": ", absl::StrJoin(fields, ", "));
}

std::string Rate(const EventDescription& event) {
  const bool is_frequency = event.attr.has(perf_event::kAttrFreq);
  return absl::StrCat(event.name, ": sample_", is_frequency ? "freq" : "period", "=",
                      event.attr.sample_period);
}

std::string EventLine(const EventDescription& event, const EvlistArguments& arguments) {
  if (arguments.verbose) return Details(event) + "\n";
  return (arguments.rate ? Rate(event) : event.name) + "\n";
}

// Returns "name{a,b}" for the `count` events from `leader` on.
std::string GroupLine(const std::vector<EventDescription>& events, size_t leader, size_t count,
                      const std::string& name) {
  std::vector<std::string> members;
  for (size_t i = leader; i < leader + count; ++i) members.push_back(events[i].name);
  return absl::StrCat(name, "{", absl::StrJoin(members, ","), "}\n");
}

// Returns a line per event, or with --group a line per group.
std::string EventLines(const perf_data::Recording& recording, const EvlistArguments& arguments) {
  const std::vector<EventDescription>& events = recording.events();
  std::map<size_t, perf_data::EventGroup> groups;  // keyed by the leader's index
  if (const auto found = perf_data::ReadGroups(recording.features()); found && arguments.groups) {
    for (const perf_data::EventGroup& group : *found) groups.emplace(group.leader, group);
  }
  std::string lines;
  for (size_t i = 0; i < events.size();) {
    const perf_data::EventGroup& group = groups[i];
    const size_t count = std::clamp<size_t>(group.members, 1, events.size() - i);
    lines += count > 1 ? GroupLine(events, i, count, group.name) : EventLine(events[i], arguments);
    i += count;
  }
  return lines;
}

int WriteEvents(const EvlistArguments& arguments) {
  const auto recording = OpenRecordingOrPrint(arguments.input);
  if (recording == nullptr) return kExitFailure;
  Output output("-");
  output.Write(EventLines(*recording, arguments));
  return Finish(*recording, absl::OkStatus(), output);
}

struct BuildIdArguments {
  std::string input = "perf.data";
  bool with_hits = false;
};

// True for code with an image of its own, in a file or in the kernel.
bool HasImage(symbolize::ImageKind kind) {
  return kind == symbolize::ImageKind::kUser || kind == symbolize::ImageKind::kKernel ||
         kind == symbolize::ImageKind::kModule || kind == symbolize::ImageKind::kVdso;
}

// Returns the long names of images that contain samples, or callers in their call chains.
std::set<std::string_view> HitImages(const profile::Profile& profile) {
  std::set<std::string_view> images;
  for (const profile::Frame& frame : profile.frames) {
    const profile::Image& image = profile[frame.image];
    if (HasImage(image.kind)) images.insert(profile.text(image.long_name));
  }
  return images;
}

// Writes the build-ids of a recording. They are in a section after the samples, or in the records
// of mappings.
int WriteBuildIds(const BuildIdArguments& arguments) {
  const auto loaded = naming::LoadUnnamedProfile(arguments.input, {.open = OpenOptionsFor()});
  if (!loaded.ok()) {
    PrintError(loaded.status());
    return kExitFailure;
  }
  std::map<std::string_view, std::string> ids;  // keyed by image
  for (const profile::Image& image : loaded->profile.images) {
    if (!image.build_id.empty()) ids[loaded->profile.text(image.long_name)] = HexOf(image.build_id);
  }
  for (const perf_data::BuildIdEntry& entry : loaded->recording->features().build_ids) {
    ids.try_emplace(entry.filename, HexOf(entry.build_id));
  }
  const std::set<std::string_view> hits = HitImages(loaded->profile);
  if (arguments.with_hits) {
    std::erase_if(ids, [&](const auto& entry) { return !hits.contains(entry.first); });
    for (const std::string_view image : hits) ids.try_emplace(image);  // images without a build-id
  }
  Output output("-");
  for (const auto& [image, id] : ids) {
    std::string line = absl::StrFormat("%-40s ", id);
    AppendPrintable(image, line);
    output.Write(line + "\n");
  }
  return Finish(*loaded->recording, loaded->reading, output);
}

}  // namespace

void AddEvlistCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand("evlist", "List the events of a recording");
  auto arguments = std::make_shared<EvlistArguments>();
  EvlistArguments& a = *arguments;
  command.AddOption("-i,--input", a.input, "recording; - for standard input").ShowDefault();
  command.AddFlag("-v,--verbose", a.verbose, "show all fields of perf_event_attr");
  command.AddFlag("-F,--freq", a.rate, "show sampling frequencies and periods");
  command.AddFlag("-g,--group", a.groups, "show which events form a group");
  commands[&command] = [arguments] { return WriteEvents(*arguments); };
}

void AddBuildIdListCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand("buildid-list", "List the build-ids of a recording");
  auto arguments = std::make_shared<BuildIdArguments>();
  BuildIdArguments& a = *arguments;
  command.AddOption("-i,--input", a.input, "recording; - for standard input").ShowDefault();
  command.AddFlag("-H,--with-hits", a.with_hits,
                  "show only images with samples or callers of samples");
  commands[&command] = [arguments] { return WriteBuildIds(*arguments); };
}

}  // namespace profiler::cli
