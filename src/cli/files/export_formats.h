// The export formats, by name and by file name ending.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/views/report_options.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::cli {

struct Exported {
  std::string bytes;
  std::string note;  // a line for the user, or ""
};

// The arguments of an export.
struct ExportRequest {
  const ViewArguments& view;
  std::string event;  // the only event to export; empty: all
  std::string path;
};

struct ExportFormat {
  std::string_view name;
  std::span<const std::string_view> endings;  // file name endings, the most common first
  bool wants_times = false;                   // true: needs one row per sample time
  bool wants_files = false;                   // true: needs Origin::htlhash_of
  bool is_text = true;
  // Exactly one is set: `write` returns the file's bytes; `run` does all the work and returns the
  // exit code.
  Exported (*write)(const profile::Profile& profile, const exports::Origin& origin) = nullptr;
  int (*run)(const ExportRequest& request) = nullptr;
};

std::span<const ExportFormat> ExportFormats();

// Finds a format by `name` or, if `name` is empty, by the ending of `path`. Returns null if there
// is no such format.
const ExportFormat* FindExportFormat(std::string_view name, std::string_view path);

// Returns the format for the path of a view's -o, or null if the view writes its own format. Never
// returns perf.data, because only `export` writes recordings.
const ExportFormat* FormatOfView(std::string_view path);

// Returns "pprof (.pb.gz), firefox (.json.gz), …" for messages and help.
std::string ExportFormatList();

// Loads the recording and writes it in `format`. Returns the exit code.
int Export(const ExportRequest& request, const ExportFormat& format);

}  // namespace profiler::cli
