// Samples as text, one block each, in the layout of `perf script` (Linux 7.2), which stackcollapse,
// speedscope, the Firefox Profiler and others read:
//
//   worker    4711 [001]  2180.110871:    1001001 cpu-clock:
//   	    55e7f68d2222 inl+0x29 (inlined)
//   	    55e7f68d2222 outer+0x29 (/usr/bin/worker)
//   	    7f76f841d24a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// (comm, thread id, cpu, seconds, period, event; then the call chain, innermost first, and an empty
// line.) A recording without call chains has one line a sample. With the field srcline each line of
// code is followed by where it is in the source, "  worker.c:12", or else in its image,
// "  libc.so.6[2724a]".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/sample_details.h"
#include "src/report/options.h"
#include "src/report/report.h"
#include "src/report/script_fields.h"

namespace profiler::report {

struct ScriptOptions {
  ScriptFields fields = DefaultScriptFields();
  bool nanoseconds = false;  // of times: nine digits behind the point, not six
  bool callchains = true;    // else only where the sample was taken
  bool inlines = true;
  bool full_source_paths = false;  // of srcline; else their last part
  uint32_t max_stack = 127;        // frames shown of a chain, from the interrupted one
  Filter filter;                   // samples that it does not name are left out
};

// Who and when, in front of a sample or of another record.
struct ScriptHead {
  std::string_view comm;
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = profile::kNoCpu;
  uint64_t time = 0;            // nanoseconds
  uint16_t misc = 0;            // of the record's header
  std::string_view marks = {};  // what misc says besides where the code ran: "E", "M", "S", "Sp"
};

// Formats samples one by one while a profile grows. The profile must outlive it. Formatting is
// thread-safe while the profile does not change, but for the first call, which aligns the names of
// events, and columns that grow with what was in them (data_src).
class ScriptFormatter {
 public:
  ScriptFormatter(const profile::Profile& profile, const ScriptOptions& options)
      : profile_(profile), options_(options) {}

  // Appends the block of a sample, unless the filter leaves it out.
  void FormatSample(const profile::SampleRow& row, const profile::SampleDetails& details,
                    std::string* out);

  // Appends what stands in front of records other than samples, of this event.
  void FormatHead(const ScriptHead& head, profile::EventId event, std::string* out) const;

 private:
  bool has(ScriptField field) const { return options_.fields.has(field); }
  bool HasChains(profile::EventId event) const;
  bool Passes(const profile::Row& sample) const;
  void AppendHead(const ScriptHead& head, bool with_chain, std::string& out) const;
  void AppendEvent(const profile::Row& row, std::string& out);
  void AppendAddr(const profile::SampleDetails& details, std::string& out) const;
  void AppendDataSource(const profile::SampleDetails& details, std::string& out);
  void AppendPlace(const profile::SampleRow& row, std::string& out) const;
  void AppendFrame(const profile::Frame& frame, std::string& out) const;
  void AppendSymbol(const profile::Frame& frame, profile::SymbolId name, bool offset,
                    std::string& out) const;
  void AppendDso(const profile::Frame& frame, bool offset, std::string& out) const;
  void AppendSourceLine(const profile::Frame& frame, const profile::Line* line,
                        std::string& out) const;
  void AppendBranches(const profile::SampleDetails& details, std::string& out) const;
  void AppendBranchEnd(uint64_t address, profile::FrameId frame, std::string& out) const;

  const profile::Profile& profile_;
  const ScriptOptions options_;
  size_t event_width_ = 0;
  size_t data_source_width_ = 0;
};

}  // namespace profiler::report
