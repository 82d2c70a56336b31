#include "src/importers/format.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/callgrind.h"
#include "src/importers/folded.h"
#include "src/importers/legacy_pprof.h"
#include "src/importers/otlp.h"
#include "src/importers/perf_script.h"
#include "src/importers/pprof.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

constexpr size_t kLooksAt = size_t{1} << 16;

// Recognises a JSON format by members that the other formats do not have.
std::optional<Format> RecognizeJson(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"traceEvents\"")) return Format::kChromeTrace;
  if (has("\"callFrame\"")) return Format::kCpuProfile;
  if (has("\"head\"") && has("\"functionName\"")) return Format::kCpuProfile;
  if (has("speedscope.app/file-format-schema")) return Format::kSpeedscope;
  if (has("\"preprocessedProfileVersion\"")) return Format::kFirefox;
  if (has("\"meta\"") && (has("\"threads\"") || has("\"interval\""))) return Format::kFirefox;
  if (has("\"shared\"") && has("\"profiles\"")) return Format::kSpeedscope;
  return std::nullopt;
}

}  // namespace

const NamedFormat& Described(Format format) {
  return *std::ranges::find(kFormats, format, &NamedFormat::format);
}

std::string FormatNames() {
  std::string names;
  for (const NamedFormat& format : kFormats) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", View(format.name));
  }
  return names;
}

std::optional<Format> FormatNamed(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &NamedFormat::name);
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::optional<Format> Recognize(std::string_view start) {
  start = WithoutByteOrderMark(start);
  if (const size_t first = start.find_first_not_of(" \t\r\n"); first != std::string_view::npos) {
    if (start[first] == '{') return RecognizeJson(start);
    if (start[first] == '[' && start.find("\"ph\"") != std::string_view::npos) {
      return Format::kChromeTrace;
    }
  }
  start = start.substr(0, kLooksAt);
  if (LooksLikeOtlp(start)) return Format::kOtlp;
  if (LooksLikeLegacyPprof(start)) return Format::kLegacyPprof;
  if (LooksLikePprof(start)) return Format::kPprof;
  if (LooksLikeCallgrind(start)) return Format::kCallgrind;
  if (LooksLikePerfScript(start)) return Format::kPerfScript;
  if (LooksFolded(start)) return Format::kFolded;
  return std::nullopt;
}

}  // namespace profiler::importers
