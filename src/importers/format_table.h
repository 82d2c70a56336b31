// The table of the formats: how each is named, recognised and read. Private to this package.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/importers/format.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

struct FormatTraits {
  Format format;
  std::string_view name;   // name of the format for --format
  std::string_view title;  // name of the format in messages
  bool is_json;            // files of the format begin with a brace or bracket
  // True if a file that begins with `start` probably has the format. `start` is the whole file if
  // the format is JSON, because members can have any order.
  bool (*looks_like)(std::string_view start);
  // Reads `bytes` into `maker`. `path` is the file's, to find files beside it; empty for a pipe.
  absl::Status (*read)(std::string_view bytes, const std::string& path, ProfileMaker& maker);
};

// Returns all formats, in the order in which help and messages name them. Static.
std::span<const FormatTraits> FormatTable();

const FormatTraits& TraitsOf(Format format);

}  // namespace profiler::importers
