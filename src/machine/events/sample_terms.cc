#include "src/machine/events/sample_terms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/machine/procfs/machine.h"

namespace profiler::events {
namespace {

// A term and the event that it is applied to.
struct Target {
  const Term& term;
  std::string_view text;
  FoundEvent& event;

  absl::Status Bad(std::string_view message) const {
    return ErrorAt(text, term.has_value ? term.value_position : term.position, message);
  }
};

absl::StatusOr<uint64_t> Number(const Target& target) {
  const auto value = NumberOf(target.term.value);
  if (value) return *value;
  return target.Bad(absl::StrCat("'", target.term.name, "' needs a number"));
}

template <uint64_t perf_event::Attr::*kField>
absl::Status Config(const Target& target) {
  PROFILER_ASSIGN_OR_RETURN(target.event.attr.*kField, Number(target));
  return absl::OkStatus();
}

// Sets a rate. Period and frequency exclude each other; the last one wins.
template <std::optional<uint64_t> SampleTerms::*kField,
          std::optional<uint64_t> SampleTerms::*kOther>
absl::Status Rate(const Target& target) {
  PROFILER_ASSIGN_OR_RETURN(target.event.terms.*kField, Number(target));
  target.event.terms.*kOther = std::nullopt;
  return absl::OkStatus();
}

template <std::optional<uint64_t> SampleTerms::*kField>
absl::Status Count(const Target& target) {
  PROFILER_ASSIGN_OR_RETURN(target.event.terms.*kField, Number(target));
  return absl::OkStatus();
}

// Sets a yes-or-no term. "inherit" without a value means yes, "no-inherit" means no.
template <std::optional<bool> SampleTerms::*kField>
absl::Status YesOrNo(const Target& target) {
  const bool negated = target.term.name.starts_with("no-");
  if (target.term.has_value && target.term.value != "0" && target.term.value != "1") {
    return target.Bad("0 or 1 is expected");
  }
  const bool yes = !target.term.has_value || target.term.value == "1";
  target.event.terms.*kField = yes != negated;
  return absl::OkStatus();
}

absl::Status Name(const Target& target) {
  if (!target.term.has_value) return target.Bad("'name' needs a text");
  target.event.name = target.term.value;
  return absl::OkStatus();
}

absl::Status CallGraph(const Target& target) {
  static constexpr std::array<std::string_view, 4> kKnown = {"fp", "dwarf", "no", "auto"};
  if (std::find(kKnown.begin(), kKnown.end(), target.term.value) == kKnown.end()) {
    return target.Bad("call-graph must be fp, dwarf, auto or no");
  }
  target.event.terms.call_graph = target.term.value;
  return absl::OkStatus();
}

// Checks the value of `time`. The term has no effect: samples always have a time, because rings are
// merged by time.
absl::Status Time(const Target& target) {
  if (target.term.value == "0" || target.term.value == "1") return absl::OkStatus();
  return target.Bad("0 or 1 is expected");
}

absl::Status Cpus(const Target& target) {
  auto cpus = procfs::ParseCpuList(target.term.value);
  if (!cpus.ok()) return target.Bad("a list of CPUs like 0-3 is expected");
  target.event.cpus = *std::move(cpus);
  return absl::OkStatus();
}

struct KnownTerm {
  std::string_view name;
  absl::Status (*apply)(const Target&);
};

constexpr KnownTerm kTerms[] = {
    {"config", Config<&perf_event::Attr::config>},
    {"config1", Config<&perf_event::Attr::config1>},
    {"config2", Config<&perf_event::Attr::config2>},
    {"config3", Config<&perf_event::Attr::config3>},
    {"config4", Config<&perf_event::Attr::config4>},
    {"name", Name},
    {"period", Rate<&SampleTerms::period, &SampleTerms::frequency>},
    {"freq", Rate<&SampleTerms::frequency, &SampleTerms::period>},
    {"call-graph", CallGraph},
    {"stack-size", Count<&SampleTerms::stack_size>},
    {"max-stack", Count<&SampleTerms::max_stack>},
    {"time", Time},
    {"inherit", YesOrNo<&SampleTerms::inherit>},
    {"no-inherit", YesOrNo<&SampleTerms::inherit>},
    {"cpu", Cpus},
};

// perf's terms that are not supported here.
constexpr std::string_view kRefused[] = {
    "branch_type",     "nr",        "percore",       "aux-output", "aux-action",
    "aux-sample-size", "metric-id", "ratio-to-prev", "overwrite"};

}  // namespace

absl::StatusOr<bool> ApplySampleTerm(const Term& term, std::string_view text, FoundEvent* event) {
  for (const KnownTerm& known : kTerms) {
    if (known.name != term.name) continue;
    PROFILER_RETURN_IF_ERROR(known.apply({term, text, *event}));
    return true;
  }
  if (std::find(std::begin(kRefused), std::end(kRefused), term.name) == std::end(kRefused)) {
    return false;
  }
  return ErrorAt(text, term.position, absl::StrCat("'", term.name, "' is not supported"));
}

std::vector<std::string_view> SampleTermNames() {
  std::vector<std::string_view> names;
  for (const KnownTerm& known : kTerms) names.push_back(known.name);
  return names;
}

}  // namespace profiler::events
