#include "src/machine/events/pmu.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/machine/procfs/machine.h"

namespace profiler::events {
namespace {

namespace fs = std::filesystem;
using perf_event::Attr;

constexpr unsigned kBits = 64;

std::string DevicesOf(const procfs::Roots& roots) {
  return roots.sys + "/bus/event_source/devices/";
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// True if the name can be used as one component of a path below a PMU's folder.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && !name.starts_with('.');
}

std::optional<Pmu> ReadPmu(const procfs::Roots& roots, const std::string& name) {
  Pmu pmu{.name = name, .directory = DevicesOf(roots) + name};
  const auto type = procfs::ReadNumber(pmu.directory + "/type");
  if (!type || *type < 0 || *type > UINT32_MAX) return std::nullopt;
  pmu.type = static_cast<uint32_t>(*type);
  for (const char* file : {"/cpumask", "/cpus"}) {
    const auto cpus = procfs::ParseCpuList(procfs::ReadLine(pmu.directory + file).value_or(""));
    if (cpus.ok()) pmu.cpus = *cpus;
  }
  pmu.is_core = name == "cpu" || fs::exists(pmu.directory + "/cpus");
  return pmu;
}

// True for "uncore_imc_3" and "uncore_imc3" if the stem is "uncore_imc".
bool IsNumbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.starts_with('_')) name.remove_prefix(1);
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool PmuFormat::Put(uint64_t value, Attr* attr) const {
  for (const auto& [first, last] : bits) {
    for (unsigned bit = first; bit <= last; ++bit, value >>= 1) {
      attr->*field |= (value & 1) << bit;
    }
  }
  return value == 0;
}

unsigned PmuFormat::width() const {
  unsigned width = 0;
  for (const auto& [first, last] : bits) width += last - first + 1;
  return width;
}

std::optional<PmuFormat> ParsePmuFormat(std::string_view text) {
  static constexpr std::pair<std::string_view, uint64_t Attr::*> kFields[] = {
      {"config", &Attr::config},
      {"config1", &Attr::config1},
      {"config2", &Attr::config2},
      {"config3", &Attr::config3},
      {"config4", &Attr::config4}};
  procfs::TextScanner scanner(text);
  const std::string_view name = scanner.Until(':');
  PmuFormat format;
  for (const auto& [known, field] : kFields) {
    if (known == name) format.field = field;
  }
  if (format.field == nullptr || scanner.done()) return std::nullopt;
  while (!scanner.done()) {
    procfs::TextScanner range(scanner.Until(','));
    const auto first = procfs::ParseNumber<unsigned>(range.Until('-'));
    const auto last = range.done() ? first : procfs::ParseNumber<unsigned>(range.rest());
    if (!first || !last || *last < *first || *last >= kBits) return std::nullopt;
    format.bits.push_back({*first, *last});
  }
  // Put shifts a 64-bit value by this many bits in total; more than 64 is undefined.
  if (format.width() > kBits) return std::nullopt;
  return format;
}

std::optional<PmuFormat> Pmu::FindFormat(std::string_view term) const {
  if (!IsFileName(term)) return std::nullopt;
  const auto text = procfs::ReadLine(absl::StrCat(directory, "/format/", View(term)));
  return text ? ParsePmuFormat(*text) : std::nullopt;
}

std::optional<PmuAlias> Pmu::FindAlias(std::string_view event) const {
  if (!IsFileName(event)) return std::nullopt;
  const std::string path = absl::StrCat(directory, "/events/", View(event));
  const auto terms = procfs::ReadLine(path);
  if (!terms) return std::nullopt;
  PmuAlias alias{.terms = *terms, .unit = procfs::ReadLine(path + ".unit").value_or("")};
  const auto scale = procfs::ReadLine(path + ".scale");
  if (scale && !absl::SimpleAtod(*scale, &alias.scale)) alias.scale = 1;
  return alias;
}

std::vector<std::string> Pmu::FormatNames() const { return NamesIn(directory + "/format"); }

std::vector<std::string> Pmu::AliasNames() const {
  std::vector<std::string> names = NamesIn(directory + "/events");
  std::erase_if(names, [](const std::string& name) {
    return absl::EndsWith(name, ".unit") || absl::EndsWith(name, ".scale") ||
           absl::EndsWith(name, ".per-pkg") || absl::EndsWith(name, ".snapshot");
  });
  return names;
}

std::vector<Pmu> ReadPmus(const procfs::Roots& roots) {
  std::vector<Pmu> pmus;
  for (const std::string& name : NamesIn(DevicesOf(roots))) {
    if (auto pmu = ReadPmu(roots, name)) pmus.push_back(*std::move(pmu));
  }
  return pmus;
}

std::vector<Pmu> FindPmus(const std::vector<Pmu>& pmus, std::string_view pattern) {
  const std::string text(pattern);
  std::vector<Pmu> found;
  const auto add = [&](const auto& fits) {
    std::copy_if(pmus.begin(), pmus.end(), std::back_inserter(found),
                 [&](const Pmu& pmu) { return fits(pmu.name); });
  };
  add([&](const std::string& name) { return fnmatch(text.c_str(), name.c_str(), 0) == 0; });
  if (found.empty()) add([&](const std::string& name) { return IsNumbered(name, pattern); });
  return found;
}

}  // namespace profiler::events
