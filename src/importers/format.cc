#include "src/importers/format.h"

#include <algorithm>
#include <ranges>

#include "absl/strings/str_join.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "src/base/text.h"
#include "src/importers/callgrind.h"
#include "src/importers/chrome_trace.h"
#include "src/importers/cpu_profile.h"
#include "src/importers/firefox.h"
#include "src/importers/folded.h"
#include "src/importers/format_table.h"
#include "src/importers/json_tree.h"
#include "src/importers/legacy_pprof.h"
#include "src/importers/library_code.h"
#include "src/importers/otlp.h"
#include "src/importers/perf_script.h"
#include "src/importers/pprof.h"
#include "src/importers/speedscope.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

template <absl::Status (*kRead)(std::string_view bytes, ProfileMaker& maker)>
absl::Status ReadBytes(std::string_view bytes, const std::string& /*path*/, ProfileMaker& maker) {
  return kRead(bytes, maker);
}

template <absl::Status (*kRead)(JsonTree::Value root, ProfileMaker& maker)>
absl::Status ReadJson(std::string_view bytes, const std::string& /*path*/, ProfileMaker& maker) {
  PROFILER_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(bytes));
  return kRead(tree.root(), maker);
}

// Returns the text of samply's file with symbol names, which lies beside the profile.
std::string SymbolsBeside(const std::string& path) {
  if (path.empty()) return {};
  const absl::StatusOr<MappedFile> file = MappedFile::Open(SymbolFileOf(path));
  return file.ok() ? std::string(TextOf(file->bytes())) : std::string();
}

absl::Status ReadFirefoxAt(std::string_view bytes, const std::string& path, ProfileMaker& maker) {
  PROFILER_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(bytes));
  return ReadFirefox(tree.root(), SymbolsBeside(path), maker);
}

constexpr FormatTraits kFormats[] = {
    {Format::kFolded, "folded", "folded stacks", false, LooksFolded, ReadBytes<ReadFolded>},
    {Format::kPerfScript, "perf-script", "perf script text", false, LooksLikePerfScript,
     ReadBytes<ReadPerfScript>},
    {Format::kPprof, "pprof", "pprof", false, LooksLikePprof, ReadBytes<ReadPprof>},
    {Format::kLegacyPprof, "pprof-legacy", "legacy pprof", false, LooksLikeLegacyPprof,
     ReadBytes<ReadLegacyPprof>},
    {Format::kFirefox, "firefox", "Firefox Profiler", true, LooksLikeFirefox, ReadFirefoxAt},
    {Format::kSpeedscope, "speedscope", "speedscope", true, LooksLikeSpeedscope,
     ReadJson<ReadSpeedscope>},
    {Format::kCpuProfile, "cpuprofile", "V8 CPU profile", true, LooksLikeCpuProfile,
     ReadJson<ReadCpuProfile>},
    {Format::kChromeTrace, "chrome-trace", "Chrome trace", true, LooksLikeChromeTrace,
     ReadBytes<ReadChromeTrace>},
    {Format::kCallgrind, "callgrind", "callgrind", false, LooksLikeCallgrind,
     ReadBytes<ReadCallgrind>},
    {Format::kOtlp, "otlp", "OpenTelemetry", false, LooksLikeOtlp, ReadBytes<ReadOtlp>},
};

}  // namespace

std::span<const FormatTraits> FormatTable() { return kFormats; }

const FormatTraits& TraitsOf(Format format) {
  return *std::ranges::find(kFormats, format, &FormatTraits::format);
}

std::string_view TitleOf(Format format) { return TraitsOf(format).title; }

std::string FormatNames() {
  return absl::StrJoin(kFormats, ", ", [](std::string* out, const FormatTraits& format) {
    out->append(format.name);
  });
}

std::optional<Format> FormatNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &FormatTraits::name);
  return found == std::end(kFormats) ? std::nullopt : std::optional(found->format);
}

std::optional<Format> Recognize(std::string_view start) {
  constexpr size_t kLooksAt = size_t{1} << 16;
  start = WithoutByteOrderMark(start);
  const size_t first = start.find_first_not_of(" \t\r\n");
  const char opening = first == std::string_view::npos ? '\0' : start[first];
  const auto looks_like = [&](const FormatTraits& format) {
    return format.looks_like(format.is_json ? start : start.substr(0, kLooksAt));
  };
  // The first formats of the table have the fewest marks, so they are tried last.
  for (const FormatTraits& format : kFormats | std::views::reverse) {
    // A text can begin with a bracket, too. Only JSON begins with a brace.
    const bool is_possible = format.is_json ? opening == '{' || opening == '[' : opening != '{';
    if (is_possible && looks_like(format)) return format.format;
  }
  return std::nullopt;
}

}  // namespace profiler::importers
