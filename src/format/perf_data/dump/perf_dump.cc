#include "src/format/perf_data/dump/perf_dump.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/branch_names.h"
#include "src/base/byte_reader.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_data/dump/describe_features.h"
#include "src/format/perf_data/format/own_layout.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/data_source.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/read_values.h"
#include "src/format/perf_event/record_line.h"
#include "src/format/perf_event/register_names.h"

namespace profiler::perf_data {
namespace {

using perf_event::RawRecord;
using perf_event::Sample;

constexpr size_t kOutputPiece = 1 << 16;
// The kernel's names have at most 15 characters; perf's own have more.
constexpr size_t kMaxComm = 64;

// Formats like C's %#lx, which writes 0 without a prefix.
std::string Hexadecimal(uint64_t value) { return absl::StrFormat("%#x", value); }

void AppendBytes(std::span<const std::byte> bytes, std::string* out) {
  constexpr size_t kPerLine = 16;
  absl::StrAppendFormat(out, ".\n. ... raw event: size %u bytes\n", bytes.size());
  for (size_t at = 0; at < bytes.size(); at += kPerLine) {
    const auto line = bytes.subspan(at, std::min(kPerLine, bytes.size() - at));
    absl::StrAppendFormat(out, ".  %04x: ", at);
    for (const std::byte byte : line) {
      absl::StrAppendFormat(out, " %02x", std::to_integer<int>(byte));
    }
    out->append(3 * (kPerLine - line.size()) + 2, ' ');
    for (const std::byte byte : line) {
      const char c = static_cast<char>(byte);
      *out += c >= ' ' && c <= '~' ? c : '.';
    }
    out->append(kPerLine - line.size(), ' ');
    *out += '\n';
  }
  *out += '\n';
}

std::string_view ContextName(uint64_t entry) {
  switch (entry) {
    case perf_event::kContextHypervisor:
      return " (PERF_CONTEXT_HV)";
    case perf_event::kContextKernel:
      return " (PERF_CONTEXT_KERNEL)";
    case perf_event::kContextUser:
      return " (PERF_CONTEXT_USER)";
    case perf_event::kContextUserDeferred:
      return " (PERF_CONTEXT_USER_DEFERRED)";
    case perf_event::kContextGuest:
      return " (PERF_CONTEXT_GUEST)";
    case perf_event::kContextGuestKernel:
      return " (PERF_CONTEXT_GUEST_KERNEL)";
    case perf_event::kContextGuestUser:
      return " (PERF_CONTEXT_GUEST_USER)";
    default:
      return "";
  }
}

void AppendChain(perf_event::U64Array chain, std::string* out) {
  absl::StrAppendFormat(out, "... FP chain: nr:%u\n", chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    absl::StrAppendFormat(out, "..... %2d: %016x%s\n", i, chain[i], ContextName(chain[i]));
  }
}

void AppendBranches(std::span<const std::byte> bytes, std::string* out) {
  const perf_event::U64Array words(bytes);
  absl::StrAppendFormat(out, "... branch stack: nr:%u\n", words.size() / 3);
  for (size_t i = 0; i + 2 < words.size(); i += 3) {
    const uint64_t flags = words[i + 2];
    const auto mark = [&](int bit, char letter) { return (flags >> bit & 1) != 0 ? letter : ' '; };
    absl::StrAppendFormat(out, "..... %2d: %016x -> %016x %u cycles %c%c%c%c %x %s %s\n", i / 3,
                          words[i], words[i + 1], flags >> 4 & 0xffff, mark(0, 'M'), mark(1, 'P'),
                          mark(3, 'A'), mark(2, 'T'), flags >> 33, BranchTypeName(flags),
                          (flags >> 24 & 3) != 0 ? SpeculationName(flags) : "");
  }
}

void AppendRegisters(std::string_view whose, const perf_event::Registers& registers,
                     perf_event::Architecture architecture, std::string* out) {
  constexpr std::string_view kAbis[] = {"none", "32-bit", "64-bit"};
  const std::string_view abi = registers.abi < std::size(kAbis) ? kAbis[registers.abi] : "unknown";
  absl::StrAppendFormat(out, "... %s regs: mask %#x ABI %s\n", whose, registers.mask, abi);
  const perf_event::U64Array values(registers.values);
  size_t next = 0;
  for (int bit = 0; bit < 64 && next < values.size(); ++bit) {
    if ((registers.mask >> bit & 1) == 0) continue;
    absl::StrAppendFormat(out, ".... %-5s 0x%016x\n", perf_event::RegisterName(architecture, bit),
                          values[next++]);
  }
}

void AppendRead(perf_event::U64Array words, uint64_t read_format, std::string* out) {
  const perf_event::ReadValues values(words, read_format);
  *out += "... sample_read:\n";
  if ((read_format & perf_event::kFormatTotalTimeEnabled) != 0) {
    absl::StrAppendFormat(out, "...... time enabled %016x\n", values.time_enabled());
  }
  if ((read_format & perf_event::kFormatTotalTimeRunning) != 0) {
    absl::StrAppendFormat(out, "...... time running %016x\n", values.time_running());
  }
  if ((read_format & perf_event::kFormatGroup) != 0) {
    absl::StrAppendFormat(out, ".... group nr %u\n", values.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const perf_event::CounterValue value = values[i];
    absl::StrAppendFormat(out, "..... id %016x, value %016x", value.id, value.value);
    if ((read_format & perf_event::kFormatLost) != 0) absl::StrAppend(out, ", lost ", value.lost);
    *out += '\n';
  }
}

// Returns the ranges of consecutive CPUs, such as "0-3,5".
std::string CpuRanges(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", cpus[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", cpus[end - 1]);
    i = end;
  }
  return text;
}

// A field of one of perf's own records, in native byte order.
struct OwnValue {
  std::string_view name;
  uint64_t number = 0;          // 0: text and bytes
  std::string_view bytes = {};  // the field as it is in the record
};
using OwnValues = std::vector<OwnValue>;

// Returns all fields of a record's body, in order.
OwnValues ReadOwnFields(uint32_t type, std::span<const std::byte> body) {
  OwnValues values;
  WalkOwnFields(OwnPartsOf(type, body, false), body,
                [&](const OwnField& field, std::span<const std::byte> bytes) {
                  OwnValue& value = values.emplace_back(field.name.text);
                  value.bytes = TextOf(bytes);
                  if (field.kind == OwnField::kNumber) {
                    std::memcpy(&value.number, bytes.data(), bytes.size());
                  }
                  return value.number;
                });
  return values;
}

const OwnValue* Find(const OwnValues& values, std::string_view name) {
  const auto it = std::find_if(values.begin(), values.end(),
                               [&](const OwnValue& value) { return value.name == name; });
  return it == values.end() ? nullptr : &*it;
}

// Returns the number in the first field of that name; 0 if the record is too short.
uint64_t NumberOf(const OwnValues& values, std::string_view name) {
  const OwnValue* const value = Find(values, name);
  return value == nullptr ? 0 : value->number;
}

// Returns the CPUs of a CPU_MAP record, or of an EVENT_UPDATE. They are a list, a mask or a range.
std::string CpuMapText(const OwnValues& values) {
  constexpr int kMaxCpus = 1 << 16;
  std::vector<int> cpus;
  int first = 0;  // first CPU of the next word of the mask
  for (const OwnValue& value : values) {
    if (value.name == "cpu") {
      cpus.push_back(static_cast<int16_t>(value.number));
    } else if (value.name == "mask" && first < kMaxCpus) {
      const int bits = static_cast<int>(8 * value.bytes.size());
      for (int bit = 0; bit < bits; ++bit) {
        if ((value.number >> bit & 1) != 0) cpus.push_back(first + bit);
      }
      first += bits;
    } else if (value.name == "any_cpu" && value.number != 0) {
      cpus.push_back(-1);
    } else if (value.name == "end_cpu") {
      const auto last = static_cast<int>(value.number);
      for (auto cpu = static_cast<int>(NumberOf(values, "start_cpu")); cpu <= last; ++cpu) {
        cpus.push_back(cpu);
      }
    }
  }
  return CpuRanges(cpus);
}

std::string IdIndexText(const OwnValues& values) {
  std::string text = absl::StrCat(" nr: ", NumberOf(values, "nr"), "\n");
  std::string line;
  for (const auto& [name, number, bytes] : values) {
    if (name == "id") line = absl::StrCat(" ... id: ", number);
    if (name == "idx") absl::StrAppend(&line, "  idx: ", number);
    if (name == "cpu") absl::StrAppend(&line, "  cpu: ", static_cast<int64_t>(number));
    if (name == "tid") {
      absl::StrAppend(&text, line, "  tid: ", static_cast<int64_t>(number), "\n");
    }
  }
  return text;
}

std::string ThreadMapText(const OwnValues& values) {
  const uint64_t count = NumberOf(values, "nr");
  std::string text = absl::StrCat(" nr: ", count, " thread", count > 1 ? "s" : "", ": ");
  std::string_view separator;
  for (const OwnValue& value : values) {
    if (value.name != "pid") continue;
    absl::StrAppend(&text, View(separator), static_cast<int>(value.number));
    separator = ", ";
  }
  return text + "\n: unhandled!\n";
}

std::string EventUpdateText(const OwnValues& values, size_t body_size) {
  constexpr size_t kHead = 16;
  const auto text_of = [&](std::string_view name) {
    const OwnValue* const value = Find(values, name);
    if (value == nullptr) return std::string();
    return Printable(value->bytes.substr(0, value->bytes.find('\0')));
  };
  std::string text = absl::StrCat("\n... id:    ", NumberOf(values, "id"), "\n");
  if (body_size <= kHead) return text;
  switch (NumberOf(values, "type")) {
    case kEventUpdateCpus:
      absl::StrAppend(&text, "... ", CpuMapText(values), "\n");
      break;
    case kEventUpdateUnit:
      absl::StrAppend(&text, "... unit:  ", text_of("text"), "\n");
      break;
    case kEventUpdateName:
      absl::StrAppend(&text, "... name:  ", text_of("text"), "\n");
      break;
    case kEventUpdateScale:
      absl::StrAppendFormat(&text, "... scale: %f\n",
                            std::bit_cast<double>(NumberOf(values, "scale")));
      break;
    default:
      absl::StrAppend(&text, "... unknown type \n");
  }
  return text;
}

std::string TimeConvText(const OwnValues& values) {
  std::string text = absl::StrCat("\n... Time Shift      ", NumberOf(values, "time_shift"),
                                  "\n... Time Multiplier ", NumberOf(values, "time_mult"),
                                  "\n... Time Zero       ", NumberOf(values, "time_zero"), "\n");
  if (Find(values, "cap_user_time_short") != nullptr) {
    absl::StrAppendFormat(&text,
                          "... Time Cycles     %u\n... Time Mask       %#x\n"
                          "... Cap Time Zero   %d\n... Cap Time Short  %d\n",
                          NumberOf(values, "time_cycles"), NumberOf(values, "time_mask"),
                          NumberOf(values, "cap_user_time_zero"),
                          NumberOf(values, "cap_user_time_short"));
  }
  return text + ": unhandled!\n";
}

std::string AuxtraceText(const OwnValues& values) {
  return absl::StrFormat(
      " size: %#x  offset: %#x  ref: %#x  idx: %u  tid: %d  cpu: %d\n", NumberOf(values, "size"),
      NumberOf(values, "offset"), NumberOf(values, "reference"), NumberOf(values, "idx"),
      static_cast<int32_t>(NumberOf(values, "tid")), static_cast<int32_t>(NumberOf(values, "cpu")));
}

std::string AttrText(std::span<const std::byte> body) {
  const auto decoded = perf_event::ReadAttr(body, false);
  if (!decoded.ok()) return "\n";
  std::string text;
  for (const auto& [name, value] : perf_event::DescribeAttr(decoded->attr)) {
    absl::StrAppend(&text, ", ", name, " = ", value);
  }
  return text + "\n";
}

// Returns the title of a feature that is one text; empty for others.
std::string_view FeatureTitle(uint64_t bit) {
  switch (bit) {
    case kFeatureHostname:
      return "hostname";
    case kFeatureOsrelease:
      return "os release";
    case kFeatureVersion:
      return "perf version";
    case kFeatureArch:
      return "arch";
    case kFeatureCpudesc:
      return "cpudesc";
    case kFeatureCpuid:
      return "cpuid";
    default:
      return {};
  }
}

// Returns the header lines about one feature. `body` is that of the feature's record. Costs a pass
// over all features.
std::vector<std::string> FeatureLines(const Recording& recording, std::span<const std::byte> body) {
  const Features& features = recording.features();
  ByteReader reader(body);
  const auto bit = reader.Read<uint64_t>();
  if (const std::string_view title = FeatureTitle(bit); !title.empty()) {
    reader.Read<uint32_t>();  // skips the length of the text
    const std::string_view text = TextOf(body.subspan(reader.offset()));
    return {absl::StrCat(View(title), " : ", View(text.substr(0, text.find('\0'))))};
  }
  if (bit == kFeatureNrcpus && features.nrcpus) {
    return {absl::StrCat("nrcpus online : ", features.nrcpus->online),
            absl::StrCat("nrcpus avail : ", features.nrcpus->available)};
  }
  if (bit == kFeatureTotalMem && features.total_mem_kb) {
    return {absl::StrCat("total memory : ", *features.total_mem_kb, " kB")};
  }
  if (bit == kFeatureCmdline) {
    return {absl::StrCat("cmdline : ", absl::StrJoin(features.cmdline, " "), " ")};
  }
  if (bit < kFeatureBits) {
    const auto described = DescribeFeatures(recording);
    if (const auto it = described.find(static_cast<int>(bit)); it != described.end()) {
      return it->second;
    }
  }
  return {};
}

// Returns the text that follows the name of one of perf's own records.
std::string OwnText(uint32_t type, std::span<const std::byte> body) {
  switch (type) {
    case perf_event::kRecordHeaderAttr:
      return AttrText(body);
    case perf_event::kRecordIdIndex:
      return IdIndexText(ReadOwnFields(type, body));
    case perf_event::kRecordThreadMap:
      return ThreadMapText(ReadOwnFields(type, body));
    case perf_event::kRecordCpuMap:
      return absl::StrCat(": ", CpuMapText(ReadOwnFields(type, body)), "\n: unhandled!\n");
    case perf_event::kRecordEventUpdate:
      return EventUpdateText(ReadOwnFields(type, body), body.size());
    case perf_event::kRecordTimeConv:
      return TimeConvText(ReadOwnFields(type, body));
    case perf_event::kRecordAuxtraceInfo:
      return absl::StrCat(" type: ", NumberOf(ReadOwnFields(type, body), "type"), "\n");
    case perf_event::kRecordAuxtrace:
      return AuxtraceText(ReadOwnFields(type, body));
    case perf_event::kRecordFinishedInit:
      return ": unhandled!\n";
    default:
      return "\n";
  }
}

uint64_t OffsetIn(RawRecord record, std::span<const std::byte> part) {
  return static_cast<uint64_t>(part.data() - record.bytes().data());
}

class PerfDumper {
 public:
  PerfDumper(Recording& recording, std::string_view name,
             absl::FunctionRef<void(std::string_view)> sink)
      : recording_(recording),
        name_(recording.layout().pipe ? "pipe" : Printable(name)),
        // The offsets of a stream are counted from its first record.
        origin_(recording.layout().pipe ? kPipeHeaderSize : 0),
        sink_(sink) {}

