// Reads the kernel's symbols from /proc/kallsyms.
//
//   ffffffff81000000 T _stext
//   ffffffffc0a31000 t nf_conntrack_in\t[nf_conntrack]
//
// Keeps text symbols (t, T, w, W). Keeps data symbols (d, D, b, B) too, because they show where
// text symbols end. The list does not say where symbols end: a symbol ends at the start of the next
// one. The last symbol of the kernel or of a module ends one page after its own page.
//
// Source: Linux kernel/kallsyms.c (s_show); tools/perf/util/symbol.c (__dso__load_kallsyms) for the
// choice of symbols.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

// Returns true if `name`, the path of a kernel or module image in a recording, is the kernel's:
// [kernel.kallsyms]_text, [kernel.vmlinux], /boot/vmlinux-6.1, /proc/kcore.
bool IsKernelItself(std::string_view name);
// Returns true if `name` in a table of build-ids is the kernel's. In such a table every file except
// a module is the kernel's, because perf stores the path of the file with the symbols, such as a
// file in perf's cache.
bool IsKernelInBuildIds(std::string_view name);

class KernelSymbols {
 public:
  // Reads a file. Errors: those of open(2) and read(2).
  static absl::StatusOr<KernelSymbols> Read(const std::string& path);
  // Parses and keeps the text, whose last byte must be NUL. Skips invalid lines.
  static KernelSymbols Parse(std::vector<std::byte> text);

  const SymbolTable& table() const { return table_; }
  // Returns true if all addresses are 0, because kernel.kptr_restrict hides them from this process.
  bool restricted() const { return restricted_; }

  // Returns the address of `_text` or `_stext`, one of which recordings use to store the kernel's
  // address. Returns 0 if there is none, and for other names.
  uint64_t ReferenceAddress(std::string_view name) const;
  // Returns the address of a module's first function; 0 if no such module is loaded.
  uint64_t FirstOfModule(std::string_view name) const;

  // Address range of the scheduler's functions. Every waiting thread is in one of them, so
  // /proc/PID/wchan skips them too (in_sched_functions, kernel/sched/core.c, Linux 6.18). `end` is
  // exclusive; both are 0 if unknown.
  struct Range {
    uint64_t start = 0, end = 0;
    bool Has(uint64_t address) const { return address >= start && address < end; }
  };
  const Range& scheduler() const { return scheduler_; }

 private:
  SymbolTable table_;
  // Addresses of modules' first functions, keyed by the module's name.
  absl::flat_hash_map<std::string, uint64_t> modules_;
  uint64_t text_ = 0;
  uint64_t stext_ = 0;
  Range scheduler_;
  bool restricted_ = false;
};

}  // namespace profiler::symbolize
