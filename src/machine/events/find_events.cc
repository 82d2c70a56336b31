#include "src/machine/events/find_events.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/edit_distance.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"
#include "src/machine/events/event_text.h"
#include "src/machine/events/modifiers.h"
#include "src/machine/events/pmu.h"
#include "src/machine/events/probe_place.h"
#include "src/machine/events/sample_terms.h"
#include "src/machine/events/static_probes.h"
#include "src/machine/procfs/machine.h"

namespace profiler::events {
namespace {

using perf_event::Attr;

// If the CPUs are of several kinds, the upper half of a generic event's config selects the PMU.
constexpr int kPmuTypeShift = 32;

bool IsGeneric(const Attr& attr) {
  return attr.type == perf_event::kTypeHardware || attr.type == perf_event::kTypeHwCache;
}

bool IsBpfOutput(const Attr& attr) {
  return attr.type == perf_event::kTypeSoftware && attr.config == PERF_COUNT_SW_BPF_OUTPUT;
}

std::string Nearest(std::string_view name) {
  constexpr size_t kLongest = 64, kFarthest = 3;
  if (name.size() > kLongest) return "";
  std::string_view nearest;
  size_t distance = std::min(kFarthest, name.size() / 2) + 1;
  for (const std::string_view known : perf_event::KnownEventNames()) {
    const size_t edits = EditDistance(name, known);
    if (edits < distance) {
      distance = edits;
      nearest = known;
    }
  }
  return nearest.empty() ? "" : absl::StrCat("; did you mean '", View(nearest), "'?");
}

// Returns the error for an unknown term in `text`, which was typed or comes from sysfs.
absl::Status UnknownTerm(const Term& term, std::string_view text, const Pmu* pmu) {
  std::vector<std::string> known;
  if (pmu != nullptr) {
    known = pmu->FormatNames();
    for (std::string& alias : pmu->AliasNames()) known.push_back(std::move(alias));
  }
  for (const std::string_view name : SampleTermNames()) known.emplace_back(name);
  return ErrorAt(text, term.position,
                 absl::StrCat("no term '", term.name, "'",
                              pmu != nullptr ? absl::StrCat(" for ", pmu->name) : "",
                              "; there are ", absl::StrJoin(known, ", ")));
}

absl::Status PutTerm(const Term& term, std::string_view text, const PmuFormat& format,
                     FoundEvent* one) {
  if (!term.has_value && format.width() > 1) {
    return ErrorAt(text, term.position, absl::StrCat("'", term.name, "' takes a number"));
  }
  const auto value = term.has_value ? NumberOf(term.value) : std::optional<uint64_t>(1);
  if (!value) return ErrorAt(text, term.value_position, "a number is expected");
  if (format.Put(*value, &one->attr)) return absl::OkStatus();
  return ErrorAt(text, term.value_position,
                 absl::StrCat("'", term.name, "' has ", format.width(), " bits"));
}

class Finder {
 public:
  Finder(const procfs::Roots& roots, std::string_view text, const ProbeSearch& search)
      : roots_(roots), text_(text), static_probes_(roots, search) {}

  absl::StatusOr<std::vector<FoundEvent>> Find() {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<EventGroup> groups, ParseEventList(text_));
    for (const EventGroup& group : groups) {
      std::vector<Candidates> members;
      for (const EventText& event : group.events) {
        PROFILER_ASSIGN_OR_RETURN(members.emplace_back(), FindOne(event));
      }
      PROFILER_RETURN_IF_ERROR(group.in_braces ? AddGroup(group, members)
                                               : AddSingles(group, members.front()));
    }
    DenyInheritance();
    return std::move(found_);
  }

 private:
  // All events that one text matches.
  using Candidates = std::vector<FoundEvent>;

  absl::StatusOr<Candidates> FindOne(const EventText& event) {
    FoundEvent one{.name = event.text};
    const auto find = [&](const auto& what) { return Resolve(what, event, one); };
    return std::visit(find, event.what);
  }

  absl::StatusOr<Candidates> Resolve(const Word& word, const EventText& event, FoundEvent one) {
    if (const auto attr = perf_event::FindKnownEvent(word.name)) {
      one.attr = *attr;
      one.is_sampled_each_time = one.has_raw_data = IsBpfOutput(one.attr);
      PROFILER_RETURN_IF_ERROR(ApplyTerms(event, nullptr, &one));
      // The event's name overrides config=, as in perf.
      one.attr.config = attr->config;
      return OnEachCore(std::move(one));
    }
    Candidates candidates;
    for (const Pmu& pmu : pmus()) {
      const auto alias = pmu.FindAlias(word.name);
      if (!alias) continue;
      PROFILER_ASSIGN_OR_RETURN(candidates.emplace_back(), OfAlias(pmu, *alias, event, one));
    }
    if (!candidates.empty()) return candidates;
    return absl::NotFoundError(
        absl::StrCat("event '", word.name, "' is not known", Nearest(word.name)));
  }

