#include "src/views/script/script_printer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/function_name.h"
#include "src/analysis/unmatched_filter.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"
#include "src/format/perf_event/record_line.h"
#include "src/profile/inlined_calls.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::script {
namespace {

using perf_data::EventDescription;
using perf_data::TimedRecord;
using perf_event::Attr;
using profile::EventId;
using profile::SampleRow;

constexpr size_t kPiece = 1 << 18;

// Names are requested for this many samples at once: few at first, so that the first lines come
// soon.
constexpr size_t kFirstWaiting = 256, kMostWaiting = 16384;
constexpr size_t kMostWaitingBytes = size_t{8} << 20;

// The sample_type bits that a field needs. Fields that every sample has are missing.
struct FieldSource {
  ScriptField field;
  uint64_t sample_type;  // any of these bits
};
constexpr FieldSource kSources[] = {
    {ScriptField::kPid, perf_event::kSampleTid},
    {ScriptField::kTid, perf_event::kSampleTid},
    {ScriptField::kTime, perf_event::kSampleTime},
    {ScriptField::kCpu, perf_event::kSampleCpu},
    {ScriptField::kIp, perf_event::kSampleIp},
    {ScriptField::kAddr, perf_event::kSampleAddr},
    {ScriptField::kDataSrc, perf_event::kSampleDataSrc},
    {ScriptField::kWeight, perf_event::kSampleWeight | perf_event::kSampleWeightStruct},
    {ScriptField::kInsLat, perf_event::kSampleWeightStruct},
    {ScriptField::kRetireLat, perf_event::kSampleWeightStruct},
    {ScriptField::kCgroup, perf_event::kSampleCgroup},
    {ScriptField::kIregs, perf_event::kSampleRegsIntr},
    {ScriptField::kUregs, perf_event::kSampleRegsUser},
    {ScriptField::kPhysAddr, perf_event::kSamplePhysAddr},
    {ScriptField::kDataPageSize, perf_event::kSampleDataPageSize},
    {ScriptField::kCodePageSize, perf_event::kSampleCodePageSize},
};

// True if the sample's address is looked up. This holds for page faults, whose address may be that
// of a function or of data.
bool AddrIsLookedUp(const Attr& attr) {
  constexpr uint64_t kPageFaults = 2, kMinorFaults = 5, kMajorFaults = 6;
  return attr.type == perf_event::kTypeSoftware &&
         (attr.config == kPageFaults || attr.config == kMinorFaults || attr.config == kMajorFaults);
}

perf_event::Architecture ArchitectureOf(const perf_data::Recording& recording) {
  const std::string& machine = recording.features().arch;
  return machine.empty() ? perf_event::NativeArchitecture() : perf_event::ArchitectureOf(machine);
}

// True if a field shows more of a sample than its row contains.
bool ShowsWholeSamples(const ScriptFields& fields) {
  using enum ScriptField;
  constexpr ScriptField kOfWholeSamples[] = {
      kAddr,  kMisc,    kDataSrc,    kWeight,     kInsLat,   kRetireLat,    kCgroup,      kIregs,
      kUregs, kBrstack, kBrstackSym, kBrstackOff, kPhysAddr, kDataPageSize, kCodePageSize};
  return std::any_of(std::begin(kOfWholeSamples), std::end(kOfWholeSamples),
                     [&](ScriptField field) { return fields.has(field); });
}

bool IsTracepoint(const EventDescription& event) {
  return event.attr.type == perf_event::kTypeTracepoint;
}

// True for an event given by its number, as perf's memory events are.
bool IsRaw(const EventDescription& event) { return event.attr.type == perf_event::kTypeRaw; }

// True if the event's samples contain one of the source's fields.
bool Records(const EventDescription& event, const FieldSource& source) {
  return (event.attr.sample_type & source.sample_type) != 0;
}

// True if a tracepoint exists, or may still come: a stream announces events later.
bool MayHaveTracepoints(const std::vector<EventDescription>& events) {
  return events.empty() || std::any_of(events.begin(), events.end(), IsTracepoint);
}

// True if a raw event's default fields show more of its samples than rows contain.
bool ShowsMoreOfRawEvents(const ScriptFieldChoice& choice,
                          const std::vector<EventDescription>& events) {
  return std::any_of(events.begin(), events.end(), [&](const EventDescription& event) {
    if (!IsRaw(event)) return false;
    ScriptFields fields = choice.raw_fields;
    for (const FieldSource& source : kSources) {
      if (!Records(event, source)) fields.Remove(source.field);
    }
    return ShowsWholeSamples(fields);
  });
}

// True if the field is shown by default and no event recorded it.
bool IsSkipped(const FieldSource& source, const ScriptFieldChoice& fields,
               const std::vector<EventDescription>& events) {
  if (fields.asked_for.has(source.field)) return false;
  return std::none_of(events.begin(), events.end(),
                      [&](const EventDescription& event) { return Records(event, source); });
}

// True for records of the kernel's functions, which change what is at an address.
bool ChangesKernel(const TimedRecord& timed) {
  const uint32_t type = timed.record.type();
  const bool is_mapping = type == perf_event::kRecordMmap || type == perf_event::kRecordMmap2;
  const bool is_kernel =
      (timed.record.misc() & perf_event::kMiscCpumodeMask) == perf_event::kMiscKernel;
  return type == perf_event::kRecordKsymbol || (is_mapping && is_kernel);
}

// Returns perf's mark for the bits of misc other than the CPU mode.
std::string_view MarksOf(uint32_t type, uint16_t misc) {
  switch (type) {
    case perf_event::kRecordMmap:
    case perf_event::kRecordMmap2:
      return (misc & perf_event::kMiscMmapData) != 0 ? "M" : "";
    case perf_event::kRecordComm:
      return (misc & perf_event::kMiscCommExec) != 0 ? "E" : "";
    case perf_event::kRecordSwitch:
    case perf_event::kRecordSwitchCpuWide:
      if ((misc & perf_event::kMiscSwitchOut) == 0) return "";
      return (misc & perf_event::kMiscSwitchOutPreempt) != 0 ? "Sp" : "S";
    default:
      return "";
  }
}

}  // namespace