  void Take(const TimedRecord& timed) {
    const uint32_t type = timed.record.type();
    // perf shows the records that are inside.
    if (type == perf_event::kRecordCompressed || type == perf_event::kRecordCompressed2) return;
    AddNewEvents();
    const EventDescription* const event =
        type < perf_event::kRecordUserFirst && timed.event < recording_.events().size()
            ? &recording_.events()[timed.event]
            : nullptr;
    if (event != nullptr && !timed.record.in_one_piece()) {
      const std::vector<std::byte> whole = CopyInOnePiece(timed.record, event->layout);
      Append(RawRecord(whole), timed, event);
    } else {
      Append(timed.record, timed, event);
    }
    if (out_.size() >= kOutputPiece) Flush();
  }

  void Flush() {
    if (!out_.empty()) sink_(out_);
    out_.clear();
  }

 private:
  // Counts the events that perf knows before the next record. In a stream, perf knows only events
  // whose HEADER_ATTR was shown.
  void AddNewEvents() {
    const std::vector<EventDescription>& events = recording_.events();
    const size_t shown = recording_.layout().pipe ? std::min(attrs_, events.size()) : events.size();
    for (; events_ < shown; ++events_) {
      const perf_event::Attr& attr = events[events_].attr;
      if (events_ == 0) sample_id_all_ = attr.has(perf_event::kAttrSampleIdAll);
      sample_types_ |= attr.sample_type;
    }
    architecture_ = recording_.features().arch.empty()
                        ? perf_event::NativeArchitecture()
                        : perf_event::ArchitectureOf(recording_.features().arch);
  }

