// The fields that `script` prints of a sample, as -F names them.

#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"

namespace profiler::script {

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
  kCallIndent,  // only for branches that were recorded one by one (intel_bts)
  kInsn,        // machine code of the interrupted instruction
  kInsnLen,
};
inline constexpr int kScriptFields = 33;

// A set of fields.
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

// Returns the name of a field: "comm", "symoff", …
std::string_view NameOf(ScriptField field);

// Returns the default fields: comm,tid,cpu,time,period,event,ip,sym,symoff,dso.
ScriptFields DefaultScriptFields();

// Returns the default fields of tracepoints: comm,tid,cpu,time,event,trace. If the event has call
// chains, ip,sym,symoff,dso are added.
ScriptFields DefaultTracepointFields();

// Returns the default fields of events that are given by number (PERF_TYPE_RAW), such as memory
// events: the fields of DefaultScriptFields, and addr, data_src, weight, phys_addr, data_page_size,
// code_page_size, ins_lat and retire_lat if they are recorded.
ScriptFields DefaultRawFields();

// The fields that -F chooses for each kind of event.
struct ScriptFieldChoice {
  ScriptFields fields = DefaultScriptFields();
  ScriptFields tracepoint_fields = DefaultTracepointFields();
  ScriptFields raw_fields = DefaultRawFields();
  // Fields that the user named. If an event does not record one of these, that is an error.
  ScriptFields asked_for;
};

// Parses "comm,tid,ip", or "+addr,-comm" to change the default. Returns kInvalidArgument for an
// unknown field, for a field that cannot be shown, for a mix of names with and without signs, and
// for a prefix that names a kind of events ("sw:ip"). The message quotes the word.
absl::StatusOr<ScriptFieldChoice> ParseScriptFields(std::string_view text);

}  // namespace profiler::script
