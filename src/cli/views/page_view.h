// Writes pages (src/views/page/page.h) for views. The views report, flamegraph and annotate write a
// page if the name of the output ends in .html.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/status.h"
#include "src/cli/views/report_options.h"
#include "src/views/page/page.h"

namespace profiler::cli {

// Endings of names of pages.
inline constexpr std::array<std::string_view, 2> kPageEndings = {".html", ".htm"};

// True if the file name has an ending of pages.
bool IsPage(std::string_view output);

struct PageRequest {
  std::string output;
  std::string title;
  std::string event;  // event that is shown first; empty: the first with samples
  page::OpenedView view = page::OpenedView::kFlameGraph;
  bool reverse = false;
  bool inverted = false;
  bool source = false;         // True to include source lines of the heaviest functions.
  bool code_of_files = false;  // True to read code also from files; false: only from the recording.
  std::string function;        // function whose code is shown first
};

// Adds --source, for views that can write pages.
void AddSourceOption(usage::Command& command, bool& source);

// Returns kInvalidArgument if source lines are wanted but `output` is no page.
absl::Status CheckSource(bool source, std::string_view output);

// Writes the page of the recording to request.output, and prints its contents on standard error.
// Returns the exit code.
int WritePage(const ViewArguments& view, const PageRequest& request);

// Returns the page, or the exit code after printing the error. Ignores `request.output`.
std::variant<std::string, int> PageText(const ViewArguments& view, const PageRequest& request);

// Like WritePage, but compares two recordings. Uses the options of `view` for both.
int WritePageOfTwo(const ViewArguments& view, const std::string& before, const std::string& after,
                   const PageRequest& request);

}  // namespace profiler::cli
