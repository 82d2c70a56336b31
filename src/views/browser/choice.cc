#include "src/views/browser/choice.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace profiler::browser {
namespace {

void ZoomIntoImageNamed(std::string_view image, Zooms* zooms) {
  const std::string name(image);
  zooms->Push({.image = name, .text = "DSO: " + name});
}

}  // namespace

bool IsOfThread(const Zoom& zoom) { return !zoom.comm.empty() || zoom.tid != 0; }
bool IsOfImage(const Zoom& zoom) { return !zoom.image.empty(); }
bool IsOfTime(const Zoom& zoom) { return zoom.is_of_time(); }

bool Choice::is_of_time() const { return zooms.Any(IsOfTime); }

std::string Choice::Key() const {
  const report::ReportOptions applied = Applied();
  // 100 % are the same samples if all are shown.
  const bool has_all = applied.filter.empty() && !applied.slices && !applied.column_filter.socket &&
                       !applied.column_filter.only_with_parent;
  const int order = options.call_graph.order ? static_cast<int>(*options.call_graph.order) : -1;
  return absl::StrCat(event, " ", sort, " ", order, " ",
                      !has_all && options.relative_percentages ? 1 : 0, zooms.Key());
}

bool Choice::ToggleThread(const profile::Profile& profile, const report::RowFacts* row) {
  if (zooms.Remove(IsOfThread)) return true;
  if (row == nullptr) return false;
  const profile::Thread& thread = profile[row->thread];
  const std::string comm(profile.text(thread.comm));
  if (thread.tid != 0) {
    zooms.Push({.tid = thread.tid, .text = absl::StrCat("thread: ", comm, " ", thread.tid)});
  } else if (!comm.empty()) {
    zooms.Push({.comm = comm, .text = "thread: " + comm});
  }
  return thread.tid != 0 || !comm.empty();
}

bool Choice::ToggleImage(const profile::Profile& profile, const report::RowFacts* row) {
  if (zooms.Remove(IsOfImage)) return true;
  const std::string_view image = row == nullptr ? "" : profile.text(profile[row->image].name);
  if (image.empty()) return false;
  ZoomIntoImageNamed(image, &zooms);
  return true;
}

bool Choice::ToggleKernel(const profile::Profile& profile) {
  if (zooms.Remove(IsOfImage)) return true;
  std::string_view kernel;
  for (const profile::Image& image : profile.images) {
    const std::string_view name = profile.text(image.name);
    if (name.starts_with("[kernel")) kernel = name;
  }
  if (kernel.empty()) return false;
  ZoomIntoImageNamed(kernel, &zooms);
  return true;
}

}  // namespace profiler::browser
