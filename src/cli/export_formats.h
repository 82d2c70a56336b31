// The files of other programs that a profile can be written as, by name and by the end of a file's
// name.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/report_options.h"
#include "src/export/interchange/origin.h"
#include "src/naming/load_profile.h"
#include "src/profile/profile.h"

namespace profiler::cli {

struct Exported {
  std::string bytes;
  std::string note;  // a line for the user; empty: none
};

// What is exported, and where to.
struct ExportRequest {
  const ViewArguments& view;
  std::string event;  // the only one; empty: all
  std::string path;
};

struct ExportFormat {
  std::string_view name;
  std::span<const std::string_view> endings;  // of file names, the usual one first
  bool wants_times = false;                   // a row a sample and time: Dimension::kTime
  bool wants_files = false;                   // identifiers of images (Origin::htlhash_of)
  bool is_text = true;
  // One of the two: the bytes of the file, or all of the work, of which the result is the exit
  // code.
  Exported (*write)(const profile::Profile& profile, const exports::Origin& origin) = nullptr;
  int (*run)(const ExportRequest& request) = nullptr;
};

std::span<const ExportFormat> ExportFormats();

// By `name` if that is given, else by the path's end. Null where no format has such an end.
const ExportFormat* FindExportFormat(std::string_view name, std::string_view path);

// What a view is to write, by the path that its -o has; null for the view itself. No view makes
// recordings: only export does.
const ExportFormat* FormatOfView(std::string_view path);

// "pprof (.pb.gz), firefox (.json.gz), …", for messages and help.
std::string ExportFormatList();

// Loads the recording, and writes it in that format; the exit code.
int Export(const ExportRequest& request, const ExportFormat& format);

}  // namespace profiler::cli
