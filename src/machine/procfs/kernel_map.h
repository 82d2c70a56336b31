// Finds the addresses of the running kernel and its modules.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

// The kernel's own text.
struct KernelText {
  uint64_t start = 0, end = 0;
  std::string symbol;           // first symbol of the text: _text or _stext
  uint64_t symbol_address = 0;  // a reader compares it with vmlinux to undo KASLR
};

// Returns the kernel's text; nullopt if addresses are hidden (kernel.kptr_restrict) or there is no
// kallsyms. The end of the text comes from /proc/iomem if that is readable. Otherwise kallsyms is
// read up to _etext (some 60 ms).
std::optional<KernelText> FindKernelText(const Roots& roots);

struct KernelModule {
  uint64_t start = 0, end = 0;
  std::string path;  // path of its .ko file, or "[name]" if unknown
};

// Returns the modules, ascending by address. Empty if addresses are hidden or the kernel has no
// modules.
std::vector<KernelModule> LoadedModules(const Roots& roots, const std::string& modules_directory);

}  // namespace profiler::procfs
