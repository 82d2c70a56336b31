#include "src/format/perf_event/record_text.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/read_values.h"
#include "src/format/perf_event/record_fields.h"
#include "src/format/perf_event/record_types.h"

namespace profiler::perf_event {
namespace {

constexpr int kNameWidth = 24;

void AppendName(std::string_view name, int indent, std::string* out) {
  out->append(indent, ' ');
  *out += name;
  const int width = kNameWidth - indent - static_cast<int>(name.size());
  out->append(std::max(width, 1), ' ');
}

std::string_view ContextName(uint64_t entry) {
  switch (entry) {
    case kContextHypervisor:
      return "HV";
    case kContextKernel:
      return "KERNEL";
    case kContextUser:
      return "USER";
    case kContextUserDeferred:
      return "USER_DEFERRED";
    case kContextGuest:
      return "GUEST";
    case kContextGuestKernel:
      return "GUEST_KERNEL";
    case kContextGuestUser:
      return "GUEST_USER";
    default:
      return "unknown context";
  }
}

// PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4
std::string Protection(uint64_t prot) {
  std::string text = absl::StrFormat("%#x ", prot);
  text += (prot & 1) != 0 ? 'r' : '-';
  text += (prot & 2) != 0 ? 'w' : '-';
  text += (prot & 4) != 0 ? 'x' : '-';
  return text;
}

std::string NumberText(Shown shown, uint64_t value) {
  switch (shown) {
    case Shown::kHexadecimal:
      return absl::StrFormat("%#x", value);
    case Shown::kProtection:
      return Protection(value);
    case Shown::kDataSource:
      return absl::StrFormat("%#x %s", value, DescribeDataSource(value));
    case Shown::kWeight:
      return absl::StrFormat("%u (var1 %u, var2 %u, var3 %u)", value, value & 0xffffffff,
                             value >> 32 & 0xffff, value >> 48);
    default:
      return absl::StrCat(value);
  }
}

// A printer of the fields that a layout reads, with the interface of record_io.h. Like the
// FieldReader inside, it fails for good at the first missing field.
class FieldPrinter {
 public:
  static constexpr bool kReads = true;

  FieldPrinter(RawRecord record, const RecordLayout& layout, Architecture architecture,
               std::string* out)
      : reader_(record),
        size_(record.size() - sizeof(RecordHeader)),
        layout_(layout),
        architecture_(architecture),
        out_(out) {}

  uint16_t misc() const { return reader_.misc(); }
  bool ok() const { return reader_.ok(); }

  template <class T>
  void Value(FieldName name, T& field) {
    if (!Before(name)) return;
    reader_.Value(name, field);
    if (Read(name)) AppendNumber(name, field, indent_, out_);
  }
  template <class T>
  T Count(FieldName name, T) {
    T count{};
    Value(name, count);
    return count;
  }
  void Words(FieldName name, uint64_t count, U64Array& array) {
    if (!Before(name)) return;
    reader_.Words(name, count, array);
    if (Read(name)) PrintWords(name, array);
  }
  void Bytes(FieldName name, uint64_t size, std::span<const std::byte>& bytes) {
    if (!Before(name)) return;
    reader_.Bytes(name, size, bytes);
    if (Read(name)) AppendBytes(name, bytes, indent_, out_);
  }
  void Branches(FieldName name, uint64_t count, std::span<const std::byte>& bytes) {
    if (!Before(name)) return;
    reader_.Branches(name, count, bytes);
    if (Read(name)) PrintBranches(name, bytes);
  }
  void Text(FieldName name, std::string_view& text, size_t trailer) {
    if (!Before(name)) return;
    reader_.Text(name, text, trailer);
    if (Read(name)) AppendText(name, text, indent_, out_);
  }
  void Padded(FieldName name, uint64_t size, std::span<const std::byte>& bytes, size_t trailer) {
    if (!Before(name)) return;
    reader_.Padded(name, size, bytes, trailer);
    if (Read(name)) AppendBytes(name, bytes, indent_, out_);
  }
  // Layouts call this before the sample_id, the only field that is located from the record's end.
  void SkipTo(size_t trailer) {
    if (!Before("sample_id")) return;
    const size_t skipped = reader_.remaining() - std::min(reader_.remaining(), trailer);
    reader_.SkipTo(trailer);
    if (!Read("sample_id")) return;
    if (skipped != 0) {
      AppendNumber("(bytes of a newer kernel)", skipped, indent_, out_);
    }
    out_->append(indent_, ' ');
    *out_ += "sample_id\n";
    indent_ += 2;
  }
  uint64_t PeekWord(const U64Array& array) const { return reader_.PeekWord(array); }
  uint8_t PeekByte(size_t at) const { return reader_.PeekByte(at); }

