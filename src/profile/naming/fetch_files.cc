#include "src/profile/naming/fetch_files.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/naming/naming.h"
#include "symbolize/address_facts.h"
#include "symbolize/files/debug_fetch.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {
namespace {

using symbolize::FetchProblem;
using symbolize::MissingFiles;

constexpr double kLeastShare = 0.01;
constexpr double kMegabyte = 1 << 20;

std::string Describe(const FetchProblem& problem, const FetchOptions& options) {
  const std::string image =
      absl::StrCat("debuginfod: ", problem.path, " (build-id ", HexOf(problem.build_id), "): ");
  switch (problem.kind) {
    case FetchProblem::Kind::kSkipped:
      return image + "skipped";
    case FetchProblem::Kind::kOutOfTime:
      return absl::StrFormat("%snot all came within %g s (--debuginfod-timeout)", image,
                             options.seconds);
    case FetchProblem::Kind::kOutOfBytes:
      return absl::StrFormat("%snot all fits into %.1f MB for all images (--debuginfod-size)",
                             image, static_cast<double>(options.bytes) / kMegabyte);
    case FetchProblem::Kind::kWrongFile:
      return absl::StrCat(image, "not used: ", problem.detail);
    case FetchProblem::Kind::kFailed:
      return image + problem.detail;
  }
  return image;
}

// The images for which the recording itself has names as good as those of fetched files.
class NamedImages {
 public:
  NamedImages(const perf_data::Features& features, bool inlines) {
    using symbolize::NameFacts;
    const auto names =
        symbolize::DecodeNames(perf_data::OwnSection(features, perf_data::kFeatureNames));
    if (!names || (inlines && !names->has_lines)) return;
    for (const NameFacts::Image& image : names->images) {
      const bool is_named = std::any_of(
          image.addresses.begin(), image.addresses.end(), [&](const NameFacts::Address& a) {
            return inlines ? a.line != 0 : a.symbol != NameFacts::kNone;
          });
      if (is_named) keys_.emplace(names->strings[image.path], image.build_id);
    }
  }
  bool Contains(const symbolize::ImageSpec& spec) const {
    return keys_.contains({spec.path, spec.build_id});
  }

 private:
  std::set<std::pair<std::string, std::vector<std::byte>>> keys_;
};

}  // namespace

std::string_view DebugServers() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls == nullptr ? "" : urls;
}

bool FetchesFiles(const FetchOptions& options) { return !options.off && !DebugServers().empty(); }

void FetchMissingFiles(const NamingOptions& naming, const perf_data::Features& features,
                       const symbolize::Symbolizer& symbolizer,
                       const std::vector<profile::ImageShare>& images) {
  const symbolize::SymbolizerOptions files = SymbolizerOptionsOf(naming, features);
  const NamedImages named(features, naming.inlines);
  std::vector<MissingFiles> missing;
  {
    // A temporary source, because the profile's own source must look for files only after they are
    // fetched.
    NamingOptions quiet = naming;
    quiet.warn = nullptr;  // the profile's own source warns later
    const std::unique_ptr<symbolize::FactSource> facts = FactsOfFiles(quiet, features);
    for (const auto& [image, share] : images) {
      const symbolize::ImageSpec& spec = symbolizer.image(image);
      if (share < kLeastShare || named.Contains(spec)) continue;
      facts->SetLife(spec.pid, spec.life);
      auto its = facts->MissingFilesOf(facts->AddImage(spec));
      if (its) missing.push_back(*std::move(its));
    }
  }
  if (missing.empty()) return;
  const auto warn = [&](std::string_view line) {
    if (naming.fetch.warn) naming.fetch.warn(line);
  };
  auto source = symbolize::CreateDebuginfodSource();
  if (!source.ok()) {
    warn(absl::StrCat("DEBUGINFOD_URLS is set, but ", source.status().message()));
    return;
  }
  const symbolize::FetchLimits limits{
      .time = std::chrono::milliseconds(static_cast<int64_t>(naming.fetch.seconds * 1000)),
      .bytes = naming.fetch.bytes};
  // While the monitor exists, it uses the terminal's last line and Ctrl-C.
  symbolize::FetchMonitor watch = naming.fetch.watch ? naming.fetch.watch() : nullptr;
  symbolize::FetchOutcome outcome =
      FetchFiles(*std::move(source), std::move(missing), files.debug_directories, limits, watch);
  watch = nullptr;
  *naming.fetched = std::move(outcome.files);
  for (const FetchProblem& problem : outcome.problems) {
    warn(Describe(problem, naming.fetch));
  }
}

void FetchFilesOfRecording(const NamingOptions& naming, const std::string& path) {
  if (!FetchesFiles(naming.fetch) || !perf_data::CanBeReadAgain(path)) return;
  auto recording = perf_data::Recording::Open(path);
  if (!recording.ok()) return;  // reported when the recording is read for its view
  const auto names = MakeNameStore((*recording)->features(), naming);
  profile::ProfileBuilder builder(
      *names, BuilderOptionsFor((*recording)->events(), (*recording)->features(), naming));
  (void)ReadInto(**recording, builder);  // reported when the recording is read for its view
  FetchMissingFiles(naming, (*recording)->features(), *names,
                    SharesOfImages(std::move(builder).Unnamed()));
}

}  // namespace profiler::naming
