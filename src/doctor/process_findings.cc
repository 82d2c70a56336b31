#include "src/doctor/process_findings.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/analysis/interpreters.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/mapped_device.h"
#include "src/base/text.h"
#include "src/machine/packages/debug_symbols.h"
#include "src/machine/procfs/build_id.h"
#include "src/machine/procfs/memory_map.h"
#include "src/machine/procfs/process_file.h"
#include "src/machine/procfs/tasks.h"
#include "src/machine/target/child_command.h"
#include "src/profile/naming/fetch_files.h"
#include "src/record/frame_pointers.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::doctor {
namespace {

using symbolize::ElfImage;
using symbolize::ImageFile;

bool HasContents(const ElfImage& elf, std::string_view name) {
  const symbolize::ElfSection* section = elf.FindSection(name);
  return section != nullptr && section->type != SHT_NOBITS && section->size != 0;
}

Names NamesOf(const ElfImage& elf) {
  if (symbolize::dwarf::HasDebugInfo(elf)) return Names::kDebugInfo;
  if (symbolize::HasSymtab(elf)) return Names::kSymtab;
  return HasContents(elf, ".dynsym") ? Names::kExportsOnly : Names::kNone;
}

// Looks up 256 places of the code.
void FindCfi(const ElfImage& image, const ElfImage* debug, ImageReport* report) {
  constexpr uint64_t kPlaces = 256;
  const symbolize::ElfSection* text = image.FindSection(".text");
  if (text == nullptr || text->size == 0) return;
  const auto table = symbolize::CfiTable::Create(image, debug);
  if (!table.ok()) return;
  report->keeps_frame_pointers = record::KeepsFramePointers(**table, *text);
  uint64_t described = 0;
  for (uint64_t i = 0; i < kPlaces; ++i) {
    const uint64_t distance = text->size / kPlaces * i + text->size % kPlaces * i / kPlaces;
    described += (*table)->FunctionAt(ElfAddress{text->address.value + distance}) ? 1 : 0;
  }
  report->cfi_share = static_cast<double>(described) / kPlaces;
  report->bytes_without_cfi = text->size / kPlaces * (kPlaces - described);
}

// How code of a virtual machine or interpreter gets its names.
struct Runtime {
  std::string_view file;  // as analysis::InterpreterOf returns it
  std::string_view name;
  State state;
  std::string_view text;
  std::string_view remedy;  // empty: none
  // How it works if BPF programs can be loaded; empty: as without them.
  std::string_view with_programs = {};
};
constexpr Runtime kRuntimes[] = {
    {"jvm", "Java", State::kWorks, "frames and names are read from the virtual machine", ""},
    {"node", "Node.js", State::kWorks, "frames and names are read from V8's own tables", ""},
    {"python", "Python", State::kLimited,
     "names of Python functions need BPF programs (see above), or a perf map of Python 3.12 or "
     "newer",
     "start a Python of 3.12 or newer with PYTHONPERFSUPPORT=1",
     "functions of CPython 3.8 to 3.13 are read at each sample if call chains are unwound "
     "(--call-graph dwarf)"},
    {"coreclr", ".NET", State::kLimited, "names need a perf map",
     "start the program with DOTNET_PerfMapEnabled=1"},
    {"beam.smp", "Erlang", State::kLimited, "names need a perf map",
     "start the program with the option +JPperf true"},
    {"ruby", "Ruby", State::kMissing, "only the interpreter's C functions have names", ""},
    {"php", "PHP", State::kMissing, "only the interpreter's C functions have names", ""},
    {"perl", "Perl", State::kMissing, "only the interpreter's C functions have names", ""},
    {"lua", "Lua", State::kMissing, "only the interpreter's C functions have names", ""},
    {"luajit", "LuaJIT", State::kMissing, "only the interpreter's C functions have names", ""},
};

// A file that a process has mapped as code.
struct MappedImage {
  std::string path;
  uint32_t maj = 0, min = 0;
  uint64_t ino = 0;
};

struct Mappings {
  std::vector<MappedImage> images;  // in the order of their first mapping
  uint64_t anonymous_code = 0;      // bytes of executable memory that belong to no file
};

absl::StatusOr<Mappings> ReadMappings(const procfs::Roots& roots, pid_t pid) {
  Mappings mappings;
  std::set<std::tuple<uint32_t, uint32_t, uint64_t, std::string>> seen;
  const absl::Status read =
      procfs::ReadLines(absl::StrCat(roots.proc, "/", pid, "/maps"), [&](std::string_view line) {
        const auto map = procfs::ParseMapsLine(line);
        if (!map || (map->prot & PROT_EXEC) == 0) return true;
        const std::string path = procfs::RecordName(*map);
        if (map->ino == 0) {
          if (!path.starts_with("[v")) mappings.anonymous_code += map->end - map->start;
        } else if (seen.emplace(map->maj, map->min, map->ino, path).second) {
          mappings.images.push_back({path, map->maj, map->min, map->ino});
        }
        return true;
      });
  if (!read.ok()) {
    return ErrnoStatus(ErrnoOf(read), absl::StrCat("mappings of process ", pid),
                       "it may belong to another user; run as root");
  }
  return mappings;
}

std::string StatusField(const procfs::Roots& roots, pid_t pid, std::string_view key) {
  std::string text;
  if (!procfs::ReadOfProcess(roots, static_cast<uint32_t>(pid), "status", &text).ok()) return "";
  return std::string(procfs::ValueOf(text, key).value_or(""));
}

Finding IdentityOf(const procfs::Roots& roots, pid_t pid, const std::string& executable) {
  const std::string uids = StatusField(roots, pid, "Uid");
  procfs::TextScanner words(uids);
  const std::string real(words.Word());
  const std::string effective(words.Word());
  const std::string threads = StatusField(roots, pid, "Threads");
  Finding finding{"identity",
                  "process",
                  State::kWorks,
                  absl::StrCat(executable, ", user ", effective, ", ", threads,
                               threads == "1" ? " thread" : " threads"),
                  {}};
  if (real != effective) {
    absl::StrAppend(&finding.text, ", set-user-id (started by user ", real, ")");
  }
  if (executable.ends_with(" (deleted)")) {
    finding.state = State::kLimited;
    finding.text += ": names can be read only while the process runs";
  }
  return finding;
}

Finding NamespacesOf(const procfs::Roots& roots, pid_t pid) {
  std::vector<std::string> other;
  const std::string directory = absl::StrCat(roots.proc, "/", pid);
  for (const std::string kind : {"pid", "mnt", "user"}) {
    const std::string its = LinkAt(absl::StrCat(directory, "/ns/", kind));
    if (!its.empty() && its != LinkAt(absl::StrCat(roots.proc, "/self/ns/", kind))) {
      other.push_back(kind);
    }
  }
  const std::string root = LinkAt(directory + "/root");
  std::vector<std::string> parts;
  if (!other.empty()) {
    parts.push_back(absl::StrCat("own ", absl::StrJoin(other, ", "), " namespace",
                                 other.size() > 1 ? "s" : ""));
  }
  if (!root.empty() && root != "/") parts.push_back("root directory " + root);
  return {"namespaces",
          "container",
          State::kWorks,
          parts.empty() ? "none; the process sees the same files and processes"
                        : absl::StrJoin(parts, ", "),
          {}};
}

std::vector<Finding> RuntimesOf(const Mappings& mappings, bool loads_programs) {
  std::vector<Finding> findings;
  for (const Runtime& runtime : kRuntimes) {
    const auto is_its = [&](const MappedImage& image) {
      return analysis::InterpreterOf(BaseName(image.path)) == runtime.file;
    };
    if (std::ranges::none_of(mappings.images, is_its)) continue;
    Finding finding{
        "runtime", std::string(runtime.name), runtime.state, std::string(runtime.text), {}};
    if (loads_programs && !runtime.with_programs.empty()) {
      finding.state = State::kWorks;
      finding.text = runtime.with_programs;
    } else if (!runtime.remedy.empty()) {
      finding.remedies = {{std::string(runtime.remedy), "", "It changes the program's speed."}};
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Code outside of files has names only if a virtual machine is known, or its JIT writes them.
std::optional<Finding> GeneratedCode(const procfs::Roots& roots, pid_t pid,
                                     const Mappings& mappings, bool has_runtime) {
  if (mappings.anonymous_code == 0) return std::nullopt;
  const std::string pids = StatusField(roots, pid, "NSpid");
  const size_t last = pids.find_last_of(" \t");
  const std::string inner = last == std::string::npos ? pids : pids.substr(last + 1);
  const std::string map = absl::StrCat(roots.proc, "/", pid, "/root/tmp/perf-",
                                       inner.empty() ? absl::StrCat(pid) : inner, ".map");
  Finding finding{"generated-code",
                  "generated code",
                  State::kWorks,
                  absl::StrCat(mappings.anonymous_code / 1024, " KiB of generated code"),
                  {}};
  if (FileIdOf(map)) {
    finding.text += ", with a perf map";
  } else if (has_runtime) {
    finding.text += ", see the virtual machine above";
  } else {
    finding.state = State::kMissing;
    finding.text += ", without a perf map: it has no names";
    finding.remedies = {
        {"make the program's JIT write /tmp/perf-PID.map or a jitdump file", "", ""}};
  }
  return finding;
}

// Returns the object that looks up packages on this machine.
packages::DebugSymbols SymbolsHere() {
  return packages::DebugSymbols("", std::string(naming::DebugServers()));
}

// Opens a mapped image. The path is the one that this process sees. So a process with another root
// directory has other files at it, and the file is known by its inode.
symbolize::OpenedImage OpenMapped(const symbolize::ImageSpec& spec,
                                  const symbolize::SymbolizerOptions& options) {
  symbolize::OpenedImage opened = symbolize::OpenImage(spec, options);
  if (opened.file) return opened;
  absl::StatusOr<ImageFile> file = symbolize::OpenElf(spec.path);
  if (file.ok() && IsFileOfMapping(file->stamp.device, file->stamp.inode, file->stamp.hides_device,
                                   spec.maj, spec.min, spec.ino)) {
    opened.file = *std::move(file);
  }
  return opened;
}

Finding ImageFinding(const MappedImage& mapped, pid_t pid,
                     const symbolize::SymbolizerOptions& options, packages::DebugSymbols& symbols) {
  symbolize::ImageSpec spec;
  spec.path = mapped.path;
  spec.pid = static_cast<uint32_t>(pid);
  spec.maj = mapped.maj;
  spec.min = mapped.min;
  spec.ino = mapped.ino;
  const symbolize::OpenedImage opened = OpenMapped(spec, options);
  if (!opened.file) {
    return {"image",
            mapped.path,
            State::kMissing,
            opened.reason == symbolize::Reason::kNotElf ? "is not an ELF file"
                                                        : "the file cannot be opened",
            {}};
  }
  ImageReport report = ExamineImage(*opened.file, options);
  report.path = mapped.path;
  // In a container, the path may name another file.
  const bool is_here = !procfs::BuildIdOfFile(mapped.path, {}, mapped.ino).empty();
  return DescribeImage(report, is_here ? &symbols : nullptr);
}

}  // namespace

ImageReport ExamineImage(const ImageFile& image, const symbolize::SymbolizerOptions& options) {
  ImageReport report;
  report.path = image.path;
  report.build_id = HexOf(image.elf.build_id());
  report.is_32_bit = !image.elf.is_64_bit();
  report.names = NamesOf(image.elf);
  FindCfi(image.elf, nullptr, &report);
  report.has_mini_symbols = HasContents(image.elf, ".gnu_debugdata");
  if (report.names == Names::kDebugInfo) return report;
  if (const auto debug = symbolize::OpenDebugFile(image, options)) {
    const Names better = NamesOf(debug->elf);
    if (better < report.names) {
      report.names = better;
      report.names_from = debug->path == image.path ? "" : debug->path;
    }
    if (HasContents(debug->elf, ".debug_frame")) FindCfi(image.elf, &debug->elf, &report);
  }
  return report;
}

Finding DescribeImage(const ImageReport& image, packages::DebugSymbols* symbols) {
  Finding finding{"image", image.path, State::kWorks, "", {}};
  std::vector<std::string> parts;
  switch (image.names) {
    case Names::kDebugInfo:
      parts.push_back("debug information");
      break;
    case Names::kSymtab:
      parts.push_back("all symbols, no debug information");
      break;
    case Names::kExportsOnly:
      parts.push_back(image.has_mini_symbols ? "symbols, no debug information"
                                             : "symbols only of exported functions");
      if (!image.has_mini_symbols) finding.state = State::kLimited;
      break;
    case Names::kNone:
      parts.push_back("no symbols");
      finding.state = State::kMissing;
      break;
  }
  if (!image.names_from.empty()) parts.back() += " from " + image.names_from;
  constexpr double kWhole = 0.9;  // the rest is space between functions
  if (image.cfi_share >= kWhole) {
    parts.push_back("call frame information");
  } else {
    parts.push_back(image.cfi_share == 0
                        ? "no call frame information"
                        : absl::StrFormat("call frame information of %.0f %% of the code",
                                          100 * image.cfi_share));
    // The code that compilers add to each program has no call frame information.
    constexpr uint64_t kSmall = 4096;
    const bool matters = image.cfi_share == 0 || image.bytes_without_cfi > kSmall;
    if (matters && finding.state == State::kWorks) finding.state = State::kLimited;
  }
  if (image.keeps_frame_pointers) {
    parts.push_back(*image.keeps_frame_pointers ? "frame pointers" : "no frame pointers");
  }
  if (image.is_32_bit) parts.push_back("32-bit");
  parts.push_back(image.build_id.empty() ? "no build-id" : "build-id " + image.build_id);
  finding.text = absl::StrJoin(parts, ", ");
  if (image.names < Names::kExportsOnly || image.has_mini_symbols) return finding;
  if (image.build_id.empty()) {
    finding.remedies = {{"build it without -s, and with -g", "", ""}};
  } else {
    finding.remedies = {{symbols != nullptr ? symbols->RemedyFor(image.path, true)
                                            : std::string(packages::kBuildUnstripped),
                         absl::StrCat("debuginfod-find debuginfo ", image.build_id),
                         "The server learns the build-id of this image."}};
  }
  return finding;
}

absl::StatusOr<FindingGroup> FindInProcess(const procfs::Roots& roots, pid_t pid,
                                           bool loads_programs,
                                           const symbolize::SymbolizerOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(const std::string comm, procfs::CommOf(roots, pid, pid));
  PROFILER_ASSIGN_OR_RETURN(const Mappings mappings, ReadMappings(roots, pid));
  FindingGroup group{absl::StrCat("Process ", pid, " (", comm, ")"), {}};
  group.findings.push_back(
      IdentityOf(roots, pid, LinkAt(absl::StrCat(roots.proc, "/", pid, "/exe"))));
  group.findings.push_back(NamespacesOf(roots, pid));
  const std::vector<Finding> runtimes = RuntimesOf(mappings, loads_programs);
  group.findings.insert(group.findings.end(), runtimes.begin(), runtimes.end());
  if (const auto generated = GeneratedCode(roots, pid, mappings, !runtimes.empty())) {
    group.findings.push_back(*generated);
  }
  packages::DebugSymbols symbols = SymbolsHere();
  for (const MappedImage& mapped : mappings.images) {
    group.findings.push_back(ImageFinding(mapped, pid, options, symbols));
  }
  return group;
}

absl::StatusOr<FindingGroup> FindInProgram(const std::string& path,
                                           const symbolize::SymbolizerOptions& options) {
  FindingGroup group{"Program " + path, {}};
  std::string file = path;
  constexpr int kMostScripts = 5;  // as many as the kernel follows (exec_binprm)
  for (int i = 0; i < kMostScripts; ++i) {
    const auto program = target::ProgramOfScript(file);
    if (!program) break;
    file = *program;
    group.findings.push_back({"identity", "script", State::kWorks, "run by " + file, {}});
  }
  PROFILER_ASSIGN_OR_RETURN(const ImageFile image, symbolize::OpenElf(file));
  packages::DebugSymbols symbols = SymbolsHere();
  group.findings.push_back(DescribeImage(ExamineImage(image, options), &symbols));
  if (image.elf.FindSection(".dynamic") != nullptr) {
    group.findings.push_back({"libraries",
                              "libraries",
                              State::kUnknown,
                              "the program loads them when it runs; then pass its process with -p",
                              {}});
  }
  return group;
}

}  // namespace profiler::doctor
