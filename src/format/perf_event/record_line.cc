#include "src/format/perf_event/record_line.h"

#include <iterator>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/record_fields.h"
#include "src/format/perf_event/record_types.h"

namespace profiler::perf_event {
namespace {

// Formats like C's %#lx, which writes 0 without a prefix.
std::string HexText(uint64_t value) { return absl::StrFormat("%#x", value); }

// Replaces control characters in names, because they would break the lines.
std::string Safe(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  }
  return safe;
}

std::string Line(uint16_t misc, const Comm& comm) {
  return absl::StrFormat("%s: %s:%d/%d\n", (misc & kMiscCommExec) != 0 ? " exec" : "",
                         Safe(comm.comm), static_cast<int>(comm.pid), static_cast<int>(comm.tid));
}

std::string Line(uint16_t, const Task& task) {
  return absl::StrFormat("(%d:%d):(%d:%d)\n", static_cast<int>(task.pid),
                         static_cast<int>(task.tid), static_cast<int>(task.ppid),
                         static_cast<int>(task.ptid));
}

std::string Line(uint16_t misc, const Mmap& mmap) {
  return absl::StrFormat(" %d/%d: [%s(%s) @ %s]: %c %s\n", static_cast<int>(mmap.pid),
                         static_cast<int>(mmap.tid), HexText(mmap.addr), HexText(mmap.len),
                         HexText(mmap.pgoff), (misc & kMiscMmapData) != 0 ? 'r' : 'x',
                         Safe(mmap.filename));
}

std::string Line(uint16_t misc, const Mmap2& mmap) {
  constexpr uint32_t kShared = 1;  // bit MAP_SHARED of the flags
  std::string file;
  if ((misc & kMiscMmapBuildId) != 0) {
    file = absl::StrCat("<", HexOf(mmap.build_id), ">");
  } else {
    file = absl::StrFormat("%02x:%02x %u %u", mmap.maj, mmap.min, mmap.ino, mmap.ino_generation);
  }
  return absl::StrFormat(" %d/%d: [%s(%s) @ %s %s]: %c%c%c%c %s\n", static_cast<int>(mmap.pid),
                         static_cast<int>(mmap.tid), HexText(mmap.addr), HexText(mmap.len),
                         HexText(mmap.pgoff), file, (mmap.prot & 1) != 0 ? 'r' : '-',
                         (mmap.prot & 2) != 0 ? 'w' : '-', (mmap.prot & 4) != 0 ? 'x' : '-',
                         (mmap.flags & kShared) != 0 ? 's' : 'p', Safe(mmap.filename));
}

std::string_view Direction(uint16_t misc) {
  if ((misc & kMiscSwitchOut) == 0) return "IN         ";
  return (misc & kMiscSwitchOutPreempt) == 0 ? "OUT        " : "OUT preempt";
}

std::string Line(uint16_t misc, const Switch&) { return absl::StrFormat(" %s\n", Direction(misc)); }

std::string Line(uint16_t misc, const SwitchCpuWide& record) {
  return absl::StrFormat(" %s  %s pid/tid: %5d/%-5d\n", Direction(misc),
                         (misc & kMiscSwitchOut) != 0 ? "next" : "prev",
                         static_cast<int>(record.next_prev_pid),
                         static_cast<int>(record.next_prev_tid));
}

std::string Line(uint16_t, const Lost& lost) { return absl::StrFormat(" lost %u\n", lost.lost); }

std::string Line(uint16_t, const LostSamples& lost) {
  return absl::StrFormat(" lost %u\n", lost.lost);
}

std::string Line(uint16_t, const Namespaces& namespaces) {
  constexpr std::string_view kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
  const size_t count = namespaces.links.size() / 2;
  std::string line =
      absl::StrFormat(" %d/%d - nr_namespaces: %u\n\t\t[", static_cast<int>(namespaces.pid),
                      static_cast<int>(namespaces.tid), count);
  for (size_t i = 0; i < count; ++i) {
    if (i != 0 && i % 4 == 0) line += "\n\t\t ";
    const std::string_view name = i < std::size(kNames) ? kNames[i] : std::string_view("???");
    absl::StrAppendFormat(&line, "%u/%s: %u/%s%s", i, name, namespaces.links[2 * i],
                          HexText(namespaces.links[2 * i + 1]), i + 1 == count ? "]\n" : ", ");
  }
  return line;
}

std::string Line(uint16_t, const Ksymbol& symbol) {
  return absl::StrFormat(" addr %x len %u type %u flags 0x%x name %s\n", symbol.addr, symbol.len,
                         symbol.ksym_type, symbol.flags, Safe(symbol.name));
}

std::string Line(uint16_t, const BpfEvent& event) {
  return absl::StrFormat(" type %u, flags %u, id %u\n", event.event_type, event.flags, event.id);
}

std::string Line(uint16_t, const Cgroup& cgroup) {
  return absl::StrFormat(" cgroup: %u %s\n", cgroup.id, Safe(cgroup.path));
}

template <class Record>
std::string Line(uint16_t, const Record&) {
  return "\n";
}

template <class Record>
RecordSubject Subject(const Record& record, const RecordLayout& layout) {
  RecordSubject subject{.written = record.sample_id};
  if constexpr (requires { record.pid; }) {
    subject.pid = record.pid;
    subject.tid = record.tid;
  } else {
    subject.pid = record.sample_id.pid;
    subject.tid = record.sample_id.tid;
  }
  if (layout.sample_id_all) return subject;
  subject.written = {.pid = subject.pid, .tid = subject.tid};
  if constexpr (std::is_same_v<Record, Task>) subject.written.time = record.time;
  return subject;
}

}  // namespace

bool SubjectOf(RawRecord record, const RecordLayout& layout, RecordSubject* out) {
  return VisitRecordType(record.type(), [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), Sample>) {
      return false;
    } else {
      FieldReader reader(record);
      Fields(reader, layout, value);
      if (reader.ok()) *out = Subject(value, layout);
      return reader.ok();
    }
  });
}

std::string RecordLine(RawRecord record, const RecordLayout& layout) {
  const std::string_view name = RecordTypeName(record.type());
  std::string rest = "\n";
  VisitRecordType(record.type(), [&](auto value) {
    FieldReader reader(record);
    Fields(reader, layout, value);
    if (reader.ok()) rest = Line(record.misc(), value);
    return reader.ok();
  });
  return absl::StrFormat("PERF_RECORD_%s%s", name, rest);
}

}  // namespace profiler::perf_event
