// Where the running kernel and its modules lie.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/procfs/proc_file.h"

namespace profiler::procfs {

// The kernel's own text.
struct KernelText {
  uint64_t start = 0, end = 0;
  std::string symbol;           // the symbol that the text begins with: _text or _stext
  uint64_t symbol_address = 0;  // a reader compares it with a vmlinux to undo KASLR
};

// Nothing where addresses are hidden (kernel.kptr_restrict) or there is no kallsyms. Its end comes
// from /proc/iomem where that is open, otherwise kallsyms is read as far as _etext (some 60 ms).
std::optional<KernelText> FindKernelText(const Roots& roots);

struct KernelModule {
  uint64_t start = 0, end = 0;
  std::string path;  // of its .ko file, or "[name]" when that is not known
};

// Ascending by address. Empty where addresses are hidden or the kernel has no modules.
std::vector<KernelModule> LoadedModules(const Roots& roots, const std::string& modules_directory);

}  // namespace profiler::procfs
