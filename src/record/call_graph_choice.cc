#include "src/record/call_graph_choice.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/machine/procfs/memory_map.h"
#include "src/machine/procfs/proc_file.h"
#include "src/machine/target/child_command.h"
#include "src/record/frame_pointers.h"
#include "src/record/ring_size.h"
#include "symbolize/image_file.h"

namespace profiler::record {
namespace {

// Largest number of targets that are examined; a few are enough, because most targets are alike.
constexpr size_t kMostTargets = 8;

struct Target {
  uint32_t pid = 0;  // process in whose root directory `path` is looked up
  std::string path;
};

bool IsCLibrary(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-musl");
}

// Java needs unwinding: its virtual machine tells more about frames than frame pointers do
// (managed_processes.h).
bool IsJava(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "java" || name == "libjvm.so";
}

// Adds the executable and the C library of a process, and its Java virtual machine if it has one.
void AddImagesOf(const procfs::Roots& roots, pid_t pid, bool executable,
                 std::vector<Target>* targets) {
  const std::string directory =
      absl::StrCat(roots.proc, "/", LivingThreadOf(roots.proc, static_cast<uint32_t>(pid)));
  if (executable) {
    std::array<char, 4096> link;
    const RaisedCapabilities raised(kToReadProcesses);
    const ssize_t size = readlink((directory + "/exe").c_str(), link.data(), link.size());
    if (size > 0) {
      targets->push_back(
          {static_cast<uint32_t>(pid), std::string(link.data(), static_cast<size_t>(size))});
    }
  }
  bool has_c_library = false;
  (void)procfs::ReadLines(directory + "/maps", [&](std::string_view line) {
    const auto map = procfs::ParseMapsLine(line);
    if (!map) return true;
    const bool is_c_library = IsCLibrary(map->name) && !has_c_library;
    if (!is_c_library && !IsJava(map->name)) return true;
    has_c_library = has_c_library || is_c_library;
    targets->push_back({static_cast<uint32_t>(pid), procfs::RecordName(*map)});
    return is_c_library;
  });
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
    // The command will most likely use the same C library as this process.
    AddImagesOf(options.roots, getpid(), /*executable=*/false, &targets);
  }
  return targets;
}

CallGraphChoice ChooseForEverything(const RecordOptions& options, const UnwindingMeans& means) {
  if (options.period != 0) {
    return {
        CallGraph::kFramePointers,
        "fp (the whole machine is recorded, and the cost of dwarf is unknown with a period, -c)"};
  }
  constexpr double kSecondsOfSample = 12e-6, kMostOfCpu = 0.05;
  constexpr uint64_t kMostOfMemory = 64;  // the rings take at most a 64th of the memory
  const double share =
      kSecondsOfSample * static_cast<double>(means.samples_per_second * means.cpus);
  if (share > kMostOfCpu) {
    return {CallGraph::kFramePointers,
            absl::StrFormat("fp (the whole machine is recorded, and dwarf would take %.0f %% of a "
                            "CPU; pass a lower -F, or --call-graph dwarf)",
                            100 * share)};
  }
  const uint64_t bytes_per_second =
      means.samples_per_second * (kSystemWideStackBytes + kBesideStack);
  const RingSize ring =
      DefaultRing(means.limits, means.capabilities, means.page_size, bytes_per_second);
  const uint64_t ring_bytes = ring.pages * means.page_size;
  if (ring_bytes * means.cpus > means.memory / kMostOfMemory) {
    return {CallGraph::kFramePointers,
            absl::StrFormat("fp (the whole machine is recorded, and dwarf would need rings of %d "
                            "MiB, more than 1/64 of the memory)",
                            ring_bytes * means.cpus >> 20)};
  }
  const uint64_t locked_kb = ring_bytes / 1024 + means.page_size / 1024;
  if (!MayLockMemory(means.limits, means.capabilities) &&
      locked_kb > static_cast<uint64_t>(std::max<int64_t>(0, means.limits.mlock_kb.value_or(0)))) {
    return {CallGraph::kFramePointers,
            absl::StrFormat("fp (the whole machine is recorded, and dwarf needs more locked "
                            "memory; run `sudo sysctl kernel.perf_event_mlock_kb=%d`)",
                            locked_kb)};
  }
  return {CallGraph::kDwarf,
          absl::StrFormat("dwarf (about %.1f %% of a CPU for the whole machine)", 100 * share)};
}

}  // namespace

CallGraphChoice ChooseCallGraph(const RecordOptions& options, const UnwindingMeans& means) {
  if (options.targets.system_wide) return ChooseForEverything(options, means);
  const std::vector<Target> targets = ImagesOfTargets(options);
  symbolize::SymbolizerOptions files;
  files.proc_path = options.roots.proc;
  bool any = false;
  for (const Target& target : targets) {
    if (IsJava(target.path)) {
      return {CallGraph::kDwarf, absl::StrCat("dwarf (", target.path, " runs Java code)")};
    }
    symbolize::ImageSpec spec;
    spec.path = target.path;
    spec.pid = target.pid;
    const symbolize::OpenedImage opened = symbolize::OpenImage(spec, files);
    if (!opened.file) continue;
    const std::optional<bool> keeps = KeepsFramePointers(opened.file->elf);
    if (keeps == false) {
      return {CallGraph::kDwarf, absl::StrCat("dwarf (", target.path, " has no frame pointers)")};
    }
    any = any || keeps == true;
  }
  if (!any) return {CallGraph::kDwarf, "dwarf (it is unknown if the targets have frame pointers)"};
  return {CallGraph::kFramePointers, "fp (the program and its C library have frame pointers)"};
}

}  // namespace profiler::record
