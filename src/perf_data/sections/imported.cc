// The section IMPORTED between text and value. FORMAT.md draws it.

#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

constexpr std::string_view kFile = "file\t", kFormat = "format\t";

std::string Line(std::string_view text) {
  std::string line;
  AppendPrintable(text, line);
  return line;
}

}  // namespace

std::optional<ImportedFrom> ReadImported(const Features& features) {
  std::string_view section = OwnSection(features, kFeatureImported);
  if (section.empty()) return std::nullopt;
  ImportedFrom from;
  while (!section.empty()) {
    const size_t end = section.find('\n');
    const std::string_view line = section.substr(0, end);
    if (line.starts_with(kFile)) from.file = Line(line.substr(kFile.size()));
    if (line.starts_with(kFormat)) from.format = Line(line.substr(kFormat.size()));
    section.remove_prefix(end == std::string_view::npos ? section.size() : end + 1);
  }
  return from;
}

void SetImported(const ImportedFrom& from, Features* features) {
  features->other[kFeatureImported] =
      absl::StrCat(View(kFile), Line(from.file), "\n", View(kFormat), Line(from.format), "\n");
}

}  // namespace profiler::perf_data
