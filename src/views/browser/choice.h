// The user's choices, which decide the view.

#pragma once

#include <cstddef>
#include <string>

#include "src/profile/profile.h"
#include "src/views/browser/zooms.h"
#include "src/views/report/browsed_table.h"
#include "src/views/report/options.h"

namespace profiler::browser {

struct Choice {
  size_t event = 0;               // index of the table
  size_t sort = 0;                // number of the choice of sort keys, which `options` have
  report::ReportOptions options;  // without zooms
  Zooms zooms;

  // Returns the options of a table, with zooms except parts of symbols.
  report::ReportOptions Applied() const { return zooms.Applied(options); }
  bool is_of_time() const;
  // Returns a text that differs for choices with different tables.
  std::string Key() const;

  // Takes off the zooms of that kind, or zooms into the thread or the image of a row, or into the
  // kernel. Return false, and change nothing, if there is nothing to zoom into.
  bool ToggleThread(const profile::Profile& profile, const report::RowFacts* row);
  bool ToggleImage(const profile::Profile& profile, const report::RowFacts* row);
  bool ToggleKernel(const profile::Profile& profile);
};

bool IsOfThread(const Zoom& zoom);
bool IsOfImage(const Zoom& zoom);
bool IsOfTime(const Zoom& zoom);

}  // namespace profiler::browser