  size_t remaining() const { return reader_.remaining(); }

 private:
  bool Before(FieldName) {
    offset_ = size_ - reader_.remaining();
    return reader_.ok();
  }

  // Returns true if the field was read. Otherwise prints that the record ends before it.
  bool Read(FieldName name) {
    if (reader_.ok()) return true;
    AppendName(name.text, indent_, out_);
    absl::StrAppend(out_, "(the record ends before: ", size_ - offset_, " bytes are left)\n");
    return false;
  }

  void PrintWords(FieldName name, U64Array words) {
    switch (name.shown) {
      case Shown::kReadFormat:
        return PrintReadFormat(words);
      case Shown::kUserRegisters:
        return PrintRegisters(name, layout_.user_regs_mask, words);
      case Shown::kIntrRegisters:
        return PrintRegisters(name, layout_.intr_regs_mask, words);
      case Shown::kNamespaces:
        return PrintNamespaces(words);
      default:
        break;
    }
    Heading(name, words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      out_->append(indent_ + 2, ' ');
      const bool marker = name.shown == Shown::kCallchain && IsContext(words[i]);
      if (marker) {
        absl::StrAppendFormat(out_, "%#x %s\n", words[i], ContextName(words[i]));
      } else {
        absl::StrAppendFormat(out_, "%#x\n", words[i]);
      }
    }
  }

  void Heading(FieldName name, uint64_t count) {
    AppendName(name.text, indent_, out_);
    absl::StrAppend(out_, "(", count, ")\n");
  }

  void PrintReadFormat(U64Array words) {
    const ReadValues values(words, layout_.read_format);
    Heading("read", values.size());
    const int inner = indent_ + 2;
    if (layout_.read_format & kFormatTotalTimeEnabled) {
      AppendNumber("time_enabled", values.time_enabled(), inner, out_);
    }
    if (layout_.read_format & kFormatTotalTimeRunning) {
      AppendNumber("time_running", values.time_running(), inner, out_);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const CounterValue value = values[i];
      out_->append(inner, ' ');
      absl::StrAppend(out_, "value ", value.value);
      if (layout_.read_format & kFormatId) absl::StrAppendFormat(out_, " id %#x", value.id);
      if (layout_.read_format & kFormatLost) absl::StrAppend(out_, " lost ", value.lost);
      *out_ += '\n';
    }
  }

  void PrintRegisters(FieldName name, uint64_t mask, U64Array words) {
    Heading(name, words.size());
    size_t next = 0;
    for (int bit = 0; bit < 64 && next < words.size(); ++bit) {
      if ((mask >> bit & 1) == 0) continue;
      std::string register_name(RegisterName(architecture_, bit));
      if (register_name == "unknown") register_name = absl::StrCat("bit ", bit);
      AppendName(register_name, indent_ + 2, out_);
      absl::StrAppendFormat(out_, "%#x\n", words[next++]);
    }
  }

  void PrintNamespaces(U64Array links) {
    constexpr std::string_view kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    for (size_t i = 0; i + 1 < links.size(); i += 2) {
      const std::string_view known = i / 2 < std::size(kNames) ? kNames[i / 2] : "?";
      AppendName(known, indent_ + 2, out_);
      absl::StrAppendFormat(out_, "dev %#x inode %#x\n", links[i], links[i + 1]);
    }
  }

  void PrintBranches(FieldName name, std::span<const std::byte> bytes) {
    const U64Array words(bytes);
    Heading(name, words.size() / 3);
    for (size_t i = 0; i + 2 < words.size(); i += 3) {
      const uint64_t flags = words[i + 2];
      out_->append(indent_ + 2, ' ');
      absl::StrAppendFormat(out_, "%#x -> %#x flags %#x", words[i], words[i + 1], flags);
      if ((flags & 1) != 0) *out_ += " mispredicted";
      if ((flags & 2) != 0) *out_ += " predicted";
      if ((flags & 4) != 0) *out_ += " in_tx";
      if ((flags & 8) != 0) *out_ += " abort";
      absl::StrAppendFormat(out_, " cycles %u type %u\n", flags >> 4 & 0xffff, flags >> 20 & 0xf);
    }
  }

