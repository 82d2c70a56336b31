#include "src/machine/packages/debug_symbols.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"

namespace profiler::packages {
namespace {

// The public servers of distributions, by ID in os-release.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kServers = {{
    {"debian", "https://debuginfod.debian.net"},
    {"ubuntu", "https://debuginfod.ubuntu.com"},
    {"fedora", "https://debuginfod.fedoraproject.org"},
    {"centos", "https://debuginfod.centos.org"},
    {"arch", "https://debuginfod.archlinux.org"},
    {"opensuse-leap", "https://debuginfod.opensuse.org"},
    {"opensuse-tumbleweed", "https://debuginfod.opensuse.org"},
    {"void", "https://debuginfod.s.voidlinux.org"},
}};

constexpr size_t kLargest = 64 << 20;  // bytes of all lists; others are not read

std::string TextIn(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the value of a line KEY=VALUE of os-release, without its quotes.
std::string ValueOf(std::string_view key, const std::string& text) {
  const std::string start = absl::StrCat("\n", View(key), "=");
  const std::string lines = "\n" + text + "\n";
  const size_t at = lines.find(start);
  if (at == lines.npos) return "";
  const size_t begin = at + start.size();
  std::string value = lines.substr(begin, lines.find('\n', begin) - begin);
  std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
  return value;
}

}  // namespace

DebugSymbols::DebugSymbols(std::string root, std::string servers)
    : root_(std::move(root)), servers_set_(std::move(servers)) {}

void DebugSymbols::Read() {
  if (std::exchange(is_read_, true)) return;
  ReadDistribution();
  ReadServers();
  ReadPackages();
}

void DebugSymbols::ReadDistribution() {
  std::string text = TextIn(root_ + "/etc/os-release");
  if (text.empty()) text = TextIn(root_ + "/usr/lib/os-release");
  distribution_ = Printable(ValueOf("PRETTY_NAME", text));
  id_ = ValueOf("ID", text);
}

void DebugSymbols::ReadServers() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/etc/debuginfod", error)) {
    if (entry.path().extension() == ".urls") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const std::string text = TextIn(file);
    server_ = Printable(text.substr(0, text.find_first_of(" \n")));
    if (!server_.empty()) return;
  }
  const auto* const known = std::ranges::find(kServers, id_, [](const auto& s) { return s.first; });
  if (known != kServers.end()) server_ = known->second;
}

void DebugSymbols::ReadPackages() {
  std::error_code error;
  constexpr std::string_view kSuffix = ".list";
  for (const auto& entry :
       std::filesystem::directory_iterator(root_ + "/var/lib/dpkg/info", error)) {
    std::string name = entry.path().filename();
    if (!name.ends_with(kSuffix)) continue;
    database_ = Database::kDpkg;
    name.resize(name.size() - kSuffix.size());
    name.resize(std::min(name.find(':'), name.size()));  // libc6:amd64
    names_.push_back({std::move(name), lists_.size()});
    absl::StrAppend(&lists_, TextIn(entry.path()), "\n");
    if (lists_.size() > kLargest) {
      database_ = Database::kNone;
      return;
    }
  }
}

// Searches the path as it is, and as it was or is with /usr merged into /.
std::optional<std::string> DebugSymbols::PackageOf(std::string_view path) const {
  constexpr std::string_view kUsr = "/usr";
  std::string other = path.starts_with("/usr/") ? std::string(path.substr(kUsr.size()))
                                                : absl::StrCat(View(kUsr), View(path));
  for (const std::string& one : {std::string(path), std::move(other)}) {
    const size_t at = lists_.find(absl::StrCat("\n", one, "\n"));
    if (at == lists_.npos) continue;
    const auto next = std::ranges::upper_bound(names_, at, {}, &List::begin);
    if (next != names_.begin()) return std::prev(next)->package;
  }
  return std::nullopt;
}

std::string DebugSymbols::RemedyFor(std::string_view path, bool has_build_id) {
  Read();
  std::string remedy(kBuildUnstripped);
  if (database_ != Database::kNone) {
    const std::optional<std::string> package = PackageOf(path);
    if (!package) return "build it unstripped, because no package installed it";
    remedy = "install the debug symbols of package " + Printable(*package);
    if (!distribution_.empty()) absl::StrAppend(&remedy, " (", distribution_, ")");
  }
  if (!has_build_id || server_.empty() || !servers_set_.empty()) return remedy;
  return absl::StrCat(remedy, ", or set DEBUGINFOD_URLS=", server_,
                      " (sends the build-ids of such images there)");
}

}  // namespace profiler::packages
