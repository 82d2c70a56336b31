#include "src/views/browser/zooms.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace profiler::browser {

bool Zooms::Remove(bool (*is_kind)(const Zoom&)) { return std::erase_if(zooms_, is_kind) > 0; }

bool Zooms::Any(bool (*is_kind)(const Zoom&)) const {
  return std::any_of(zooms_.begin(), zooms_.end(), is_kind);
}

report::ReportOptions Zooms::Applied(report::ReportOptions options) const {
  for (const Zoom& zoom : zooms_) {
    // Zooms narrow the options, so they replace lists that contain them.
    if (!zoom.comm.empty()) options.filter.comms = {zoom.comm};
    if (zoom.tid != 0) options.filter.tids = {zoom.tid};
    if (!zoom.image.empty()) options.filter.images = {zoom.image};
    if (zoom.is_of_time()) options.slices = zoom.slices;
  }
  return options;
}

std::string Zooms::symbol_part() const {
  std::string part;
  for (const Zoom& zoom : zooms_) {
    if (!zoom.symbol_part.empty()) part = zoom.symbol_part;
  }
  return part;
}

std::string Zooms::Key() const {
  std::string key;
  for (const Zoom& zoom : zooms_) {
    if (!zoom.symbol_part.empty()) continue;
    absl::StrAppend(&key, "\n", zoom.comm, "\n", zoom.tid, "\n", zoom.image, "\n",
                    zoom.slices.first, "-", zoom.slices.second);
  }
  return key;
}

std::string Zooms::Text() const {
  std::string text;
  for (const Zoom& zoom : zooms_) {
    if (!text.empty()) text += ", ";
    text += zoom.text;
  }
  return text;
}

}  // namespace profiler::browser
