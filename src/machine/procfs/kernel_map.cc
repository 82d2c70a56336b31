#include "src/machine/procfs/kernel_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "src/base/raised_capabilities.h"
#include "src/base/unique_fd.h"
#include "symbolize/symbols/module_name.h"

namespace profiler::procfs {
namespace {

// Calls `visit` with each line, without its newline, until it returns false. The kernel creates
// kallsyms, 5 MB, while it is read; so read it in pieces and stop as soon as possible.
void ForEachLine(const std::string& path, absl::FunctionRef<bool(std::string_view)> visit) {
  UniqueFd fd;
  {
    // The capabilities at open(2) decide whether the kernel shows addresses.
    const RaisedCapabilities raised(kToReadProcesses);
    fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!fd.valid()) return;
  std::array<char, 64 * 1024> buffer;
  size_t kept = 0;
  while (kept < buffer.size()) {
    const ssize_t got = read(fd.get(), buffer.data() + kept, buffer.size() - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    std::string_view text(buffer.data(), kept + static_cast<size_t>(got));
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      if (!visit(text.substr(0, end))) return;
      text.remove_prefix(end + 1);
    }
    kept = text.size();
    std::memmove(buffer.data(), text.data(), kept);
  }
}

struct KernelSymbol {
  uint64_t address = 0;
  std::string_view name;
  bool of_module = false;
};

// Parses "ffffffff81000000 T _text"; the symbol of a module is followed by "\t[ext4]".
std::optional<KernelSymbol> ParseKallsymsLine(std::string_view line) {
  TextScanner scanner(line);
  const auto address = ParseNumber<uint64_t>(scanner.Word(), 16);
  if (!address.has_value()) return std::nullopt;
  scanner.Word();  // skips the type
  KernelSymbol symbol;
  symbol.address = *address;
  symbol.name = scanner.Word();
  symbol.of_module = !scanner.done();
  return symbol;
}

// Returns the size in bytes of the kernel's code, from _text to _etext. The line in /proc/iomem is
// "  01000000-02206447 : Kernel code". The kernel shows zeroes there to unprivileged users.
std::optional<uint64_t> TextSizeFromIomem(const Roots& roots) {
  std::string text;
  if (!ReadFile(roots.proc + "/iomem", &text).ok()) return std::nullopt;
  TextScanner lines(text);
  while (!lines.done()) {
    TextScanner line(lines.Until('\n'));
    TextScanner range(line.Word());
    line.Word();
    if (line.rest() != "Kernel code") continue;
    const auto first = ParseNumber<uint64_t>(range.Until('-'), 16);
    const auto last = ParseNumber<uint64_t>(range.rest(), 16);
    if (!first || !last || *last <= *first) return std::nullopt;
    return *last - *first + 1;
  }
  return std::nullopt;
}

// Returns the paths of the installed modules, keyed by module name.
absl::flat_hash_map<std::string, std::string> InstalledModules(const std::string& directory) {
  absl::flat_hash_map<std::string, std::string> paths;
  ForEachLine(directory + "/modules.dep", [&](std::string_view line) {
    const std::string_view path = line.substr(0, line.find(':'));
    if (path.starts_with('/')) {
      paths.emplace(ModuleName(path), path);
    } else if (!path.empty()) {
      paths.emplace(ModuleName(path),
                    absl::StrCat(directory, "/", absl::string_view(path.data(), path.size())));
    }
    return true;
  });
  return paths;
}

}  // namespace

std::optional<KernelText> FindKernelText(const Roots& roots) {
  const std::optional<uint64_t> size = TextSizeFromIomem(roots);
  KernelText text;
  ForEachLine(roots.proc + "/kallsyms", [&](std::string_view line) {
    const std::optional<KernelSymbol> symbol = ParseKallsymsLine(line);
    if (!symbol.has_value() || symbol->of_module) return false;
    if (symbol->name == "_text" || (symbol->name == "_stext" && text.symbol.empty())) {
      if (symbol->address == 0) return false;
      text.symbol = symbol->name;
      text.start = text.symbol_address = symbol->address;
      if (text.symbol == "_text" && size.has_value()) {
        text.end = text.start + *size;
        return false;
      }
    }
    if (symbol->name == "_etext") text.end = symbol->address;
    return text.end == 0;
  });
  if (text.start == 0 || text.end <= text.start) return std::nullopt;
  return text;
}

std::vector<KernelModule> LoadedModules(const Roots& roots, const std::string& modules_directory) {
  std::string text;
  if (!ReadFile(roots.proc + "/modules", &text).ok() || text.empty()) return {};
  const auto installed = InstalledModules(modules_directory);
  std::vector<KernelModule> modules;
  TextScanner lines(text);
  while (!lines.done()) {
    // ext4 737280 1 mbcache,jbd2, Live 0xffffffffc0200000
    TextScanner line(lines.Until('\n'));
    const std::string name(line.Word());
    const auto size = ParseNumber<uint64_t>(line.Word());
    line.Word();  // skips the number of users
    line.Word();  // skips the names of users
    line.Word();  // skips the state
    std::string_view address = line.Word();
    if (address.starts_with("0x")) address.remove_prefix(2);
    const auto start = ParseNumber<uint64_t>(address, 16);
    if (!size || !start || *start == 0) continue;
    const auto path = installed.find(ModuleName(name));
    modules.push_back({*start, *start + *size,
                       path == installed.end() ? absl::StrCat("[", name, "]") : path->second});
  }
  std::sort(modules.begin(), modules.end(),
            [](const KernelModule& a, const KernelModule& b) { return a.start < b.start; });
  return modules;
}

}  // namespace profiler::procfs
