// A page (src/page/page.h) as what a view writes: report, flamegraph and annotate do where the file
// is called x.html.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/status.h"
#include "src/cli/report_options.h"
#include "src/page/page.h"

namespace profiler::cli {

// How the names of files that are to be pages end.
inline constexpr std::array<std::string_view, 2> kPageEndings = {".html", ".htm"};

// Whether a file of that name is to be a page.
bool IsPage(std::string_view output);

struct PageRequest {
  std::string output;
  std::string title;
  std::string event;  // that is shown first; empty: the first with samples
  page::OpenedView view = page::OpenedView::kFlameGraph;
  bool reverse = false;
  bool inverted = false;
  bool source = false;         // source lines of the heaviest functions are put into it
  bool code_of_files = false;  // code is looked for in files, too; else the recording's alone
  std::string function;        // whose code is shown first
};

// --source, for views that can be pages.
void AddSourceOption(usage::Command& command, bool& source);

// kInvalidArgument where source lines are asked for and `output` is no page.
absl::Status CheckSource(bool source, std::string_view output);

// Writes the page of the recording to request.output and says on standard error what is in it; the
// exit code.
int WritePage(const ViewArguments& view, const PageRequest& request);

// The page itself, or after printing what is wrong the exit code. `request.output` counts for
// nothing.
std::variant<std::string, int> PageText(const ViewArguments& view, const PageRequest& request);

// Likewise of two recordings that are compared: each in `view`'s way.
int WritePageOfTwo(const ViewArguments& view, const std::string& before, const std::string& after,
                   const PageRequest& request);

}  // namespace profiler::cli
