// What `script` shows of a sample, as -F says it.

#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"

namespace profiler::report {

enum class ScriptField : uint8_t {
  kComm,
  kPid,
  kTid,
  kTime,
  kCpu,
  kEvent,
  kIp,
  kSym,
  kSymOff,
  kDso,
  kDsoOff,
  kPeriod,
  kAddr,
  kMisc,
  kFlags,
  kDataSrc,
  kWeight,
  kInsLat,
  kRetireLat,
  kCgroup,
  kIregs,
  kUregs,
  kBrstack,
  kBrstackSym,
  kBrstackOff,
  kPhysAddr,
  kDataPageSize,
  kCodePageSize,
  kSrcline,
  kTrace,
  kCallIndent,  // of branches that were recorded one by one (intel_bts): nothing else has any
  kInsn,        // the machine code of the interrupted instruction
  kInsnLen,
};
inline constexpr int kScriptFields = 33;

// A set of them.
class ScriptFields {
 public:
  ScriptFields() = default;
  ScriptFields(std::initializer_list<ScriptField> fields) {
    for (ScriptField field : fields) Add(field);
  }

  bool has(ScriptField field) const { return bits_[static_cast<size_t>(field)]; }
  void Add(ScriptField field) { bits_.set(static_cast<size_t>(field)); }
  void Remove(ScriptField field) { bits_.reset(static_cast<size_t>(field)); }
  bool operator==(const ScriptFields&) const = default;

 private:
  std::bitset<kScriptFields> bits_;
};

// "comm", "symoff", …
std::string_view NameOf(ScriptField field);

// What is shown when nothing is said: comm,tid,cpu,time,period,event,ip,sym,symoff,dso.
ScriptFields DefaultScriptFields();

// The same of tracepoints: comm,tid,cpu,time,event,trace; and, of those with call chains,
// ip,sym,symoff,dso.
ScriptFields DefaultTracepointFields();

// Returns the fields of events by number (PERF_TYPE_RAW), as memory events are: the default, and
// addr, data_src, weight, phys_addr, data_page_size, code_page_size, ins_lat and retire_lat if they
// are recorded.
ScriptFields DefaultRawFields();

struct ScriptFieldChoice {
  ScriptFields fields = DefaultScriptFields();
  ScriptFields tracepoint_fields = DefaultTracepointFields();
  ScriptFields raw_fields = DefaultRawFields();
  // Those that were asked for by name: an event that does not record them cannot show them.
  ScriptFields asked_for;
};

// "comm,tid,ip", or "+addr,-comm" to change the default. kInvalidArgument, which quotes what is
// wrong: an unknown field, one that this program does not show, names with and without signs, a
// kind of events in front ("sw:ip").
absl::StatusOr<ScriptFieldChoice> ParseScriptFields(std::string_view text);

}  // namespace profiler::report
