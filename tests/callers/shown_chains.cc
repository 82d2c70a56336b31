#include "tests/callers/shown_chains.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace profiler::tests {
namespace {

constexpr std::string_view kCutPrefix = "[cut: ";

// Functions where threads begin: of the C library, of Go's runtime.
constexpr std::array<std::string_view, 12> kStarts = {
    "_start",         "clone3",          "__clone3",     "clone",
    "__clone",        "runtime.goexit",  "runtime.mstart", "runtime.rt0_go",
    "_rt0_amd64",     "_rt0_arm64",      "__libc_start",  "runtime.clone"};
constexpr std::array<std::string_view, 4> kExactStarts = {"_start", "clone3", "clone", "__clone"};

// Functions of the kernel by which user code enters it, or where its own threads begin.
constexpr std::array<std::string_view, 9> kKernelEntries = {
    "entry_SYSCALL", "asm_", "ret_from_fork", "do_syscall_64", "el0", "el0t_64_", "error_entry",
    "entry_INT80", "secondary_startup"};

bool BeginsWithOneOf(std::string_view text, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace
}  // namespace profiler::tests
