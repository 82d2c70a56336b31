#include "src/fleet/comparison/fleet_diff.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/fleet/comparison/compare_hosts.h"
#include "src/fleet/comparison/host_run.h"
#include "src/fleet/query/event_rule.h"
#include "src/fleet/query/source_address.h"
#include "src/views/diff/diff_json.h"
#include "src/views/diff/diff_text.h"

namespace profiler::fleet {
namespace {

using Windows = std::vector<Window>;

// Returns a run per host with samples of the event.
std::vector<diff::Run> RunsOf(const Windows& windows, const std::string& event) {
  std::vector<diff::Run> runs;
  for (const Window& window : windows) {
    diff::Run run = RunOfHost(window, event);
    if (run.measured.samples > 0) runs.push_back(std::move(run));
  }
  return runs;
}

absl::StatusOr<Windows> HostsOf(Source& source, const FleetDiffRequest& request,
                                const std::vector<std::string>& terms, std::string_view option,
                                std::vector<std::string>* notes) {
  StacksQuestion question = {.selection = request.selection, .tells_hosts_apart = true};
  for (const std::string& term : terms) {
    const absl::Status added = AddTerm(term, request.now, &question.selection);
    if (!added.ok()) return Prefixed(absl::StrCat(std::string(option), ": "), added);
  }
  auto windows = source.Stacks(question, notes);
  if (!windows.ok()) {
    return Prefixed(absl::StrCat(std::string(option), " ", absl::StrJoin(terms, ","), ": "),
                    windows.status());
  }
  return windows;
}

// Returns the event to compare, which both groups have.
absl::StatusOr<std::string> EventOf(const Windows& before, const Windows& after,
                                    std::vector<std::string>* notes) {
  std::vector<Sum> common;
  const std::vector<Sum> others = SumsByEvent(after);
  for (Sum& sum : SumsByEvent(before)) {
    const auto same = std::ranges::find(others, sum.keys, &Sum::keys);
    if (same == others.end()) continue;
    sum.samples += same->samples;
    sum.value += same->value;
    common.push_back(std::move(sum));
  }
  if (common.empty()) {
    return absl::FailedPreconditionError(
        "before and after have no event in common; list the events of each with --by event");
  }
  const Sum& chosen = ChooseEvent(common);
  if (common.size() > 1) notes->push_back(NoteOfChoice(common, chosen));
  return chosen.keys[0];
}

}  // namespace

absl::StatusOr<std::string> FleetDiffText(Source& source, const FleetDiffRequest& request,
                                          std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(const Windows old_windows,
                            HostsOf(source, request, request.before, "--before", notes));
  PROFILER_ASSIGN_OR_RETURN(const Windows new_windows,
                            HostsOf(source, request, request.after, "--after", notes));
  PROFILER_ASSIGN_OR_RETURN(const std::string event, EventOf(old_windows, new_windows, notes));
  const std::vector<diff::Run> before = RunsOf(old_windows, event);
  const std::vector<diff::Run> after = RunsOf(new_windows, event);
  const auto weight = request.total ? diff::Weight::kTotal : diff::Weight::kSelf;
  const HostDiff compared = CompareHosts(before, after, {.weight = weight});
  if (request.json) {
    return diff::DiffAsJson(compared.diff, before, after, analysis::KeyBy::kFunction, weight);
  }
  return diff::FormatDiff(compared.diff, before, after,
                          {.weight = weight,
                           .all = request.all,
                           .markdown = request.markdown,
                           .hosts = diff::HostGroups{.before = absl::StrJoin(request.before, ","),
                                                     .after = absl::StrJoin(request.after, ","),
                                                     .pairs = compared.pairs,
                                                     .left_out = compared.left_out}});
}

}  // namespace profiler::fleet