bool ShownRecords::Includes(uint32_t type) const {
  switch (type) {
    case perf_event::kRecordComm:
    case perf_event::kRecordFork:
    case perf_event::kRecordExit:
      return tasks;
    case perf_event::kRecordMmap:
    case perf_event::kRecordMmap2:
      return mappings;
    case perf_event::kRecordSwitch:
    case perf_event::kRecordSwitchCpuWide:
      return switches;
    case perf_event::kRecordLost:
      return lost;
    case perf_event::kRecordNamespaces:
      return namespaces;
    case perf_event::kRecordCgroup:
      return cgroups;
    case perf_event::kRecordKsymbol:
    case perf_event::kRecordBpfEvent:
      return bpf;
    default:
      return false;
  }
}

ScriptPrinter::ScriptPrinter(perf_data::Recording& recording, const ScriptPlan& plan,
                             std::function<void(std::string_view)> write)
    : recording_(recording),
      plan_(plan),
      write_(std::move(write)),
      names_(naming::MakeNameStore(recording.features(), plan.naming)),
      builder_(*names_,
               [&] {
                 profile::BuilderOptions options = naming::BuilderOptionsFor(
                     recording.events(), recording.features(), plan.naming);
                 options.keep_addresses = true;
                 options.name_frames = false;
                 // Rows are needed to explain why the filter leaves nothing.
                 options.keep_rows = !plan.options.filter.empty();
                 if (!options.keep_rows) options.samples = plan.samples;
                 options.whole_samples = ShowsWholeSamples(plan.fields.fields) ||
                                         ShowsMoreOfRawEvents(plan.fields, recording.events()) ||
                                         (plan.fields.tracepoint_fields.has(ScriptField::kTrace) &&
                                          MayHaveTracepoints(recording.events()));
                 options.on_samples = [this](const profile::Profile& profile,
                                             std::span<const SampleRow> rows,
                                             const perf_event::Sample* sample) {
                   TakeSamples(profile, rows, sample);
                 };
                 return options;
               }()),
      reader_(ArchitectureOf(recording), TraceKeeper()),
      most_waiting_(kFirstWaiting) {
  for (const auto& entry : recording.features().build_ids) {
    builder_.AddBuildId(entry.filename, entry.build_id);
  }
}

// Returns the options, without default fields that are not recorded.
ScriptOptions ScriptPrinter::Options() const {
  ScriptOptions options = plan_.options;
  options.fields = plan_.fields.fields;
  options.fields.Remove(ScriptField::kTrace);
  for (const FieldSource& source : kSources) {
    if (IsSkipped(source, plan_.fields, recording_.events())) options.fields.Remove(source.field);
  }
  return options;
}

