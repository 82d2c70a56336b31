#include "src/count/topology.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/machine/procfs/machine.h"

namespace profiler::count {
namespace {

int NodeOf(const procfs::Roots& roots, int cpu) {
  const std::string nodes = roots.sys + "/devices/system/node/";
  const auto possible = procfs::ParseCpuList(procfs::ReadLine(nodes + "online").value_or(""));
  if (!possible.ok()) return 0;
  for (const int node : *possible) {
    const auto cpus = procfs::ParseCpuList(
        procfs::ReadLine(absl::StrCat(nodes, "node", node, "/cpulist")).value_or(""));
    if (cpus.ok() && std::binary_search(cpus->begin(), cpus->end(), cpu)) return node;
  }
  return 0;
}

}  // namespace

std::string PlaceName(const procfs::Roots& roots, Aggregation aggregation, int cpu) {
  const auto topology = [&](const char* file) {
    const std::string folder = absl::StrCat(roots.sys, "/devices/system/cpu/cpu", cpu);
    return procfs::ReadNumber(absl::StrCat(folder, "/topology/", file)).value_or(0);
  };
  switch (aggregation) {
    case Aggregation::kCpu:
      return absl::StrCat("CPU", cpu);
    case Aggregation::kCore:
      return absl::StrCat("S", topology("physical_package_id"), "-D", topology("die_id"), "-C",
                          topology("core_id"));
    case Aggregation::kSocket:
      return absl::StrCat("S", topology("physical_package_id"));
    case Aggregation::kNode:
      return absl::StrCat("N", NodeOf(roots, cpu));
    case Aggregation::kAll:
    case Aggregation::kThread:
      break;
  }
  return "";
}

}  // namespace profiler::count
