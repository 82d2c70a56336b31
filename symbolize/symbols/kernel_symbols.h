// The kernel's symbols, as /proc/kallsyms lists them.
//
//   ffffffff81000000 T _stext
//   ffffffffc0a31000 t nf_conntrack_in\t[nf_conntrack]
//
// Text symbols (t, T, w, W) and data (d, D, b, B), which bound them, are kept. Ends are not listed:
// a symbol ends where the next one starts, and the last one of the kernel or of a module at the end
// of the page after its own.
//
// Source: Linux kernel/kallsyms.c (s_show); tools/perf/util/symbol.c (__dso__load_kallsyms) for
// which symbols count.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

// True for the name of an image that a recording says is the kernel's or a module's, if it is the
// kernel's: [kernel.kallsyms]_text, [kernel.vmlinux], /boot/vmlinux-6.1, /proc/kcore.
bool IsKernelItself(std::string_view name);
// True for the name of the kernel in a table of build-ids, where any file except a module's is the
// kernel's: perf names it after the file that it had the symbols of, such as one in its cache.
bool IsKernelInBuildIds(std::string_view name);

class KernelSymbols {
 public:
  // Errors: those of open(2) and read(2).
  static absl::StatusOr<KernelSymbols> Read(const std::string& path);
  // Takes the text over; its last byte must be NUL. Lines that cannot be read are skipped.
  static KernelSymbols Parse(std::vector<std::byte> text);

  const SymbolTable& table() const { return table_; }
  // Every address is 0: kernel.kptr_restrict hides them from this reader.
  bool restricted() const { return restricted_; }

  // The address of `_text` or `_stext`, which recordings name to say where the kernel was; 0 where
  // there is none, and for other names.
  uint64_t ReferenceAddress(std::string_view name) const;
  // Where the first function of a module stands; 0 where no such module is loaded.
  uint64_t FirstOfModule(std::string_view name) const;

  // Functions of the scheduler, which a thread that waits is always in: what /proc/PID/wchan passes
  // over as well (in_sched_functions, kernel/sched/core.c, Linux 6.18). From `start` up to `end`;
  // both are 0 where they are not known.
  struct Range {
    uint64_t start = 0, end = 0;
    bool Has(uint64_t address) const { return address >= start && address < end; }
  };
  const Range& scheduler() const { return scheduler_; }

 private:
  SymbolTable table_;
  absl::flat_hash_map<std::string, uint64_t> modules_;  // their first functions, by name
  uint64_t text_ = 0;
  uint64_t stext_ = 0;
  Range scheduler_;
  bool restricted_ = false;
};

}  // namespace profiler::symbolize