  void Append(RawRecord record, const TimedRecord& timed, const EventDescription* event) {
    const uint32_t type = record.type();
    const std::string offset =
        Hexadecimal(timed.file_offset - std::min(timed.file_offset, origin_));
    absl::StrAppendFormat(&out_, "\n%s@%s [%#x]: event: %d\n", offset, name_, record.size(), type);
    AppendBytes(record.bytes(), &out_);
    std::optional<Sample> sample;
    if (type == perf_event::kRecordSample && event != nullptr &&
        !Decode(record, event->layout, &sample.emplace())) {
      sample.reset();
    }
    AppendTimestamp(record, event, sample ? &*sample : nullptr);
    absl::StrAppendFormat(&out_, "%s [%#x]: ", offset, record.size());
    if (sample) {
      AppendSample(record, *sample, *event);
    } else if (event != nullptr) {
      out_ += KernelLine(record, *event);
    } else {
      const std::string_view name = perf_event::RecordTypeName(type);
      absl::StrAppend(&out_, "PERF_RECORD_", name.empty() ? "UNKNOWN" : View(name),
                      type == perf_event::kRecordHeaderFeature ? FeatureText(record.body())
                                                               : OwnText(type, record.body()));
      attrs_ += type == perf_event::kRecordHeaderAttr;
    }
  }

