#include "src/cli/naming.h"

#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/cli/output.h"
#include "src/perf_data/sections/own_sections.h"
#include "symbolize/name_cache.h"

namespace profiler::cli {

using Files = symbolize::EmbeddedOptions::Files;

namespace {

// Debug information is what takes long to read; and in other places than the usual ones may be
// other debug information.
bool UsesCache(const NamingOptions& options) {
  return !options.places.no_cache && !options.places.given() && options.inlines &&
         options.function_starts && options.bounded_symbols;
}

Files SayOfFiles(const NamingOptions& options) {
  if (FetchesFiles(options.fetch)) return Files::kFirst;
  return options.places.given() ? Files::kForUnnamed : Files::kForOthers;
}

symbolize::EmbeddedOptions EmbeddedOptionsOf(const NamingOptions& options, Files files) {
  return {.demangle = options.demangle,
          .inlines = options.inlines,
          .function_starts = options.function_starts,
          .bounded_symbols = options.bounded_symbols,
          .files = files};
}

symbolize::NameCache UsersNameCache(bool lines) {
  return symbolize::NameCache(
      symbolize::NameCache::UsersDirectory(lines),
      {.encode = perf_data::EncodeEmbeddedNames, .decode = perf_data::DecodeEmbeddedNames});
}

}  // namespace

void AddFilePlaceOptions(CLI::App& command, FilePlaces& places) {
  command
      .add_option(
          "--symfs", places.symfs,
          "look for all files, those of this machine's kernel included, below this directory")
      ->type_name("DIR");
  command
      .add_option("--debug-dir", places.debug_directories,
                  "look for debug files here, by build-id, instead of /usr/lib/debug; may be given "
                  "several times")
      ->type_name("DIR")
      ->allow_extra_args(false);
  AddCacheOption(command, places.no_cache);
}

void AddCacheOption(CLI::App& command, bool& no_cache) {
  command.add_flag(
      "--no-cache", no_cache,
      "read debug information again instead of taking the lines and inlined calls that "
      "were found before from ~/.cache/profiler, and keep nothing there");
}

symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options) {
  symbolize::SymbolizerOptions files;
  files.demangle = options.demangle;
  files.inlines = options.inlines;
  files.lines = options.lines;
  files.function_starts = options.function_starts;
  files.bounded_symbols = options.bounded_symbols;
  if (!options.places.symfs.empty()) files.LookBelow(options.places.symfs);
  if (!options.places.debug_directories.empty()) {
    files.debug_directories = options.places.debug_directories;
  }
  files.fetched = options.fetched;
  return files;
}

std::unique_ptr<symbolize::Symbolizer> MakeSymbolizer(const perf_data::Features& features,
                                                      const NamingOptions& options) {
  return MakeSymbolizer(features, options, SayOfFiles(options));
}

std::unique_ptr<symbolize::Symbolizer> MakeSymbolizer(const perf_data::Features& features,
                                                      const NamingOptions& options, Files files) {
  auto from_files = symbolize::Symbolizer::Create(SymbolizerOptionsOf(options));
  const symbolize::EmbeddedOptions naming = EmbeddedOptionsOf(options, files);
  if (UsesCache(options)) {
    from_files = symbolize::CreateCachedSymbolizer(std::move(from_files),
                                                   UsersNameCache(options.lines), naming);
  }
  std::optional<EmbeddedNames> names = perf_data::ReadEmbeddedNames(features);
  if (!names) return from_files;
  return symbolize::CreateEmbeddedSymbolizer(*std::move(names), std::move(from_files), naming);
}

std::unique_ptr<symbolize::Symbolizer> WithEmbeddedCode(
    std::unique_ptr<symbolize::Symbolizer> symbolizer, const perf_data::Features& features,
    const NamingOptions& options) {
  return WithEmbeddedCode(std::move(symbolizer), features, options, SayOfFiles(options));
}

std::unique_ptr<symbolize::Symbolizer> WithEmbeddedCode(
    std::unique_ptr<symbolize::Symbolizer> symbolizer, const perf_data::Features& features,
    const NamingOptions& options, Files files) {
  std::optional<EmbeddedNames> code = perf_data::ReadEmbeddedCode(features);
  if (!code) return symbolizer;
  return symbolize::CreateEmbeddedSymbolizer(*std::move(code), std::move(symbolizer),
                                             EmbeddedOptionsOf(options, files));
}

void PrintRefusedFiles(const profile::Profile& profile) {
  std::map<profile::DsoId, size_t> refused;  // with how many addresses
  for (const profile::Frame& frame : profile.frames) {
    if (frame.unnamed == profile::Unnamed::kBuildIdMismatch) ++refused[frame.dso];
  }
  for (const auto& [id, addresses] : refused) {
    const profile::Dso& dso = profile[id];
    const std::string_view path = profile.text(dso.long_name);
    const std::string_view build_id = TextOf(dso.build_id);
    const std::string recorded =
        build_id.empty() ? "a file that was deleted"
                         : absl::StrCat("build-id ", absl::BytesToHexString(absl::string_view(
                                                         build_id.data(), build_id.size())));
    PrintWarning(absl::StrCat(absl::string_view(path.data(), path.size()),
                              " is another build now than the one recorded (", recorded,
                              "): no names are taken from it, ", addresses,
                              addresses == 1 ? " address has" : " addresses have", " none"));
  }
}

}  // namespace profiler::cli