  FieldReader reader_;
  const size_t size_;
  size_t offset_ = 0;
  const RecordLayout& layout_;
  const Architecture architecture_;
  std::string* out_;
  int indent_ = 4;
};

struct MiscBit {
  uint32_t type;  // record type; 0: all types
  uint16_t bit;
  std::string_view name;
};
constexpr MiscBit kMiscBits[] = {
    {0, 1 << 12, "PROC_MAP_PARSE_TIMEOUT"},
    {kRecordMmap, kMiscMmapData, "MMAP_DATA"},
    {kRecordMmap2, kMiscMmapData, "MMAP_DATA"},
    {kRecordComm, kMiscCommExec, "COMM_EXEC"},
    {kRecordFork, kMiscForkExec, "FORK_EXEC"},
    {kRecordSwitch, kMiscSwitchOut, "SWITCH_OUT"},
    {kRecordSwitchCpuWide, kMiscSwitchOut, "SWITCH_OUT"},
    {kRecordSwitch, kMiscSwitchOutPreempt, "SWITCH_OUT_PREEMPT"},
    {kRecordSwitchCpuWide, kMiscSwitchOutPreempt, "SWITCH_OUT_PREEMPT"},
    {kRecordMmap2, kMiscMmapBuildId, "MMAP_BUILD_ID"},
    {kRecordSample, kMiscExactIp, "EXACT_IP"},
    {kRecordHeaderBuildId, 1 << 15, "BUILD_ID_SIZE"},
};

// A part of a data_src: its position, and the names of its bits or values.
struct DataSourcePart {
  int shift, width;
  bool number;  // true: `names` are of values; false: of bits
  std::span<const std::string_view> names;
};
constexpr std::string_view kOps[] = {"OP_NA", "OP_LOAD", "OP_STORE", "OP_PFETCH", "OP_EXEC"};
constexpr std::string_view kLevels[] = {
    "LVL_NA",       "LVL_HIT",      "LVL_MISS",    "LVL_L1",       "LVL_LFB",
    "LVL_L2",       "LVL_L3",       "LVL_LOC_RAM", "LVL_REM_RAM1", "LVL_REM_RAM2",
    "LVL_REM_CCE1", "LVL_REM_CCE2", "LVL_IO",      "LVL_UNC"};
constexpr std::string_view kSnoops[] = {"SNOOP_NA", "SNOOP_NONE", "SNOOP_HIT", "SNOOP_MISS",
                                        "SNOOP_HITM"};
constexpr std::string_view kLocks[] = {"LOCK_NA", "LOCK_LOCKED"};
constexpr std::string_view kTlbs[] = {"TLB_NA", "TLB_HIT", "TLB_MISS", "TLB_L1",
                                      "TLB_L2", "TLB_WK",  "TLB_OS"};
constexpr std::string_view kLevelNumbers[] = {
    "",           "LVLNUM_L1",  "LVLNUM_L2",   "LVLNUM_L3",  "LVLNUM_L4", "LVLNUM_L2_MHB",
    "LVLNUM_MSC", "LVLNUM_L0",  "LVLNUM_UNC",  "LVLNUM_CXL", "LVLNUM_IO", "LVLNUM_ANY_CACHE",
    "LVLNUM_LFB", "LVLNUM_RAM", "LVLNUM_PMEM", "LVLNUM_NA"};
constexpr std::string_view kRemotes[] = {"", "REMOTE"};
constexpr std::string_view kSnoopsMore[] = {"SNOOPX_FWD", "SNOOPX_PEER"};
constexpr std::string_view kBlocks[] = {"BLK_NA", "BLK_DATA", "BLK_ADDR"};
constexpr std::string_view kHops[] = {"", "HOPS_0", "HOPS_1", "HOPS_2", "HOPS_3"};
constexpr DataSourcePart kDataSourceParts[] = {
    {0, 5, false, kOps},     {5, 14, false, kLevels},     {19, 5, false, kSnoops},
    {24, 2, false, kLocks},  {26, 7, false, kTlbs},       {33, 4, true, kLevelNumbers},
    {37, 1, true, kRemotes}, {38, 2, false, kSnoopsMore}, {40, 3, false, kBlocks},
    {43, 3, true, kHops},
};

}  // namespace

void AppendNumber(FieldName name, uint64_t value, int indent, std::string* out) {
  AppendName(name.text, indent, out);
  *out += NumberText(name.shown, value);
  *out += '\n';
}

void AppendText(FieldName name, std::string_view text, int indent, std::string* out) {
  AppendName(name.text, indent, out);
  absl::StrAppend(out, "\"", absl::Utf8SafeCEscape(View(text)), "\"\n");
}

void AppendBytes(FieldName name, std::span<const std::byte> bytes, int indent, std::string* out) {
  constexpr size_t kInLine = 24;
  AppendName(name.text, indent, out);
  if (bytes.size() <= kInLine) {
    absl::StrAppend(out, HexOf(bytes), "\n");
    return;
  }
  absl::StrAppend(out, "(", bytes.size(), " bytes)\n");
  AppendHexDump(bytes.first(std::min(bytes.size(), kMaxShownBytes)), indent + 2, out);
  if (bytes.size() > kMaxShownBytes) {
    out->append(indent + 2, ' ');
    *out += "…\n";
  }
}

void AppendHexDump(std::span<const std::byte> bytes, int indent, std::string* out) {
  constexpr size_t kPerLine = 16;
  for (size_t at = 0; at < bytes.size(); at += kPerLine) {
    const auto line = bytes.subspan(at, std::min(kPerLine, bytes.size() - at));
    out->append(indent, ' ');
    absl::StrAppendFormat(out, "%04x: ", at);
    for (size_t i = 0; i < kPerLine; ++i) {
      if (i < line.size()) {
        absl::StrAppendFormat(out, " %02x", std::to_integer<int>(line[i]));
      } else {
        *out += "   ";
      }
    }
    *out += "  ";
    for (const std::byte byte : line) {
      const char c = static_cast<char>(byte);
      *out += c >= ' ' && c <= '~' ? c : '.';
    }
    *out += '\n';
  }
}

bool AppendFields(RawRecord record, const RecordLayout& layout, Architecture architecture,
                  std::string* out) {
  bool known = false;
  const bool whole = VisitRecordType(record.type(), [&](auto value) {
    known = true;
    FieldPrinter printer(record, layout, architecture, out);
    Fields(printer, layout, value);
    if (printer.ok() && printer.remaining() != 0) {
      AppendBytes("(no field)", record.numbers().last(printer.remaining()), 4, out);
    }
    return printer.ok();
  });
  if (!known) AppendBytes("(bytes)", record.body(), 4, out);
  return whole;
}

std::string DescribeMisc(uint32_t type, uint16_t misc) {
  constexpr std::string_view kCpumodes[] = {"",           "KERNEL",       "USER",
                                            "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER"};
  std::string text = misc == 0 ? "0" : absl::StrFormat("%#x", misc);
  if (type >= kRecordUserFirst && type != kRecordHeaderBuildId) return text;
  char separator = ' ';
  uint16_t rest = misc;
  const auto add = [&](std::string_view name) {
    text += separator;
    text += name;
    separator = '|';
  };
  const uint16_t cpumode = misc & kMiscCpumodeMask;
  if (cpumode != 0 && cpumode < std::size(kCpumodes)) {
    add(kCpumodes[cpumode]);
    rest &= ~kMiscCpumodeMask;
  }
  for (const MiscBit& bit : kMiscBits) {
    if ((rest & bit.bit) == 0 || (bit.type != 0 && bit.type != type)) continue;
    add(bit.name);
    rest &= ~bit.bit;
  }
  if (rest != 0 && rest != misc) add(absl::StrFormat("%#x", rest));
  return text;
}

std::string DescribeDataSource(uint64_t data_src) {
  std::string text;
  const auto add = [&](std::string_view name) {
    if (name.empty()) return;
    if (!text.empty()) text += '|';
    text += name;
  };
  for (const DataSourcePart& part : kDataSourceParts) {
    const uint64_t value = data_src >> part.shift & ((1ull << part.width) - 1);
    if (part.number) {
      add(value < part.names.size() ? std::string(part.names[value]) : absl::StrCat(value));
      continue;
    }
    for (size_t bit = 0; bit < part.names.size(); ++bit) {
      if ((value >> bit & 1) != 0) add(part.names[bit]);
    }
  }
  return text;
}

}  // namespace profiler::perf_event