  absl::StatusOr<Candidates> Resolve(const NumberedEvent& what, const EventText& event,
                                     FoundEvent one) {
    one.attr.type = what.type;
    one.attr.config = what.config;
    one.is_sampled_each_time = one.has_raw_data = IsBpfOutput(one.attr);
    PROFILER_RETURN_IF_ERROR(ApplyTerms(event, nullptr, &one));
    return Candidates{std::move(one)};
  }

  absl::StatusOr<Candidates> Resolve(const PmuEvent& what, const EventText& event,
                                     const FoundEvent& one) {
    Candidates candidates;
    for (const Pmu& pmu : FindPmus(pmus(), what.pmu)) {
      FoundEvent& candidate = candidates.emplace_back(one);
      candidate.attr.type = pmu.type;
      candidate.cpus = pmu.cpus;
      PROFILER_RETURN_IF_ERROR(ApplyTerms(event, &pmu, &candidate));
    }
    if (!candidates.empty()) return candidates;
    const auto append_name = [](std::string* names, const Pmu& pmu) { *names += pmu.name; };
    const std::string message = absl::StrCat("this machine has no PMU '", what.pmu, "'; it has ",
                                             absl::StrJoin(pmus(), ", ", append_name));
    return ErrorAt(text_, event.position, message, absl::StatusCode::kNotFound);
  }

  absl::StatusOr<Candidates> Resolve(const TracepointEvent& what, const EventText& event,
                                     const FoundEvent& one) {
    absl::StatusOr<std::vector<Tracepoint>> tracepoints =
        FindTracepoints(roots_, what.system, what.name);
    if (!tracepoints.ok()) {
      // As in perf, static probes may be named like tracepoints.
      auto probes = Resolve(NamedProbe{.provider = what.system, .name = what.name}, event, one);
      if (probes.ok() || what.system.starts_with("sdt_")) return probes;
      return tracepoints.status();
    }
    Candidates candidates;
    for (Tracepoint& tracepoint : *tracepoints) {
      FoundEvent& candidate = candidates.emplace_back(one);
      candidate.attr.type = perf_event::kTypeTracepoint;
      candidate.attr.config = tracepoint.id;
      candidate.is_sampled_each_time = candidate.has_raw_data = true;
      if (tracepoints->size() > 1) {
        candidate.name = tracepoint.full_name();
        if (!event.modifiers.letters.empty()) {
          absl::StrAppend(&candidate.name, ":", event.modifiers.letters);
        }
      }
      candidate.tracepoint = std::move(tracepoint);
      PROFILER_RETURN_IF_ERROR(ApplyTerms(event, nullptr, &candidate));
    }
    return candidates;
  }

  absl::StatusOr<Candidates> Resolve(const Breakpoint& what, const EventText& /*event*/,
                                     FoundEvent one) {
    one.attr.type = perf_event::kTypeBreakpoint;
    one.attr.bp_type = what.accesses;
    one.attr.config1 = what.address;
    one.attr.config2 = what.length;
    one.is_sampled_each_time = true;
    return Candidates{std::move(one)};
  }

  absl::StatusOr<Candidates> Resolve(const Probe& what, const EventText& /*event*/,
                                     FoundEvent one) {
    PROFILER_ASSIGN_OR_RETURN(ProbePlace place, FindProbePlace(roots_, what));
    one.danger = std::move(place.danger);
    one.is_user_return = what.at_return && !what.path.empty();
    PutProbe(place.type, place.config, std::move(place.probed), place.offset, &one);
    return Candidates{std::move(one)};
  }

