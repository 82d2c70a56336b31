#include "src/base/living_thread.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/raised_capabilities.h"

namespace profiler {
namespace {

// Try at most this many threads. If they cannot be read, the others probably cannot either.
constexpr size_t kMostTried = 16;

bool HasFiles(const std::string& proc, uint32_t id) {
  const RaisedCapabilities raised(kToReadProcesses);
  return FileIdOf(absl::StrCat(proc, "/", id, "/root")).has_value();
}

}  // namespace

uint32_t LivingThreadOf(const std::string& proc, uint32_t pid) {
  if (HasFiles(proc, pid)) return pid;
  size_t tried = 0;
  for (const std::string& name : NamesIn(absl::StrCat(proc, "/", pid, "/task"))) {
    uint32_t tid = 0;
    if (!absl::SimpleAtoi(name, &tid) || tid == pid) continue;
    if (tried++ == kMostTried) break;
    if (HasFiles(proc, tid)) return tid;
  }
  return pid;
}

}  // namespace profiler
