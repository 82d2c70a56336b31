#include "src/cli/recording/recorded_command.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace profiler::cli {
namespace {

// Short options of `perf record` and of this program's `record`, without and with a value.
constexpr std::string_view kLettersAlone = "agidnsvqRTPWbAB";
constexpr std::string_view kLettersWithValue = "eFcoptuCmDGrjkw";

// Long options without and with a value. All other options are unknown.
constexpr std::string_view kAlone[] = {
    "--all-cpus",        "--all-kernel",    "--all-user",   "--data",
    "--phys-data",       "--raw-samples",   "--branch-any", "--stat",
    "--timestamp",       "--period",        "--weight",     "--no-inherit",
    "--quiet",           "--verbose",       "--off-cpu",    "--wall-clock",
    "--latency",         "--switch-events", "--tree",       "--post-unwind",
    "--summary",         "--no-summary",    "--no-cache",   "--no-sandbox",
    "--no-debuginfod",   "--no-buildid",    "--sample-cpu", "--running-time",
    "--namespaces",      "--buildid-mmap",  "--per-thread", "--sample-identifier",
    "--no-interpreters", "--runtime-maps"};
constexpr std::string_view kWithValue[] = {"--event",         "--freq",       "--count",
                                           "--output",        "--call-graph", "--pid",
                                           "--tid",           "--uid",        "--cpu",
                                           "--mmap-pages",    "--delay",      "--realtime",
                                           "--duration",      "--filter",     "--cgroup",
                                           "--clockid",       "--max-size",   "--control",
                                           "--embed",         "--repeat",     "--off-cpu-thresh",
                                           "--branch-filter", "--debug-dir"};

// Returns the number of words of an option: 1, or 2 if the next word is its value. Returns nothing
// for an unknown option.
std::optional<size_t> WordsOf(std::string_view option) {
  if (option.starts_with("--")) {
    if (option.find('=') != option.npos || std::ranges::count(kAlone, option) != 0) return 1;
    return std::ranges::count(kWithValue, option) != 0 ? std::optional<size_t>(2) : std::nullopt;
  }
  for (size_t i = 1; i < option.size(); ++i) {
    if (kLettersAlone.find(option[i]) != option.npos) continue;
    if (kLettersWithValue.find(option[i]) == option.npos) return std::nullopt;
    return i + 1 == option.size() ? 2 : 1;
  }
  return 1;
}

}  // namespace

std::vector<std::string> RecordedCommand(const std::vector<std::string>& cmdline) {
  const auto dashes = std::ranges::find(cmdline, "--");
  if (dashes != cmdline.end()) return {dashes + 1, cmdline.end()};
  const auto record = std::ranges::find(cmdline, "record");
  if (record == cmdline.end()) return {};
  for (auto word = record + 1; word != cmdline.end();) {
    if (!word->starts_with('-')) return {word, cmdline.end()};
    const std::optional<size_t> words = WordsOf(*word);
    if (!words || static_cast<size_t>(cmdline.end() - word) < *words) return {};
    word += static_cast<std::ptrdiff_t>(*words);
  }
  return {};
}

}  // namespace profiler::cli
