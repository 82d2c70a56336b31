#include "src/cli/fetch_files.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/cli/load_profile.h"
#include "src/cli/naming.h"
#include "src/cli/output.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"
#include "symbolize/debug_fetch.h"
#include "symbolize/names_codec.h"

namespace profiler::cli {
namespace {

using symbolize::FetchProblem;
using symbolize::FetchProgress;
using symbolize::MissingFiles;

constexpr double kLeastShare = 0.01;
constexpr double kMegabyte = 1 << 20;

// Counts Ctrl-C for as long as it lives; before and after, Ctrl-C is what it was.
class Interrupts {
 public:
  Interrupts() {
    count_ = 0;
    struct sigaction count = {};
    count.sa_handler = [](int) { ++count_; };
    count.sa_flags = SA_RESTART;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &count, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() { sigaction(SIGINT, &before_, nullptr); }

  // Whether there was one that was not taken yet.
  bool Take() {
    if (count_ == taken_) return false;
    ++taken_;
    return true;
  }

 private:
  static inline std::atomic<int> count_ = 0;
  static_assert(std::atomic<int>::is_always_lock_free);  // as a signal handler needs it
  int taken_ = 0;
  struct sigaction before_ = {};
};

// Empty while nothing is worth showing.
std::string LineOf(const FetchProgress& progress) {
  constexpr std::chrono::milliseconds kWorthShowing{300};
  if (progress.elapsed < kWorthShowing) return "";
  std::string line =
      absl::StrFormat("debuginfod: %d of %d images, %.1f MB", progress.done, progress.images,
                      static_cast<double>(progress.received) / kMegabyte);
  if (progress.path.empty()) return line;
  absl::StrAppendFormat(&line, "; %.24s", BaseName(progress.path));
  if (progress.its_size != 0) {
    absl::StrAppendFormat(&line, " %.1f of %.1f MB",
                          static_cast<double>(progress.its_received) / kMegabyte,
                          static_cast<double>(progress.its_size) / kMegabyte);
  }
  return line + " (Ctrl-C skips it)";
}

std::string Describe(const FetchProblem& problem, const FetchOptions& options) {
  const std::string_view id = TextOf(problem.build_id);
  const std::string image =
      absl::StrCat("debuginfod: ", problem.path, " (build-id ",
                   absl::BytesToHexString(absl::string_view(id.data(), id.size())), "): ");
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

// The images that a recording itself has names for as good as fetched files would give.
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

void AddFetchOptions(CLI::App& command, FetchOptions& options) {
  command.add_flag("--no-debuginfod", options.off,
                   "fetch no files from the servers of $DEBUGINFOD_URLS");
  command
      .add_option("--debuginfod-timeout", options.seconds,
                  "how long files may take to come from there, all together")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--debuginfod-size", options.bytes,
                  "how much may be fetched from there, all together (default 512M)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES|K|M|G");
}

bool FetchesFiles(const FetchOptions& options) {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return !options.off && urls != nullptr && *urls != 0;
}

void FetchMissingFiles(const NamingOptions& naming, const perf_data::Features& features,
                       const symbolize::Symbolizer& symbolizer,
                       const std::vector<profile::ImageShare>& images) {
  const symbolize::SymbolizerOptions files = SymbolizerOptionsOf(naming);
  const NamedImages named(features, naming.inlines);
  std::vector<MissingFiles> missing;
  for (const auto& [image, share] : images) {
    const symbolize::ImageSpec& spec = symbolizer.image(image);
    if (share < kLeastShare || named.Contains(spec)) continue;
    if (auto its = symbolize::MissingFilesOf(spec, files)) missing.push_back(*std::move(its));
  }
  if (missing.empty()) return;
  auto source = symbolize::CreateDebuginfodSource();
  if (!source.ok()) {
    PrintWarning(absl::StrCat("DEBUGINFOD_URLS is set, but ", source.status().message()));
    return;
  }
  const symbolize::FetchLimits limits{
      .time = std::chrono::milliseconds(static_cast<int64_t>(naming.fetch.seconds * 1000)),
      .bytes = naming.fetch.bytes};
  symbolize::FetchOutcome outcome;
  if (ErrorsAreShownLive()) {
    Interrupts interrupts;
    LiveLine shown;
    outcome = FetchFiles(*std::move(source), std::move(missing), files.debug_directories, limits,
                         [&](const FetchProgress& progress) {
                           const std::string line = LineOf(progress);
                           if (!line.empty()) shown.Show(line);
                           return interrupts.Take();
                         });
  } else {
    outcome = FetchFiles(*std::move(source), std::move(missing), files.debug_directories, limits,
                         nullptr);
  }
  *naming.fetched = std::move(outcome.files);
  for (const FetchProblem& problem : outcome.problems) {
    PrintWarning(Describe(problem, naming.fetch));
  }
}

void FetchFilesOfRecording(const NamingOptions& naming, const std::string& path) {
  if (!FetchesFiles(naming.fetch) || !CanBeReadAgain(path)) return;
  auto recording = perf_data::Recording::Open(path);
  if (!recording.ok()) return;  // whoever reads it in earnest says so
  const auto names = MakeNameStore((*recording)->features(), naming);
  profile::ProfileBuilder builder(*names, BuilderOptionsFor(**recording, naming));
  (void)ReadInto(**recording, builder);  // likewise
  FetchMissingFiles(naming, (*recording)->features(), *names,
                    SharesOfImages(std::move(builder).Unnamed()));
}

}  // namespace profiler::cli
