#include "src/record/call_graph_choice.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/procfs/memory_map.h"
#include "src/procfs/proc_file.h"
#include "src/record/frame_pointers.h"
#include "src/target/command.h"
#include "symbolize/image_file.h"

namespace profiler::record {
namespace {

// Targets looked at: they are mostly alike.
constexpr size_t kMostTargets = 8;

struct Target {
  uint32_t pid = 0;  // whose view of the file system
  std::string path;
};

bool IsCLibrary(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-musl");
}

// The executable and the C library of a process.
void AddImagesOf(const procfs::Roots& roots, pid_t pid, bool executable,
                 std::vector<Target>* targets) {
  const std::string directory = absl::StrCat(roots.proc, "/", pid);
  if (executable) {
    std::array<char, 4096> link;
    const ssize_t size = readlink((directory + "/exe").c_str(), link.data(), link.size());
    if (size > 0) {
      targets->push_back(
          {static_cast<uint32_t>(pid), std::string(link.data(), static_cast<size_t>(size))});
    }
  }
  std::string maps;
  if (!procfs::ReadFile(directory + "/maps", &maps).ok()) return;
  for (procfs::TextScanner lines(maps); !lines.done();) {
    const auto map = procfs::ParseMapsLine(lines.Until('\n'));
    if (!map || !IsCLibrary(map->name)) continue;
    targets->push_back({static_cast<uint32_t>(pid), procfs::RecordName(*map)});
    return;
  }
}

std::vector<Target> ImagesOfTargets(const RecordOptions& options) {
  std::vector<Target> targets;
  for (const std::vector<pid_t>* ids : {&options.targets.pids, &options.targets.tids}) {
    for (size_t i = 0; i < std::min(ids->size(), kMostTargets); ++i) {
      AddImagesOf(options.roots, (*ids)[i], /*executable=*/true, &targets);
    }
  }
  if (targets.empty() && !options.targets.command.empty()) {
    if (auto program = target::FindProgram(options.targets.command.front()); program.ok()) {
      targets.push_back({0, *std::move(program)});
    }
    // It will most likely have the C library that we have.
    AddImagesOf(options.roots, getpid(), /*executable=*/false, &targets);
  }
  return targets;
}

}  // namespace

CallGraphChoice ChooseCallGraph(const RecordOptions& options) {
  if (options.targets.system_wide)
    return {CallGraph::kFramePointers, "fp, as everything is recorded"};
  const std::vector<Target> targets = ImagesOfTargets(options);
  symbolize::SymbolizerOptions files;
  files.proc_path = options.roots.proc;
  bool any = false;
  for (const Target& target : targets) {
    symbolize::ImageSpec spec;
    spec.path = target.path;
    spec.pid = target.pid;
    const symbolize::OpenedImage opened = symbolize::OpenImage(spec, files);
    if (!opened.file) continue;
    const std::optional<bool> keeps = KeepsFramePointers(opened.file->elf);
    if (keeps == false) {
      return {CallGraph::kDwarf, absl::StrCat("dwarf, as ", target.path, " has no frame pointers")};
    }
    any = any || keeps == true;
  }
  if (!any) return {CallGraph::kDwarf, "dwarf, as nothing is known of frame pointers"};
  return {CallGraph::kFramePointers, "fp, as the program and its C library have frame pointers"};
}

}  // namespace profiler::record