std::vector<std::string> ScriptPrinter::SkippedFields() const {
  std::vector<std::string> lines;
  for (const FieldSource& source : kSources) {
    if (!plan_.fields.fields.has(source.field)) continue;
    if (!IsSkipped(source, plan_.fields, recording_.events())) continue;
    lines.push_back(
        absl::StrCat("no sample has \"", View(NameOf(source.field)), "\", so it is not shown"));
  }
  return lines;
}

// Returns the fields to show. A tracepoint's address is shown if it has a call chain, or if the
// user named the field.
ScriptFields ScriptPrinter::FieldsOf(const EventDescription& event) const {
  ScriptFields fields =
      IsTracepoint(event) ? plan_.fields.tracepoint_fields : plan_.fields.raw_fields;
  for (const FieldSource& source : kSources) {
    if (!Records(event, source)) fields.Remove(source.field);
  }
  if (!IsTracepoint(event)) {
    fields.Remove(ScriptField::kTrace);
    return fields;
  }
  const bool has_chains =
      plan_.options.callchains && (event.attr.sample_type & perf_event::kSampleCallchain) != 0;
  if (!has_chains && !plan_.fields.asked_for.has(ScriptField::kIp)) {
    fields.Remove(ScriptField::kIp);
  }
  return fields;
}

// Returns an error if the user named a field that an event's samples do not have.
absl::Status ScriptPrinter::CheckRecorded() const {
  for (const EventDescription& event : recording_.events()) {
    if (perf_event::IsDummy(event.attr)) continue;
    for (const FieldSource& source : kSources) {
      if (Records(event, source) || !plan_.fields.asked_for.has(source.field)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "-F: the samples of ", event.name, " do not have \"", View(NameOf(source.field)), "\""));
    }
  }
  return absl::OkStatus();
}

// Returns an error if no event has the requested name. A stream announces its events later.
absl::Status ScriptPrinter::CheckEvent() {
  if (plan_.event.empty() || recording_.events().empty()) return absl::OkStatus();
  naming::AddNewEvents(recording_.events(), events_, builder_);
  return analysis::EventsNamed(builder_.profile(), plan_.event).status();
}

bool ScriptPrinter::IsShown(const profile::Profile& profile, EventId event) {
  if (plan_.event.empty()) return true;
  if (shown_of_ != events_) {
    shown_of_ = events_;
    const auto named = analysis::EventsNamed(profile, plan_.event);
    shown_ = named.ok() ? *named : std::vector<EventId>();
  }
  return std::find(shown_.begin(), shown_.end(), event) != shown_.end();
}

absl::Status ScriptPrinter::Print() {
  PROFILER_RETURN_IF_ERROR(CheckEvent());
  PROFILER_RETURN_IF_ERROR(CheckRecorded());
  const ScriptOptions options = Options();
  fields_ = options.fields;
  formatter_ = std::make_unique<ScriptFormatter>(builder_.profile(), options);
  shown_frames_.emplace(builder_.profile(), options);
  if (fields_.has(ScriptField::kInsn) || fields_.has(ScriptField::kInsnLen)) {
    naming::AddRecordedCode(recording_.features(), *names_);
    instructions_.emplace(builder_.profile(), *names_);
  }
  const auto order = perf_data::Recording::Order::kTime;
  const auto window = plan_.options.filter.empty() ? naming::WindowOf(recording_, plan_.samples)
                                                   : perf_data::Recording::Window();
  const absl::Status status = recording_.ForEach(
      order, [this](const TimedRecord& timed) { Take(timed); }, window);
  PrintAll();
  Flush(0);
  can_name_ = false;
  most_waiting_ = 0;
  // Passes on samples that waited for the rest of their call chain.
  const profile::Profile profile = std::move(builder_).Finish();
  names_->SaveToCache();
  Flush(0);
  warnings_ = naming::RefusedFiles(profile);
  if (auto reason = analysis::WhyNothingPasses(profile, plan_.options.filter)) {
    warnings_.push_back(*std::move(reason));
  }
  if (formatter_->leaves_out_inlined_calls()) {
    warnings_.push_back(profile::InlinedCallsAreLeftOut("call chains that have"));
  }
  return status;
}