  // Returns a feature's lines at its first record, and no lines at later ones, because a malicious
  // stream could repeat the record.
  std::string FeatureText(std::span<const std::byte> body) {
    std::string text;
    const auto bit = ByteReader(body).Read<uint64_t>();
    if (bit >= kFeatureBits || features_[bit]) return "\n";
    features_.set(bit);
    for (const std::string& line : FeatureLines(recording_, body)) {
      text += text.empty() ? ", # " : "\n# ";
      AppendPrintable(line, text, '\t');
    }
    return text + "\n";
  }

  // Appends the CPU and the time, if any event records them.
  void AppendTimestamp(RawRecord record, const EventDescription* event, const Sample* sample) {
    const uint32_t type = record.type();
    if (type != perf_event::kRecordSample && !sample_id_all_) {
      out_ += "-1 -1 ";
      return;
    }
    uint32_t cpu = 0;
    uint64_t time = 0;
    if (type < perf_event::kRecordUserFirst) {
      const uint64_t recorded = event == nullptr ? 0 : event->layout.sample_type;
      perf_event::RecordSubject subject;
      if (sample != nullptr) {
        cpu = sample->cpu;
        time = sample->time;
      } else if (event != nullptr && SubjectOf(record, event->layout, &subject)) {
        cpu = subject.written.cpu;
        time = subject.written.time;
      }
      if ((recorded & perf_event::kSampleCpu) == 0) cpu = UINT32_MAX;
      if ((recorded & perf_event::kSampleTime) == 0) time = UINT64_MAX;
    }
    if ((sample_types_ & perf_event::kSampleCpu) != 0) absl::StrAppend(&out_, cpu, " ");
    if ((sample_types_ & perf_event::kSampleTime) != 0) absl::StrAppend(&out_, time, " ");
  }

