// Samples as text, one block each, in the layout of `perf script` (Linux 7.2), which stackcollapse,
// speedscope, the Firefox Profiler and others read:
//
//   worker    4711 [001]  2180.110871:    1001001 cpu-clock:
//   	    55e7f68d2222 inl+0x29 (inlined)
//   	    55e7f68d2222 outer+0x29 (/usr/bin/worker)
//   	    7f76f841d24a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// (comm, thread id, cpu, seconds, period, event; then the call chain, innermost first, and an empty
// line.) A recording without call chains has one line a sample.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"
#include "src/report/options.h"
#include "src/report/report.h"

namespace profiler::report {

struct ScriptOptions {
  bool show_cpu = true;  // the profile's rows have their cpu
  bool inlines = true;
  uint32_t max_stack = 127;  // frames shown of a chain, from the interrupted one
  Filter filter;             // samples that it does not name are left out
};

// Formats the rows of one profile, which must have been built with a row a sample (time and cpu
// kept) and must outlive this. Formatting is thread-safe.
class ScriptFormatter {
 public:
  ScriptFormatter(const profile::Profile& profile, const ScriptOptions& options);

  // Appends the sample's block.
  void FormatSample(const profile::Row& sample, std::string* out) const;

  // All samples that pass the filter, in the profile's order.
  void Write(TextSink sink) const;

 private:
  void AppendHead(const profile::Row& sample, std::string& out) const;
  void AppendFrame(const profile::Frame& frame, std::string& out) const;
  void AppendSymbol(const profile::Frame& frame, profile::SymbolId name, std::string& out) const;
  bool Passes(const profile::Row& sample) const;

  const profile::Profile& profile_;
  const ScriptOptions options_;
  std::vector<bool> has_chains_;  // by event
  size_t event_width_ = 0;
};

// The same for one sample. For many, keep a ScriptFormatter: its construction looks at all rows.
void FormatSample(const profile::Profile& profile, const profile::Row& sample,
                  const ScriptOptions& options, std::string* out);

}  // namespace profiler::report
