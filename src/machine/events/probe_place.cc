#include "src/machine/events/probe_place.h"

#include <climits>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/address.h"
#include "src/base/edit_distance.h"
#include "src/base/text.h"
#include "src/machine/events/instruction_bounds.h"
#include "src/machine/events/pmu.h"
#include "src/machine/events/return_danger.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::events {
namespace {

using symbolize::ImageFile;

// Returns "ns::f" for "ns::f(int) const".
std::string_view WithoutParameters(std::string_view name) {
  return name.substr(0, std::min(name.find('(', 1), name.size()));
}

// The addresses of all functions called `name`. There are three spellings: the linker's, demangled,
// and demangled without parameters. The first spelling with a match counts.
class NamedFunctions {
 public:
  explicit NamedFunctions(std::string_view name) : name_(name) {}

  void AddFrom(const symbolize::SymbolTable& table) {
    for (const symbolize::Symbol& symbol : table.symbols()) {
      // A breakpoint among data would change the data that the program reads.
      if (symbol.plt || symbol.data) continue;
      if (symbol.sized) ends_[symbol.start] = symbol.end;
      const std::string shown = table.ShownName(symbol);
      if (table.RawName(symbol) == name_) by_reading_[0].insert(symbol.start);
      if (shown == name_) by_reading_[1].insert(symbol.start);
      if (WithoutParameters(shown) == name_) by_reading_[2].insert(symbol.start);
    }
  }

  // Returns the end of a function; nullopt if its size is unknown.
  std::optional<uint64_t> EndOf(uint64_t start) const {
    const auto end = ends_.find(start);
    return end == ends_.end() ? std::nullopt : std::optional(end->second);
  }

  const std::set<uint64_t>& found() const {
    for (const auto& reading : by_reading_) {
      if (!reading.empty()) return reading;
    }
    return by_reading_[0];
  }

 private:
  const std::string_view name_;
  std::set<uint64_t> by_reading_[3];
  std::map<uint64_t, uint64_t> ends_;  // end of each function, keyed by its start
};

// Returns options that use only debug files in root's directories. A debug file made by a user
// could name a symbol in the middle of an instruction.
symbolize::SymbolizerOptions FilesOfRoot() {
  symbolize::SymbolizerOptions options;
  options.build_id_caches.clear();
  return options;
}

absl::Status CheckOffset(const ImageFile& image, const Probe& probe, uint64_t start,
                         std::optional<uint64_t> end) {
  if (end && *end > start && probe.offset >= *end - start) {
    return absl::InvalidArgumentError(absl::StrCat("+0x", absl::Hex(probe.offset),
                                                   " is outside the function, which has 0x",
                                                   absl::Hex(*end - start), " bytes"));
  }
  return CheckBeginsInstruction(image.elf, ElfAddress{start}, probe.offset);
}

absl::StatusOr<uint64_t> FunctionAddress(const ImageFile& image, const Probe& probe) {
  NamedFunctions functions(probe.symbol);
  functions.AddFrom(symbolize::ReadElfSymbols(image.elf, image.elf));
  if (functions.found().empty()) {
    if (const auto debug = symbolize::OpenDebugFile(image, FilesOfRoot())) {
      functions.AddFrom(symbolize::ReadElfSymbols(image.elf, debug->elf));
    }
  }
  if (functions.found().empty()) {
    if (const auto mini = symbolize::UnpackMiniDebugInfo(image)) {
      functions.AddFrom(symbolize::ReadElfSymbols(image.elf, mini->elf, true));
    }
  }
  if (functions.found().empty()) {
    return absl::NotFoundError(absl::StrCat("there is no function '", probe.symbol, "' in ",
                                            probe.path, " or its debug file"));
  }
  if (functions.found().size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        functions.found().size(), " functions of ", probe.path, " are called '", probe.symbol,
        "'; give the mangled name (nm shows it), or the name with its parameters"));
  }
  const uint64_t start = *functions.found().begin();
  if (const absl::Status wrong = CheckOffset(image, probe, start, functions.EndOf(start));
      !wrong.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no probe in '", probe.symbol, "' of ", probe.path, ": ", wrong.message()));
  }
  return start;
}

absl::StatusOr<ProbePlace> PlaceInFile(const Probe& probe, ProbePlace place) {
  char resolved[PATH_MAX];
  if (realpath(probe.path.c_str(), resolved) == nullptr) return ErrnoStatus(errno, probe.path);
  place.probed = resolved;
  PROFILER_ASSIGN_OR_RETURN(const ImageFile image, symbolize::OpenElf(place.probed));
  PROFILER_ASSIGN_OR_RETURN(const uint64_t address, FunctionAddress(image, probe));
  const auto offset = image.elf.OffsetOf(ElfAddress{address + probe.offset});
  if (!offset) {
    return absl::InvalidArgumentError(
        absl::StrCat(probe.path, ": '", probe.symbol, "' is not in the file"));
  }
  place.offset = offset->value;
  if (probe.at_return) place.danger = DangerAtReturn(image.elf, probe);
  return place;
}

}  // namespace

absl::StatusOr<ProbePlace> FindProbePlace(const procfs::Roots& roots, const Probe& probe) {
  const std::string kind = probe.path.empty() ? "kprobe" : "uprobe";
  const std::vector<Pmu> pmus = FindPmus(ReadPmus(roots), kind);
  if (pmus.empty()) {
    return absl::NotFoundError(absl::StrCat("this kernel has no ", kind, "s for perf events"));
  }
  ProbePlace place{.type = pmus.front().type};
  if (probe.at_return) {
    const auto retprobe = pmus.front().FindFormat("retprobe");
    if (!retprobe) return absl::NotFoundError("this kernel does not support return probes");
    perf_event::Attr attr;
    retprobe->Put(1, &attr);
    place.config = attr.config;
  }
  if (!probe.path.empty()) return PlaceInFile(probe, std::move(place));
  place.probed = probe.symbol;
  place.offset = probe.offset;
  return place;
}

}  // namespace profiler::events
