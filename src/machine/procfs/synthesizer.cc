#include "src/machine/procfs/synthesizer.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"
#include "src/machine/procfs/bpf_programs.h"
#include "src/machine/procfs/kernel_map.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::procfs {
namespace {

constexpr uint32_t kKernelPid = static_cast<uint32_t>(-1);
constexpr std::string_view kDeleted = " (deleted)";

// Opens the file of a mapping, with the process's root, because the process may be in another mount
// namespace. A deleted file is opened through the mapping itself.
UniqueFd OpenImage(const Roots& roots, pid_t pid, const MemoryMap& map, const std::string& name) {
  const std::string process =
      absl::StrCat(roots.proc, "/", LivingThreadOf(roots.proc, static_cast<uint32_t>(pid)));
  const std::string root = process + "/root";
  std::string path = root + name;
  if (name.ends_with(kDeleted)) {
    path = absl::StrFormat("%s/map_files/%x-%x", process, map.start, map.end);
  }
  // Capabilities are safe here, because the check below refuses any file except the mapped one.
  const RaisedCapabilities raised(kToOpenImages);
  absl::StatusOr<UniqueFd> fd = OpenRegularFile(path, root);
  if (!fd.ok()) return {};
  // Another file may have got the name after the mapping was made.
  if (!IsMappedFile(fd->get(), map.maj, map.min, map.ino)) return {};
  return *std::move(fd);
}

}  // namespace

void Synthesizer::AddKernel() {
  if (const std::optional<KernelText> text = FindKernelText(options_.roots)) {
    AddKernelMap(text->start, text->end, text->symbol_address, "[kernel.kallsyms]" + text->symbol);
  }
  for (const KernelModule& module : LoadedModules(options_.roots, options_.modules_directory)) {
    AddKernelMap(module.start, module.end, 0, module.path);
  }
}

void Synthesizer::AddBpfPrograms() {
  constexpr uint16_t kBpf = 1;
  for (const BpfFunction& function : LoadedBpfFunctions()) {
    perf_event::Ksymbol record{
        .addr = function.start, .len = function.size, .ksym_type = kBpf, .name = function.name};
    perf_event::Encode(perf_event::kRecordKsymbol, 0, options_.layout, record, &records_);
  }
}

void Synthesizer::AddKernelMap(uint64_t start, uint64_t end, uint64_t pgoff,
                               const std::string& name) {
  perf_event::Mmap record;
  record.pid = kKernelPid;
  record.addr = start;
  record.len = end - start;
  record.pgoff = pgoff;
  record.filename = name;
  perf_event::Encode(perf_event::kRecordMmap, perf_event::kMiscKernel, options_.layout, record,
                     &records_);
}

absl::Status Synthesizer::AddAllProcesses() {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> pids, ProcessIds(options_.roots));
  for (const pid_t pid : pids) {
    if (const absl::Status added = AddProcess(pid); !added.ok() && !absl::IsNotFound(added)) {
      return added;
    }
  }
  return absl::OkStatus();
}

absl::Status Synthesizer::AddProcess(pid_t pid) {
  if (processes_.contains(pid)) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> tids, ThreadIds(options_.roots, pid));
  PROFILER_ASSIGN_OR_RETURN(const pid_t parent, ParentOf(options_.roots, pid));
  processes_.insert(pid);
  // Add the leader first, because the other FORK records name it as their parent.
  AddThread(pid, pid, parent);
  for (const pid_t tid : tids) {
    if (tid != pid) AddThread(pid, tid, pid);
  }
  AddMaps(pid);
  return absl::OkStatus();
}

void Synthesizer::AddThread(pid_t pid, pid_t tid, pid_t parent) {
  const absl::StatusOr<std::string> comm = CommOf(options_.roots, pid, tid);
  if (!comm.ok()) return;
  perf_event::Task fork;
  fork.pid = pid;
  fork.tid = tid;
  fork.ppid = fork.ptid = parent;
  // FORK_EXEC tells readers not to copy the parent's mappings; MMAP2 records follow for all of
  // them.
  perf_event::Encode(perf_event::kRecordFork, perf_event::kMiscForkExec, options_.layout, fork,
                     &records_);
  perf_event::Comm name;
  name.pid = pid;
  name.tid = tid;
  name.comm = *comm;
  perf_event::Encode(perf_event::kRecordComm, 0, options_.layout, name, &records_);
  if (options_.namespaces) AddNamespaces(pid, tid);
}

