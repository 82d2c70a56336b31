#include "src/format/perf_event/code_memory.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace profiler::perf_event {
namespace {

// Names of memory that look like paths begin with one of these.
constexpr std::array<std::string_view, 4> kPrefixes = {"/dev/zero", "/anon_hugepage", "[stack",
                                                       "/SYSV"};

}  // namespace

bool IsCodeMemory(std::string_view filename) {
  return filename.empty() || filename == "//anon" || filename == "[heap]" ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [filename](std::string_view prefix) { return filename.starts_with(prefix); });
}

std::string CodeMemoryName(uint32_t pid) { return absl::StrCat("/tmp/perf-", pid, ".map"); }

}  // namespace profiler::perf_event