void ScriptPrinter::Take(const TimedRecord& timed) {
  const uint32_t type = timed.record.type();
  if (recording_.events().size() != events_ || ChangesKernel(timed)) PrintAll();
  naming::AddNewEvents(recording_.events(), events_, builder_);
  builder_.Add(timed.record, timed.event, timed.time);
  if (type == perf_event::kRecordCgroup && timed.event < events_) {
    perf_event::Cgroup cgroup;
    if (Decode(timed.record, recording_.events()[timed.event].layout, &cgroup)) {
      PrintWaiting();  // their details have views of names of cgroups
      reader_.AddCgroup(cgroup);
    }
  }
  if (plan_.records.Includes(type)) {
    PrintAll();
    PrintRecord(timed);
  }
  Flush(kPiece);
}

// Keeps the samples until their frames have names.
void ScriptPrinter::TakeSamples(const profile::Profile& profile, std::span<const SampleRow> rows,
                                const perf_event::Sample* sample) {
  for (const SampleRow& row : rows) {
    if (!plan_.samples.HasTime(row.time) || !plan_.samples.HasCpu(row.cpu)) continue;
    if (!IsShown(profile, row.event)) continue;
    any_selected_ = true;
    const EventDescription& event = recording_.events()[static_cast<uint32_t>(row.event)];
    const size_t traces = waiting_.traces.size();
    if (sample != nullptr) {
      const profile::SampleDetails& details =
          waiting_.details.emplace_back(DetailsOf(row, *sample));
      waiting_.bytes += details.branches.size() * sizeof(profile::Branch);
    }
    waiting_.rows.push_back(row);
    waiting_.prints.push_back(
        {.comm = profile[row.thread].comm,
         .fields = IsTracepoint(event) || IsRaw(event) ? FieldsOf(event) : fields_,
         .has_trace = waiting_.traces.size() != traces});
  }
  if (waiting_.rows.size() >= most_waiting_ || waiting_.bytes >= kMostWaitingBytes) PrintWaiting();
}

// Prints all samples that were read.
void ScriptPrinter::PrintAll() {
  (void)builder_.profile();  // makes the builder pass on samples that it holds back
  PrintWaiting();
}

// Names the frames of the samples that wait, and prints the samples. Meanwhile others may come,
// because looking up functions makes the builder pass on samples.
void ScriptPrinter::PrintWaiting() {
  if (waiting_.rows.empty()) return;
  WaitingSamples samples = std::exchange(waiting_, std::exchange(spare_, {}));
  most_waiting_ = std::min(most_waiting_ * 2, kMostWaiting);
  for (size_t i = 0; i < samples.rows.size(); ++i) {
    shown_frames_->Add(samples.rows[i], samples.DetailsOf(i), samples.prints[i].fields);
  }
  builder_.Name(shown_frames_->Take());
  constexpr size_t kAhead = 32;
  size_t trace = 0;
  std::string sample_text;
  for (size_t i = 0; i < samples.rows.size(); ++i) {
    if (i % kAhead == 0) {
      const std::span<const SampleRow> rest = std::span(samples.rows).subspan(i);
      formatter_->Prefetch(rest.first(std::min(kAhead, rest.size())));
    }
    std::string& text = plan_.write_sample ? sample_text : text_;
    const size_t printed = text.size();
    FormatWaiting(samples, i, &text);
    if (samples.prints[i].has_trace) {
      TracepointRecord& record = samples.traces[trace++];
      // The filter may have removed the sample.
      if (text.size() != printed) {
        trace_bytes_ += record.second.size();
        traces_.push_back(std::move(record));
      }
    }
    if (sample_text.empty()) continue;
    FillInTraces(&sample_text);
    plan_.write_sample(samples.rows[i].event, sample_text);
    sample_text.clear();
  }
  samples.Clear();
  spare_ = std::move(samples);
}

void ScriptPrinter::FormatWaiting(const WaitingSamples& samples, size_t i, std::string* out) {
  const auto& [comm, fields, has_trace] = samples.prints[i];
  const SampleRow& row = samples.rows[i];
  if (!instructions_) return formatter_->FormatSample(row, samples.DetailsOf(i), fields, comm, out);
  profile::SampleDetails details = samples.DetailsOf(i);
  details.instruction = instructions_->At(row.self);
  formatter_->FormatSample(row, details, fields, comm, out);
}