  void AppendSample(RawRecord record, const Sample& sample, const EventDescription& event) {
    const uint64_t fields = event.layout.sample_type;
    const auto has = [fields](uint64_t bits) { return (fields & bits) != 0; };
    const bool threads = has(perf_event::kSampleTid);
    absl::StrAppendFormat(&out_, "PERF_RECORD_SAMPLE(IP, 0x%x): %d/%d: %s period: %u addr: %s\n",
                          record.misc(), threads ? static_cast<int>(sample.pid) : -1,
                          threads ? static_cast<int>(sample.tid) : -1, Hexadecimal(sample.ip),
                          has(perf_event::kSamplePeriod) ? sample.period : event.attr.sample_period,
                          Hexadecimal(sample.addr));
    if (has(perf_event::kSampleCallchain)) AppendChain(sample.callchain, &out_);
    if (has(perf_event::kSampleBranchStack)) AppendBranches(sample.branches, &out_);
    if (has(perf_event::kSampleRegsUser) && sample.user_regs.abi != 0) {
      AppendRegisters("user", sample.user_regs, architecture_, &out_);
    }
    if (has(perf_event::kSampleRegsIntr) && sample.intr_regs.abi != 0) {
      AppendRegisters("intr", sample.intr_regs, architecture_, &out_);
    }
    if (has(perf_event::kSampleStackUser) && sample.user_stack.data() != nullptr) {
      // perf shows the offset of the size field, which precedes the copied stack.
      absl::StrAppendFormat(&out_, "... ustack: size %u, offset %#x\n", sample.user_stack.size(),
                            OffsetIn(record, sample.user_stack) - sizeof(uint64_t));
    }
    if (has(perf_event::kSampleWeightStruct)) {
      absl::StrAppendFormat(&out_, "... weight: %u,0x%x,0x%x\n", sample.weight & 0xffffffff,
                            sample.weight >> 32 & 0xffff, sample.weight >> 48);
    } else if (has(perf_event::kSampleWeight)) {
      absl::StrAppend(&out_, "... weight: ", sample.weight, "\n");
    }
    if (has(perf_event::kSampleDataSrc)) {
      absl::StrAppendFormat(&out_, " . data_src: 0x%x\n", sample.data_src);
    }
    if (has(perf_event::kSamplePhysAddr)) {
      absl::StrAppendFormat(&out_, " .. phys_addr: 0x%x\n", sample.phys_addr);
    }
    if (has(perf_event::kSampleTransaction)) {
      absl::StrAppendFormat(&out_, "... transaction: %x\n", sample.transaction);
    }
    if (has(perf_event::kSampleRead)) AppendRead(sample.read, event.layout.read_format, &out_);
    if (threads) absl::StrAppend(&out_, " ... thread: ", CommOf(sample.tid), ":", sample.tid, "\n");
  }

