#include "src/fleet/agent/own_cost.h"

#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/text.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::agent {
namespace {

using std::chrono::nanoseconds;

nanoseconds TimeOf(const rusage& usage) {
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

nanoseconds TimeOf(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return TimeOf(usage);
}

// Parses "total resident shared …", in pages.
uint64_t ResidentOf(const std::string& directory) {
  std::string text;
  if (!procfs::ReadFile(directory + "/statm", &text).ok()) return 0;
  procfs::TextScanner words(text);
  words.Word();
  return procfs::ParseNumber<uint64_t>(words.Word()).value_or(0) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Parses "Pss:   35333 kB".
std::optional<uint64_t> ProportionalOf(const std::string& directory) {
  std::string text;
  if (!procfs::ReadFile(directory + "/smaps_rollup", &text).ok()) return std::nullopt;
  const auto value = procfs::ValueOf(text, "Pss");
  if (!value) return std::nullopt;
  const auto kilobytes = procfs::ParseNumber<uint64_t>(value->substr(0, value->find(' ')));
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

void AddMemoryOf(const std::string& directory, OwnCost& cost) {
  const uint64_t resident = ResidentOf(directory);
  cost.resident += resident;
  cost.memory += ProportionalOf(directory).value_or(resident);
}

// Adds the children of the process in `directory` and their descendants, down to `depth`
// generations.
void AddChildrenOf(const procfs::Roots& roots, const std::string& directory, int depth,
                   OwnCost& cost) {
  for (const std::string& thread : NamesIn(directory + "/task")) {
    std::string children;
    if (!procfs::ReadFile(absl::StrCat(directory, "/task/", thread, "/children"), &children).ok()) {
      continue;
    }
    procfs::TextScanner pids(children);
    while (!pids.done()) {
      const std::string child = absl::StrCat(roots.proc, "/", View(pids.Word()));
      cost.cpu += procfs::TimesOf(child).own;
      AddMemoryOf(child, cost);
      if (depth > 1) AddChildrenOf(roots, child, depth - 1, cost);
    }
  }
}

}  // namespace

OwnCost ReadOwnCost(const procfs::Roots& roots) {
  // Two generations are enough: the processes that read memory are grandchildren.
  constexpr int kGenerations = 2;
  const std::string self = roots.proc + "/self";
  OwnCost cost = {.cpu = TimeOf(RUSAGE_SELF) + TimeOf(RUSAGE_CHILDREN)};
  AddMemoryOf(self, cost);
  AddChildrenOf(roots, self, kGenerations, cost);
  return cost;
}

}  // namespace profiler::agent