  // Each place of the probes is an event. As in perf, further places of a probe have a number.
  absl::StatusOr<Candidates> Resolve(const NamedProbe& what, const EventText& event,
                                     const FoundEvent& one) {
    PROFILER_ASSIGN_OR_RETURN(std::vector<StaticProbePlace> places, static_probes_.Find(what));
    const std::vector<Pmu> uprobe = FindPmus(pmus(), "uprobe");
    if (uprobe.empty()) return absl::NotFoundError("this kernel has no uprobes for perf events");
    const auto is_elsewhere = [&](const StaticProbePlace& place) {
      return place.path != places.front().path;
    };
    const bool in_several_files = std::ranges::any_of(places, is_elsewhere);
    std::map<std::string, int> places_of_name;
    Candidates candidates;
    for (StaticProbePlace& place : places) {
      FoundEvent& candidate = candidates.emplace_back(one);
      if (places.size() > 1) {
        candidate.name = absl::StrCat(in_several_files ? place.path + ":%" : "", place.provider,
                                      ":", place.name);
        const int number = places_of_name[candidate.name]++;
        if (number > 0) absl::StrAppend(&candidate.name, "_", number);
        if (!event.modifiers.letters.empty()) {
          absl::StrAppend(&candidate.name, ":", event.modifiers.letters);
        }
      }
      PROFILER_RETURN_IF_ERROR(ApplyTerms(event, nullptr, &candidate));
      PutProbe(uprobe.front().type, 0, std::move(place.path), place.offset, &candidate);
      if (place.semaphore_offset == 0) continue;
      const auto semaphore = uprobe.front().FindFormat("ref_ctr_offset");
      if (!semaphore || !semaphore->Put(place.semaphore_offset, &candidate.attr)) {
        return absl::NotFoundError(absl::StrCat(
            Printable(one.name), ": the probe waits for a semaphore, which needs Linux 4.20"));
      }
    }
    return candidates;
  }

  static void PutProbe(uint32_t type, uint64_t config, std::string probed, uint64_t offset,
                       FoundEvent* one) {
    one->probed = std::make_shared<const std::string>(std::move(probed));
    one->attr.type = type;
    one->attr.config = config;
    one->attr.config1 = reinterpret_cast<uintptr_t>(one->probed->c_str());
    one->attr.config2 = offset;
    one->is_sampled_each_time = true;
  }

  absl::StatusOr<FoundEvent> OfAlias(const Pmu& pmu, const PmuAlias& alias, const EventText& event,
                                     FoundEvent one) {
    one.attr.type = pmu.type;
    one.cpus = pmu.cpus;
    PROFILER_RETURN_IF_ERROR(ApplyAlias(pmu, alias, event, &one));
    PROFILER_RETURN_IF_ERROR(ApplyTerms(event, nullptr, &one));
    return one;
  }

  Candidates OnEachCore(FoundEvent one) {
    if (!IsGeneric(one.attr)) return {std::move(one)};
    const std::vector<Pmu> cores = CorePmus();
    if (cores.size() < 2) return {std::move(one)};
    Candidates candidates;
    for (const Pmu& core : cores) {
      FoundEvent& candidate = candidates.emplace_back(one);
      candidate.attr.config |= uint64_t{core.type} << kPmuTypeShift;
      candidate.cpus = core.cpus;
      candidate.name = absl::StrCat(core.name, "/", one.name, "/");
    }
    return candidates;
  }

  // Applies the event's terms. `pmu` is null for events without a PMU, which have only sample terms
  // and config=.
  absl::Status ApplyTerms(const EventText& event, const Pmu* pmu, FoundEvent* one) {
    for (const Term& term : event.terms) {
      PROFILER_ASSIGN_OR_RETURN(const bool applied, ApplySampleTerm(term, text_, one));
      if (applied) continue;
      if (pmu == nullptr) return UnknownTerm(term, text_, nullptr);
      PROFILER_RETURN_IF_ERROR(ApplyPmuTerm(term, *pmu, event, one));
    }
    return absl::OkStatus();
  }

  absl::Status ApplyPmuTerm(const Term& term, const Pmu& pmu, const EventText& event,
                            FoundEvent* one) {
    if (const auto format = pmu.FindFormat(term.name)) return PutTerm(term, text_, *format, one);
    if (term.has_value) return UnknownTerm(term, text_, &pmu);
    if (const auto alias = pmu.FindAlias(term.name)) return ApplyAlias(pmu, *alias, event, one);
    if (const auto attr = perf_event::FindKnownEvent(term.name)) {
      const bool is_its_own = attr->type == pmu.type || (pmu.is_core && IsGeneric(*attr));
      if (is_its_own) {
        one->attr.type = attr->type;
        one->attr.config = attr->config;
        if (IsGeneric(*attr) && CorePmus().size() > 1) {
          one->attr.config |= uint64_t{pmu.type} << kPmuTypeShift;
        }
        return absl::OkStatus();
      }
    }
    if (const auto raw = RawConfig(term.name)) {
      one->attr.config = *raw;
      return absl::OkStatus();
    }
    return UnknownTerm(term, text_, &pmu);
  }