  // Returns the line of a kernel record that is not a sample.
  std::string KernelLine(RawRecord record, const EventDescription& event) {
    const perf_event::RecordLayout& layout = event.layout;
    const std::string name =
        absl::StrCat("PERF_RECORD_", View(perf_event::RecordTypeName(record.type())));
    switch (record.type()) {
      case perf_event::kRecordComm:
        if (perf_event::Comm comm; Decode(record, layout, &comm)) {
          comms_[comm.tid] = Printable(comm.comm.substr(0, kMaxComm));
        }
        break;
      case perf_event::kRecordFork:
        if (perf_event::Task task; Decode(record, layout, &task) && comms_.contains(task.ptid)) {
          comms_[task.tid] = CommOf(task.ptid);
        }
        break;
      case perf_event::kRecordLost:
        if (perf_event::Lost lost; Decode(record, layout, &lost)) {
          return absl::StrCat(name, ": id:", lost.id, ": lost:", lost.lost, "\n");
        }
        break;
      case perf_event::kRecordLostSamples:
        if (perf_event::LostSamples lost; Decode(record, layout, &lost)) {
          return absl::StrCat(name, ": id:", lost.sample_id.id, ": lost samples :", lost.lost,
                              "\n");
        }
        break;
      case perf_event::kRecordThrottle:
      case perf_event::kRecordUnthrottle:
        return name + ": unhandled!\n";
      case perf_event::kRecordRead:
        if (perf_event::Read read; Decode(record, layout, &read)) {
          return name + ReadText(read, event);
        }
        break;
      case perf_event::kRecordAux:
        if (perf_event::Aux aux; Decode(record, layout, &aux)) {
          return absl::StrFormat("%s offset: %#x size: %#x flags: %#x [%s%s%s]\n", name,
                                 aux.aux_offset, aux.aux_size, aux.flags,
                                 (aux.flags & 1) != 0 ? "T" : "", (aux.flags & 2) != 0 ? "O" : "",
                                 (aux.flags & 4) != 0 ? "P" : "");
        }
        break;
      case perf_event::kRecordItraceStart:
        if (perf_event::ItraceStart start; Decode(record, layout, &start)) {
          return absl::StrCat(name, " pid: ", start.pid, " tid: ", start.tid, "\n");
        }
        break;
      case perf_event::kRecordAuxOutputHwId:
        if (perf_event::AuxOutputHwId id; Decode(record, layout, &id)) {
          return absl::StrFormat("%s hw_id: %#x\n", name, id.hw_id);
        }
        break;
      case perf_event::kRecordCallchainDeferred:
        if (perf_event::CallchainDeferred chain; Decode(record, layout, &chain)) {
          std::string text = absl::StrFormat("%s(IP, 0x%x): %d/%d: %#x\n", name, record.misc(),
                                             static_cast<int>(chain.sample_id.pid),
                                             static_cast<int>(chain.sample_id.tid), chain.cookie);
          AppendChain(chain.callchain, &text);
          return text;
        }
        break;
      default:
        break;
    }
    return RecordLine(record, layout);
  }

