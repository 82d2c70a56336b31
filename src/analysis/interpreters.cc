#include "src/analysis/interpreters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>

namespace profiler::analysis {
namespace {

constexpr std::array<std::string_view, 15> kPrograms = {
    "node", "nodejs", "python", "pypy",   "java",     "ruby", "php", "perl",
    "d8",   "deno",   "dotnet", "luajit", "beam.smp", "beam", "lua"};
constexpr std::array<std::string_view, 11> kLibraries = {
    "node", "python", "pypy", "jvm", "ruby", "php", "luajit", "coreclr", "v8", "perl", "lua"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True if the text after a stem is only a version, such as "3.12", "-5.1" or "3.13t".
bool IsVersion(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto is_of_number = [](char c) { return IsDigit(c) || c == '.'; };
  const auto end = std::find_if_not(text.begin(), text.end(), is_of_number);
  // Flags of Python builds: d and m before 3.8, t (without the global lock) since 3.13.
  const std::string_view flags = text.substr(static_cast<size_t>(end - text.begin()));
  if (!flags.empty() && flags.size() == text.size()) return false;
  return flags.size() <= 2 && flags.find_first_not_of("dmtu") == flags.npos;
}

struct FileName {
  std::string_view stem_and_version;
  bool is_library = false;
};

// Removes "lib" and the suffix from ".so" on, if the name has both.
FileName PartsOf(std::string_view base_name) {
  // The kernel adds this to the name of a file that was replaced.
  constexpr std::string_view kDeleted = " (deleted)";
  if (base_name.ends_with(kDeleted)) base_name.remove_suffix(kDeleted.size());
  if (!base_name.starts_with("lib")) return {base_name, false};
  const size_t end = base_name.find(".so");
  if (end == base_name.npos) return {base_name, false};
  return {base_name.substr(3, end - 3), true};
}

}  // namespace

std::string_view InterpreterOf(std::string_view base_name) {
  const FileName name = PartsOf(base_name);
  const std::span<const std::string_view> stems =
      name.is_library ? std::span<const std::string_view>(kLibraries) : kPrograms;
  const auto found = std::ranges::find_if(stems, [&](std::string_view stem) {
    return name.stem_and_version.starts_with(stem) &&
           IsVersion(name.stem_and_version.substr(stem.size()));
  });
  return found == stems.end() ? std::string_view() : *found;
}

std::optional<uint32_t> MinorOfPython3(std::string_view base_name) {
  constexpr std::string_view kStem = "python3.";
  std::string_view name = PartsOf(base_name).stem_and_version;
  if (!name.starts_with(kStem) || !IsInterpreter(base_name)) return std::nullopt;
  name.remove_prefix(kStem.size());
  uint32_t minor = 0;
  if (std::from_chars(name.data(), name.data() + name.size(), minor).ec != std::errc()) {
    return std::nullopt;
  }
  return minor;
}

}  // namespace profiler::analysis