  // Applies the terms of an alias in sysfs like typed terms. The value "?" requires the user to
  // give that term.
  absl::Status ApplyAlias(const Pmu& pmu, const PmuAlias& alias, const EventText& event,
                          FoundEvent* one) {
    const std::string text = absl::StrCat(pmu.name, "/", alias.terms, "/");
    PROFILER_ASSIGN_OR_RETURN(const std::vector<EventGroup> parsed, ParseEventList(text));
    for (const Term& term : parsed.front().events.front().terms) {
      const auto is_given = [&](const Term& typed) { return typed.name == term.name; };
      if (term.value == "?") {
        if (std::any_of(event.terms.begin(), event.terms.end(), is_given)) continue;
        return ErrorAt(text_, event.position,
                       absl::StrCat("this event takes a term ", term.name, "=NUMBER"));
      }
      PROFILER_ASSIGN_OR_RETURN(const bool applied, ApplySampleTerm(term, text, one));
      if (applied) continue;
      const auto format = pmu.FindFormat(term.name);
      if (!format) return UnknownTerm(term, text, &pmu);
      PROFILER_RETURN_IF_ERROR(PutTerm(term, text, *format, one));
    }
    one->unit = alias.unit;
    one->scale = alias.scale;
    return absl::OkStatus();
  }

  absl::Status AddSingles(const EventGroup& group, const Candidates& candidates) {
    for (const FoundEvent& candidate : candidates) {
      PROFILER_RETURN_IF_ERROR(Add(candidate, group, group.events.front(), found_.size()));
    }
    return absl::OkStatus();
  }

  // Adds a group. All matches of a pattern become members of the group. If the CPUs are of several
  // kinds, each kind gets its own group, because a group cannot count on two PMUs.
  absl::Status AddGroup(const EventGroup& group, const std::vector<Candidates>& members) {
    size_t kinds = 1;
    for (const Candidates& member : members) {
      if (IsOfEachCore(member)) kinds = member.size();
    }
    for (size_t kind = 0; kind < kinds; ++kind) {
      const size_t leader = found_.size();
      for (size_t i = 0; i < members.size(); ++i) {
        for (size_t j = 0; j < members[i].size(); ++j) {
          if (IsOfEachCore(members[i]) && j != kind) continue;
          PROFILER_RETURN_IF_ERROR(Add(members[i][j], group, group.events[i], leader));
        }
      }
    }
    return absl::OkStatus();
  }

  // Turns inheritance off for probes, and for all members of a group that has a probe, because a
  // thread inherits whole groups.
  void DenyInheritance() {
    for (FoundEvent& event : found_) {
      const auto is_probe_of_group = [&](const FoundEvent& other) {
        return other.leader == event.leader && other.is_probe();
      };
      if (std::ranges::any_of(found_, is_probe_of_group)) event.terms.inherit = false;
    }
  }

  static bool IsOfEachCore(const Candidates& candidates) {
    return candidates.size() > 1 && IsGeneric(candidates.front().attr);
  }

  absl::Status Add(FoundEvent event, const EventGroup& group, const EventText& text,
                   size_t leader) {
    event.leader = leader;
    event.group_name = group.name;
    const bool is_leader = leader == found_.size();
    for (const Modifiers* modifiers : {&text.modifiers, &group.modifiers}) {
      PROFILER_RETURN_IF_ERROR(ApplyModifiers(*modifiers, is_leader, text_, &event.attr));
      event.sample_read |= modifiers->has('S');
      event.weak |= modifiers->has('W');
    }
    if (event.weak && !group.in_braces) {
      return ErrorAt(text_, text.modifiers.position, "'W' is for groups: {a,b}:W");
    }
    found_.push_back(std::move(event));
    return absl::OkStatus();
  }

  // Reads the PMUs on first use only, because this may be some hundred files.
  const std::vector<Pmu>& pmus() {
    if (!pmus_) pmus_ = ReadPmus(roots_);
    return *pmus_;
  }

  // Returns several PMUs if the CPUs are of different kinds.
  std::vector<Pmu> CorePmus() {
    std::vector<Pmu> cores = pmus();
    std::erase_if(cores, [](const Pmu& pmu) { return !pmu.is_core; });
    return cores;
  }

  const procfs::Roots& roots_;
  std::string_view text_;
  std::optional<std::vector<Pmu>> pmus_;
  std::vector<FoundEvent> found_;
  StaticProbeFinder static_probes_;
};

}  // namespace

std::string NoteOnInheritance(const std::vector<FoundEvent>& events) {
  const auto probe = std::ranges::find_if(events, &FoundEvent::is_probe);
  if (probe == events.end()) return "";
  return absl::StrCat(Printable(probe->name),
                      ": threads and processes that start later are not observed, because Linux "
                      "cannot inherit probes; -a observes all");
}

absl::StatusOr<std::vector<FoundEvent>> FindEvents(const procfs::Roots& roots,
                                                   std::string_view text,
                                                   const ProbeSearch& search) {
  return Finder(roots, text, search).Find();
}

}  // namespace profiler::events