  static std::string ReadText(const perf_event::Read& read, const EventDescription& event) {
    const uint64_t format = event.layout.read_format;
    const perf_event::ReadValues values(read.values, format);
    const perf_event::CounterValue value =
        values.size() == 0 ? perf_event::CounterValue() : values[0];
    std::string text =
        absl::StrFormat(": %d %d %s %u\n", static_cast<int>(read.pid), static_cast<int>(read.tid),
                        Printable(event.name), value.value);
    if ((format & perf_event::kFormatTotalTimeEnabled) != 0) {
      absl::StrAppend(&text, "... time enabled : ", values.time_enabled(), "\n");
    }
    if ((format & perf_event::kFormatTotalTimeRunning) != 0) {
      absl::StrAppend(&text, "... time running : ", values.time_running(), "\n");
    }
    if ((format & perf_event::kFormatId) != 0) {
      absl::StrAppend(&text, "... id           : ", value.id, "\n");
    }
    if ((format & perf_event::kFormatLost) != 0) {
      absl::StrAppend(&text, "... lost         : ", value.lost, "\n");
    }
    return text;
  }

  // Returns the thread's name, or ":4711" if no record has named the thread.
  std::string CommOf(uint32_t tid) const {
    if (tid == 0) return "swapper";
    const auto it = comms_.find(tid);
    return it == comms_.end() ? absl::StrCat(":", tid) : it->second;
  }

  Recording& recording_;
  const std::string name_;
  const uint64_t origin_;
  absl::FunctionRef<void(std::string_view)> sink_;
  perf_event::Architecture architecture_;
  std::string out_;
  size_t events_ = 0, attrs_ = 0;
  std::bitset<kFeatureBits> features_;                // features whose lines were shown
  uint64_t sample_types_ = 0;                         // sample_type bits of all events
  bool sample_id_all_ = false;                        // flag of the first event
  absl::flat_hash_map<uint32_t, std::string> comms_;  // thread names, keyed by thread ID
};

}  // namespace

absl::Status DumpAsPerf(Recording& recording, std::string_view name,
                        absl::FunctionRef<void(std::string_view)> sink) {
  PerfDumper dumper(recording, name, sink);
  const absl::Status status =
      recording.ForEach(Recording::Order::kTimeAndRounds,
                        [&dumper](const TimedRecord& timed) { dumper.Take(timed); });
  dumper.Flush();
  return status;
}

}  // namespace profiler::perf_data
