#include "src/views/report/event_tables.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/names.h"
#include "src/views/report/report.h"

namespace profiler::report {

using profile::EventId;
using profile::Profile;

namespace {

const EventGroup* GroupOf(const ReportOptions& options, EventId event) {
  const auto group = std::find_if(options.groups.begin(), options.groups.end(),
                                  [&](const EventGroup& group) { return group.Has(event); });
  return group == options.groups.end() ? nullptr : &*group;
}

// Returns the events with samples in the table that `event` belongs to. Branches have a table of
// their own.
std::vector<EventId> EventsInTableOf(const Profile& profile, const ReportOptions& options,
                                     EventId event) {
  const EventGroup* group = options.join_groups ? GroupOf(options, event) : nullptr;
  if (group == nullptr || profile[event].branch_stacks) {
    return profile[event].samples == 0 ? std::vector<EventId>() : std::vector{event};
  }
  std::vector<EventId> events;
  for (const EventId member : group->events) {
    const profile::Event& counted = profile[member];
    if (counted.samples != 0 && !counted.branch_stacks) events.push_back(member);
  }
  return events;
}

}  // namespace

std::vector<std::vector<EventId>> TablesOf(const Profile& profile, const ReportOptions& options) {
  std::vector<std::vector<EventId>> tables;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    std::vector<EventId> events = EventsInTableOf(profile, options, EventId{i});
    if (!events.empty() && events.front() == EventId{i}) tables.push_back(std::move(events));
  }
  return tables;
}

void AppendTotals(const Histogram& hist, const ReportOptions& options,
                  const std::vector<EventId>& events, std::string& out) {
  // An event and its latency have the same samples, so only one of them is counted.
  Weight total = options.latency == Latency::kFirst ? Weight() : hist.total();
  if (options.latency != Latency::kSecond) {
    for (const Weight& member : hist.member_totals()) total += member;
  }
  std::vector<EventId> counted = events;
  if (options.latency == Latency::kFirst) counted = {events.back()};
  if (options.latency == Latency::kSecond) counted = {events.front()};
  AppendSampleCount(hist.profile(), options, counted, total.count, out);
  absl::StrAppend(&out, options.by_access_cost ? "# Total weight : " : "# Event count (approx.): ",
                  total.period, "\n");
  if (options.column_filter.socket) {
    absl::StrAppend(&out, "# Processor Socket: ", *options.column_filter.socket, "\n");
  }
  absl::StrAppend(&out, NamesLine(hist.profile(), events.front()), "#\n");
}

void AppendSampleCount(const Profile& profile, const ReportOptions& options,
                       const std::vector<EventId>& events, uint64_t samples, std::string& out) {
  const EventGroup* group = GroupOf(options, events.front());
  const bool leads = group != nullptr && group->events.size() > 1 &&
                     options.latency == Latency::kNone &&
                     (events.size() > 1 || group->events.front() == events.front());
  const bool named = leads && options.join_groups && !group->name.empty();
  absl::StrAppend(&out, "# Samples: ", AbbreviatedCount(samples), " of event",
                  leads ? "s '" : " '");
  if (named) AppendPrintable(group->name + " { ", out);
  std::string_view before;
  for (const EventId event : events) {
    AppendPrintable(profile.text(profile[event].name), out.append(before));
    before = ", ";
  }
  absl::StrAppend(&out, named ? " }" : "", "'");
  if (!options.time_slices.empty()) {
    AppendPrintable(" (time slices: " + options.time_slices + ")", out);
  }
  out += '\n';
}

std::vector<uint32_t> ListedRows(const Histogram& hist, const ReportOptions& options) {
  std::vector<uint32_t> listed;
  const size_t most = options.most_rows == 0 ? hist.rows().size() : options.most_rows;
  for (uint32_t row = 0; row < hist.rows().size() && listed.size() < most; ++row) {
    const double percent = Percent(hist.rows()[row].children.period, hist.total().period);
    // Compares as floats, because perf does.
    if (static_cast<float>(percent) < static_cast<float>(options.percent_limit)) continue;
    if (hist.IsShown(row)) listed.push_back(row);
  }
  return listed;
}

}  // namespace profiler::report