void Synthesizer::AddNamespaces(pid_t pid, pid_t tid) {
  // The order of the kernel's NR_NAMESPACES enumeration.
  static constexpr const char* kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
  std::vector<std::byte> links;
  for (const char* name : kNames) {
    struct stat status = {};
    // A thread that ends meanwhile, or another user's, has numbers of 0, as with perf.
    (void)stat(absl::StrCat(options_.roots.proc, "/", pid, "/task/", tid, "/ns/", name).c_str(),
               &status);
    const uint64_t link[] = {status.st_dev, status.st_ino};
    const auto bytes = std::as_bytes(std::span(link));
    links.insert(links.end(), bytes.begin(), bytes.end());
  }
  perf_event::Namespaces record;
  record.pid = static_cast<uint32_t>(pid);
  record.tid = static_cast<uint32_t>(tid);
  record.links = perf_event::U64Array(links);
  perf_event::Encode(perf_event::kRecordNamespaces, 0, options_.layout, record, &records_);
}

void Synthesizer::AddCgroup(uint64_t id, std::string_view path) {
  perf_event::Cgroup record;
  record.id = id;
  record.path = path;
  perf_event::Encode(perf_event::kRecordCgroup, 0, options_.layout, record, &records_);
}

void Synthesizer::AddMaps(pid_t pid) {
  // The maps file of a kernel thread is empty, and that of another user's process is unreadable.
  // Stop reading when the budget is used up, because the kernel takes a second for the longest
  // files.
  bool has_room = true;
  const uint32_t thread = LivingThreadOf(options_.roots.proc, static_cast<uint32_t>(pid));
  const std::string path = absl::StrCat(options_.roots.proc, "/", thread, "/maps");
  (void)ReadLines(path, [&](std::string_view line) {
    const std::optional<MemoryMap> map = ParseMapsLine(line);
    if (!map.has_value() || (map->prot & PROT_EXEC) == 0) return true;
    const size_t before = records_.size();
    AddMap(pid, *map);
    has_room = budget_.Take(static_cast<uint32_t>(pid), records_.size() - before);
    if (!has_room) records_.resize(before);
    return has_room;
  });
  if (!has_room) cut_.push_back(pid);
}

void Synthesizer::AddMap(pid_t pid, const MemoryMap& map) {
  const std::string name = RecordName(map);
  perf_event::Mmap2 record;
  record.pid = record.tid = pid;
  record.addr = map.start;
  record.len = map.end - map.start;
  record.pgoff = map.pgoff;
  record.prot = map.prot;
  record.flags = map.flags;
  record.filename = name;
  uint16_t misc = perf_event::kMiscUser;
  if (options_.build_ids && map.ino != 0 && name.starts_with('/')) {
    record.build_id = BuildIdOf(pid, map, name);
  }
  if (record.build_id.empty()) {
    record.maj = map.maj;
    record.min = map.min;
    record.ino = map.ino;
  } else {
    misc |= perf_event::kMiscMmapBuildId;
  }
  perf_event::Encode(perf_event::kRecordMmap2, misc, options_.layout, record, &records_);
}

const BuildId& Synthesizer::BuildIdOf(pid_t pid, const MemoryMap& map, const std::string& name) {
  const ImageKey key{makedev(map.maj, map.min), map.ino};
  const auto [entry, is_new] = build_ids_.try_emplace(key);
  if (is_new) {
    const UniqueFd fd = OpenImage(options_.roots, pid, map, name);
    if (fd.valid()) entry->second = BuildIdOfFd(fd.get());
  }
  return entry->second;
}

}  // namespace profiler::procfs
