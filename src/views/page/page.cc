#include "src/views/page/page.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/views/flamegraph/xml_text.h"
#include "src/views/json/document.h"
#include "src/views/page/bounds.h"
#include "src/views/page/page_assets.h"
#include "src/views/page/page_data.h"
#include "src/views/page/page_notes.h"

namespace profiler::page {
namespace {

using json::Value;

// Bounds that are tried in turn until a page is small enough. The first bounds keep everything; the
// last bounds keep little more than the outline.
constexpr std::array<Bounds, 6> kBounds = {{
    {.least_share = 0, .slice_divisor = 1},
    {.least_share = 2e-5, .slice_divisor = 1},
    {.least_share = 1e-4, .slice_divisor = 2},
    {.least_share = 5e-4, .slice_divisor = 4, .most_threads = 2'000},
    {.least_share = 2e-3, .slice_divisor = 8, .most_threads = 500},
    {.least_share = 1e-2, .slice_divisor = 20, .most_threads = 100},
}};

Value SideAsJson(const Side& side, uint32_t slice_divisor) {
  const profile::TimeSlices& slices = side.profile->slices;
  const bool has_time = !side.profile->column(profile::Dimension::kSlice).empty();
  const size_t count = has_time ? std::max<size_t>(slices.slices.size(), 1) : 1;
  Value json = {{"name", side.name},
                {"begin", has_time ? slices.begin : 0},
                {"sliceLength", has_time ? slices.length * slice_divisor : 0},
                {"slices", (count + slice_divisor - 1) / slice_divisor}};
  if (side.moment && has_time) {
    // The moment may be a little later than the last sample.
    const uint64_t since = side.moment->time - std::min(slices.begin, side.moment->time);
    const uint64_t slice = std::min<uint64_t>(since / slices.length, count - 1);
    json["moment"] = {{"slice", slice / slice_divisor},
                      {"reason", exports::CleanUtf8(side.moment->reason)}};
  }
  return json;
}

Value EventsAsJson(const CallPaths& paths) {
  const std::vector<uint64_t> usual = UsualPeriods(paths);
  Value events = Value::array();
  for (size_t i = 0; i < paths.events.size(); ++i) {
    const PathEvent& event = paths.events[i];
    events.push_back({{"name", event.name},
                      {"side", event.side},
                      {"samples", event.samples},
                      {"period", event.period},
                      {"usualPeriod", usual[i]},
                      {"isTime", event.is_time},
                      {"isOffCpu", event.is_off_cpu},
                      {"isCount", event.is_count},
                      {"unnamed", paths.unnamed[i]}});
  }
  return events;
}

std::string_view NameOf(OpenedView view) {
  switch (view) {
    case OpenedView::kTable:
      return "table";
    case OpenedView::kCode:
      return "code";
    default:
      return "flame";
  }
}

std::string About(std::span<const Side> sides, const PageOptions& options, const CallPaths& paths,
                  const Bounds& bounds, const Bounded& bounded) {
  Value about = {{"title", options.title},       {"program", options.program},
                 {"view", NameOf(options.view)}, {"reverse", options.reverse},
                 {"inverted", options.inverted}, {"function", options.function}};
  if (options.event) about["event"] = static_cast<uint32_t>(*options.event);
  about["sides"] = Value::array();
  for (const Side& side : sides) about["sides"].push_back(SideAsJson(side, bounds.slice_divisor));
  about["events"] = EventsAsJson(paths);
  about["notes"] = NotesOf(sides, bounds, bounded);
  for (const std::string& note : options.notes) about["notes"].push_back(exports::CleanUtf8(note));
  return json::Line(about);
}

std::string DataWithin(std::span<const Side> sides, const PageOptions& options, size_t room) {
  CallPaths paths = FindCallPaths(sides);
  Bounded bounded;
  std::string data;
  for (const Bounds& bounds : kBounds) {
    // The slices were already joined by the previous step's divisor.
    Bounds step = bounds;
    const size_t number = static_cast<size_t>(&bounds - kBounds.data());
    if (number > 0) step.slice_divisor /= kBounds[number - 1].slice_divisor;
    const Bounded now = Bound(step, paths);
    bounded.folded_samples = now.folded_samples;
    bounded.merged_threads = std::max(bounded.merged_threads, now.merged_threads);
    if (number + 1 < kBounds.size() && !MayFit(paths, room)) continue;
    data = EncodePageData(paths, About(sides, options, paths, bounds, bounded), options.code);
    if (data.size() <= room + options.code.size() * 4 / 3) break;
  }
  return data;
}

}  // namespace

std::string Page(std::span<const Side> sides, const PageOptions& options) {
  const std::string_view page = kPageHtml;
  constexpr std::string_view kStyle = "<!-- style -->", kData = "<!-- data -->",
                             kScript = "<!-- script -->";
  const size_t own = kPageHtml.size() + kPageStyle.size() + kPageScript.size();
  const std::string data =
      DataWithin(sides, options, options.most_bytes - std::min(options.most_bytes, own));
  const size_t style = page.find(kStyle), at_data = page.find(kData), script = page.find(kScript);
  std::string out;
  out.reserve(own + data.size());
  out += page.substr(0, style);
  out += kPageStyle;
  out += page.substr(style + kStyle.size(), at_data - style - kStyle.size());
  out += data;
  out += page.substr(at_data + kData.size(), script - at_data - kData.size());
  out += kPageScript;
  out += page.substr(script + kScript.size());
  return out;
}

}  // namespace profiler::page
