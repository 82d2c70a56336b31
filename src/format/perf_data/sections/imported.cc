// Decodes and encodes the section IMPORTED. FORMAT.md draws it.

#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/sections/section_lines.h"

namespace profiler::perf_data {
namespace {

constexpr std::string_view kFile = "file", kFormat = "format";

}  // namespace

std::optional<ImportedFrom> ReadImported(const Features& features) {
  std::string_view section = OwnSection(features, kFeatureImported);
  if (section.empty()) return std::nullopt;
  ImportedFrom from;
  while (!section.empty()) {
    std::string_view line = TakeUntil('\n', &section);
    const std::string_view key = TakeUntil('\t', &line);
    if (key == kFile) from.file = PrintableValue(line);
    if (key == kFormat) from.format = PrintableValue(line);
  }
  return from;
}

void SetImported(const ImportedFrom& from, Features* features) {
  features->other[kFeatureImported] =
      absl::StrCat(View(kFile), "\t", PrintableValue(from.file), "\n",  //
                   View(kFormat), "\t", PrintableValue(from.format), "\n");
}

}  // namespace profiler::perf_data
