#include "src/views/script/script_fields.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::script {
namespace {

// The names of the fields, indexed by ScriptField.
constexpr std::string_view kNames[] = {"comm",
                                       "pid",
                                       "tid",
                                       "time",
                                       "cpu",
                                       "event",
                                       "ip",
                                       "sym",
                                       "symoff",
                                       "dso",
                                       "dsoff",
                                       "period",
                                       "addr",
                                       "misc",
                                       "flags",
                                       "data_src",
                                       "weight",
                                       "ins_lat",
                                       "retire_lat",
                                       "cgroup",
                                       "iregs",
                                       "uregs",
                                       "brstack",
                                       "brstacksym",
                                       "brstackoff",
                                       "phys_addr",
                                       "data_page_size",
                                       "code_page_size",
                                       "srcline",
                                       "trace",
                                       "callindent",
                                       "insn",
                                       "insnlen"};
static_assert(std::size(kNames) == kScriptFields);

// Fields of perf that this program does not print.
constexpr std::string_view kNotShown[] = {
    "srccode", "disasm", "brstackinsn", "brstackinsnlen", "brstackdisasm", "bpf-output", "synth",
    "metric",  "ipc",    "tod",         "machine_pid",    "vcpu",          "brcntr"};

absl::StatusOr<ScriptField> FieldNamed(std::string_view name) {
  const auto known = std::find(std::begin(kNames), std::end(kNames), name);
  if (known != std::end(kNames)) {
    return static_cast<ScriptField>(std::distance(std::begin(kNames), known));
  }
  if (std::find(std::begin(kNotShown), std::end(kNotShown), name) != std::end(kNotShown)) {
    return absl::InvalidArgumentError(absl::StrCat("-F: \"", View(name), "\" cannot be shown"));
  }
  if (name.find(':') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("-F: \"", View(name),
                     "\": fields cannot differ between kinds of events; leave out the kind"));
  }
  return absl::InvalidArgumentError(absl::StrCat("-F: \"", View(name), "\" is not a field"));
}

}  // namespace

std::string_view NameOf(ScriptField field) { return kNames[static_cast<size_t>(field)]; }

ScriptFields DefaultScriptFields() {
  using enum ScriptField;
  return {kComm, kTid, kCpu, kTime, kPeriod, kEvent, kIp, kSym, kSymOff, kDso};
}

ScriptFields DefaultTracepointFields() {
  using enum ScriptField;
  return {kComm, kTid, kCpu, kTime, kEvent, kTrace, kIp, kSym, kSymOff, kDso};
}

ScriptFields DefaultRawFields() {
  using enum ScriptField;
  ScriptFields fields = DefaultScriptFields();
  for (const ScriptField field :
       {kAddr, kDataSrc, kWeight, kPhysAddr, kDataPageSize, kCodePageSize, kInsLat, kRetireLat}) {
    fields.Add(field);
  }
  return fields;
}

absl::StatusOr<ScriptFieldChoice> ParseScriptFields(std::string_view text) {
  ScriptFieldChoice choice;
  bool plain = false, changes = false;
  const std::vector<std::string> words = absl::StrSplit(View(text), ',', absl::SkipEmpty());
  for (std::string_view name : words) {
    const char sign = name.front();
    const bool change = sign == '+' || sign == '-';
    if (change) name.remove_prefix(1);
    PROFILER_ASSIGN_OR_RETURN(const ScriptField field, FieldNamed(name));
    if (!change && !plain) {
      choice.fields = choice.tracepoint_fields = choice.raw_fields = {};
    }
    (change ? changes : plain) = true;
    if (plain && changes) {
      return absl::InvalidArgumentError("-F: fields with + or - and without cannot be mixed");
    }
    if (sign == '-') {
      choice.fields.Remove(field);
      choice.tracepoint_fields.Remove(field);
      choice.raw_fields.Remove(field);
      choice.asked_for.Remove(field);
    } else {
      choice.fields.Add(field);
      choice.tracepoint_fields.Add(field);
      choice.raw_fields.Add(field);
      choice.asked_for.Add(field);
    }
  }
  if ((!plain && !changes) || choice.fields == ScriptFields()) {
    return absl::InvalidArgumentError("-F: names no field");
  }
  return choice;
}

}  // namespace profiler::script