const profile::SampleDetails& ScriptPrinter::DetailsOf(const SampleRow& row,
                                                       const perf_event::Sample& sample) {
  const auto& fields = plan_.fields.fields;
  const EventDescription& event = recording_.events()[static_cast<uint32_t>(row.event)];
  profile::SampleReader::LookUps look_ups;
  const bool names = fields.has(ScriptField::kSym) || fields.has(ScriptField::kDso);
  look_ups.addr = fields.has(ScriptField::kAddr) && names && AddrIsLookedUp(event.attr);
  look_ups.trace = IsTracepoint(event) && plan_.fields.tracepoint_fields.has(ScriptField::kTrace);
  look_ups.branches = fields.has(ScriptField::kBrstackSym) ||
                      fields.has(ScriptField::kBrstackOff) ||
                      (fields.has(ScriptField::kBrstack) && fields.has(ScriptField::kDso));
  return reader_.Read(sample, event.layout, look_ups, builder_);
}

void ScriptPrinter::PrintRecord(const TimedRecord& timed) {
  static const perf_event::RecordLayout kNoLayout;
  const perf_event::RawRecord record = timed.record;
  const bool has_event = timed.event < events_;
  const perf_event::RecordLayout& layout =
      has_event ? recording_.events()[timed.event].layout : kNoLayout;
  perf_event::RecordSubject subject;
  if (has_event && SubjectOf(record, layout, &subject)) {
    // Mappings of the kernel have process -1.
    const bool idle = subject.tid == 0;
    const profile::ThreadId thread = builder_.ThreadOf(idle ? 0 : subject.pid, subject.tid);
    const profile::Profile& profile = builder_.profile();
    const bool has_cpu = (layout.sample_type & perf_event::kSampleCpu) != 0;
    formatter_->FormatHead({.comm = profile.text(profile[thread].comm),
                            .pid = subject.written.pid,
                            .tid = subject.written.tid,
                            .cpu = has_cpu ? subject.written.cpu : profile::kNoCpu,
                            .time = subject.written.time,
                            .misc = record.misc(),
                            .marks = MarksOf(record.type(), record.misc())},
                           EventId(timed.event), &text_);
  }
  text_ += RecordLine(record, layout);
}

void ScriptPrinter::Flush(size_t least) {
  if ((text_.size() < least && trace_bytes_ < kPiece) || text_.empty()) return;
  std::string text = std::exchange(text_, std::exchange(spare_text_, {}));
  FillInTraces(&text);
  write_(text);
  text.clear();
  spare_text_ = std::move(text);
}

// Returns a function that prints a mark and keeps the record. Texts are requested for many records
// at once, because single requests would take most of the time.
profile::SampleReader::DescribeTracepoint ScriptPrinter::TraceKeeper() {
  if (!plan_.describe_tracepoints) return {};
  return [this](std::span<const std::byte> raw, uint32_t cpu, std::string* out) {
    waiting_.traces.emplace_back(cpu, TextOf(raw));
    waiting_.bytes += raw.size();
    *out += kTraceMark;
  };
}

// Replaces the marks in `text`. Looking up functions may make the builder pass on samples that it
// kept; these are printed after `text`.
void ScriptPrinter::FillInTraces(std::string* text) {
  if (traces_.empty()) return;
  std::vector<TracepointRecord> records;
  records.swap(traces_);
  trace_bytes_ = 0;
  std::vector<std::string> texts;
  absl::flat_hash_map<std::pair<uint64_t, bool>, std::string> names;
  plan_.describe_tracepoints(
      records,
      [&](uint64_t address, bool with_offset) {
        const auto [known, is_new] = names.try_emplace(std::pair(address, with_offset));
        if (is_new) known->second = KernelFunctionAt(address, with_offset);
        return known->second;
      },
      &texts);
  std::string filled = std::exchange(filled_, {});
  size_t at = 0;
  for (const std::string& trace : texts) {
    const size_t mark = text->find(kTraceMark, at);
    if (mark == std::string::npos) break;
    filled.append(*text, at, mark - at);
    AppendPrintable(trace, filled, '\t');
    at = mark + 1;
  }
  filled.append(*text, at, std::string::npos);
  text->swap(filled);
  filled.clear();
  filled_ = std::move(filled);
}

std::string ScriptPrinter::KernelFunctionAt(uint64_t address, bool with_offset) {
  if (!can_name_) return "";
  const profile::FrameId frame = builder_.FrameAt(/*pid=*/0, address);
  builder_.Name({&frame, 1});
  return analysis::FunctionName(builder_.profile(), frame, with_offset);
}

}  // namespace profiler::script
