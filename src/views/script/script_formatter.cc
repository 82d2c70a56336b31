#include "src/views/script/script_formatter.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/branch_names.h"
#include "src/base/clock.h"
#include "src/base/padded_text.h"
#include "src/base/text.h"
#include "src/profile/inlined_calls.h"

namespace profiler::script {

using profile::Branch;
using profile::Event;
using profile::EventId;
using profile::Frame;
using profile::FrameId;
using profile::Image;
using profile::kNoFrame;
using profile::kNoStack;
using profile::kNoSymbol;
using profile::Line;
using profile::Mode;
using profile::Profile;
using profile::RegisterValues;
using profile::Row;
using profile::SampleDetails;
using profile::SampleRow;
using profile::StackId;
using profile::SymbolId;
using profile::Thread;
using profile::ThreadId;
using symbolize::ImageKind;

namespace {

SymbolId BaseOf(std::span<const Line> lines) {
  return lines.empty() ? kNoSymbol : lines.back().symbol;
}

// Returns the line of the instruction itself, inlined or not; null if unknown.
const Line* InnermostOf(std::span<const Line> lines) {
  return lines.empty() ? nullptr : &lines.front();
}

// Returns the path of a user image, and the name of other images.
std::string_view NameOf(const Profile& profile, const Image& image) {
  const bool has_path = image.kind == ImageKind::kUser || image.kind == ImageKind::kModule ||
                        image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump ||
                        image.kind == ImageKind::kAnonymous;
  const std::string_view path = profile.text(image.long_name);
  return has_path && !path.empty() ? path : profile.text(image.name);
}

// Appends the last `digits` digits of a number, with leading zeros.
void AppendDigits(uint64_t value, int digits, std::string& out) {
  char text[20];
  for (int i = digits; i-- > 0; value /= 10) text[i] = static_cast<char>('0' + value % 10);
  out.append(text, static_cast<size_t>(digits));
}

// Appends an id as perf prints it: as a signed int.
void AppendId(uint32_t id, int width, std::string& out) {
  AppendRightAligned(std::to_string(static_cast<int32_t>(id)), width, out);
}

// Returns perf's letter for the CPU mode and the marks: K kernel, U user, H hypervisor, G guest
// kernel, g guest user.
std::string MiscText(uint16_t misc, std::string_view marks) {
  constexpr std::string_view kModes[] = {"", "K", "U", "H", "G", "g", "", ""};
  std::string text(kModes[misc & 7]);
  text += marks;
  return text;
}

void AppendRegisters(const RegisterValues& registers, std::string& out) {
  if (registers.abi == 0) return;
  out += " ABI:";
  AppendNumber(registers.abi, 0, out);
  out += ' ';
  for (const auto& [name, value] : registers.values) {
    AppendRightAligned(name, 5, out);
    out += ":0x";
    AppendHex(value, 0, out);
    out += ' ';
  }
}

// Appends the flags of a branch (perf_event::BranchEntry), each after a slash: M or P (mispredicted
// or predicted), X (in a transaction), A (aborts a transaction), cycles, kind, speculation. A flag
// that is not set is '-'.
void AppendBranchFlags(uint64_t flags, std::string& out) {
  const bool mispredicted = (flags & 1) != 0, predicted = (flags & 2) != 0;
  out += '/';
  out += predicted ? 'P' : mispredicted ? 'M' : '-';
  out += (flags & 4) != 0 ? "/X" : "/-";
  out += (flags & 8) != 0 ? "/A/" : "/-/";
  AppendNumber(flags >> 4 & 0xffff, 0, out);
  out += '/';
  out += BranchTypeName(flags);
  out += '/';
  out += SpeculationName(flags);
  out += ' ';
}

}  // namespace

void ScriptFormatter::Prefetch(std::span<const SampleRow> rows) const {
  for (const SampleRow& row : rows) chains_.PrefetchPiece(static_cast<uint32_t>(row.stack));
  for (const SampleRow& row : rows) chains_.PrefetchText(static_cast<uint32_t>(row.stack));
}

void ScriptFormatter::FormatSample(const SampleRow& row, const SampleDetails& details,
                                   const ScriptFields& fields, StringId comm, std::string* out) {
  if (!Passes(row)) return;
  fields_ = fields;
  AppendKnownThread(row.thread, comm, HasChains(row.event) && has(ScriptField::kIp), *out);
  AppendWhen(row.cpu, details.misc, {}, row.time, *out);
  AppendEvent(row, *out);
  // Leaves the column for the kind of branch blank, because only decoded traces have one.
  if (has(ScriptField::kFlags)) out->append(24, ' ');
  if (has(ScriptField::kTrace)) AppendPrintable(details.trace, *out, kTraceMark);
  if (has(ScriptField::kAddr)) AppendAddr(details, *out);
  if (has(ScriptField::kDataSrc)) AppendDataSource(details, *out);
  if (has(ScriptField::kWeight)) AppendNumber(details.weight, 16, *out);
  if (has(ScriptField::kInsLat)) AppendNumber(details.instruction_latency, 16, *out);
  if (has(ScriptField::kRetireLat)) AppendNumber(details.retire_latency, 16, *out);
  if (has(ScriptField::kCgroup)) {
    *out += ' ';
    AppendPrintable(details.cgroup.empty() ? "unknown" : details.cgroup, *out);
  }
  if (has(ScriptField::kIp)) AppendCode(row, *out);
  if (has(ScriptField::kIregs)) AppendRegisters(details.interrupt_registers, *out);
  if (has(ScriptField::kUregs)) AppendRegisters(details.user_registers, *out);
  AppendBranches(details, *out);
  AppendInstruction(details.instruction, *out);
  if (has(ScriptField::kPhysAddr)) AppendHex(details.phys_addr, 16, *out);
  if (has(ScriptField::kDataPageSize)) {
    *out += ' ';
    *out += analysis::PageSizeText(details.data_page_size);
  }
  if (has(ScriptField::kCodePageSize)) {
    *out += ' ';
    *out += analysis::PageSizeText(details.code_page_size);
  }
  *out += '\n';
}

void ScriptFormatter::FormatHead(const ScriptHead& head, EventId event, std::string* out) {
  fields_ = options_.fields;
  AppendThread(head.comm, head.pid, head.tid, HasChains(event) && has(ScriptField::kIp), *out);
  AppendWhen(head.cpu, head.misc, head.marks, head.time, *out);
}

bool ScriptFormatter::HasChains(EventId event) const {
  return options_.callchains && profile_[event].callchains;
}

void ScriptFormatter::AppendThread(std::string_view comm, uint32_t of_pid, uint32_t of_tid,
                                   bool with_chain, std::string& out) const {
  if (has(ScriptField::kComm)) {
    const size_t start = out.size();
    AppendPrintable(comm, out);
    const size_t printed = out.size() - start;
    if (!with_chain && printed < 16) out.insert(start, 16 - printed, ' ');
    out += ' ';
  }
  const bool pid = has(ScriptField::kPid), tid = has(ScriptField::kTid);
  if (pid) AppendId(of_pid, 7, out);
  if (pid && tid) {
    out += '/';
    AppendLeftAligned(std::to_string(static_cast<int32_t>(of_tid)), 7, out);
  } else if (tid) {
    AppendId(of_tid, 7, out);
  }
  if (pid || tid) out += ' ';
}

// Makes the text again if the thread's name has changed: a thread without a name keeps its ThreadId
// when it gets its first name.
void ScriptFormatter::AppendKnownThread(ThreadId id, StringId comm, bool with_chain,
                                        std::string& out) {
  std::vector<ThreadText>& known = threads_[with_chain ? 1 : 0];
  const auto index = static_cast<uint32_t>(id);
  if (index >= known.size()) known.resize(profile_.threads.size());
  ThreadText& text = known[index];
  const Thread& thread = profile_[id];
  if (text.text.empty() || text.comm != comm) {
    text = {.comm = comm};
    AppendThread(profile_.text(comm), thread.pid, thread.tid, with_chain, text.text);
  }
  out += text.text;
}

void ScriptFormatter::AppendWhen(uint32_t cpu, uint16_t misc, std::string_view marks, uint64_t time,
                                 std::string& out) {
  if (has(ScriptField::kCpu)) AppendCpu(cpu, out);
  if (has(ScriptField::kMisc)) AppendLeftAligned(MiscText(misc, marks), 6, out);
  if (!has(ScriptField::kTime)) return;
  time = SinceOrigin(time);
  const uint64_t second = time / kNanosecondsPerSecond, rest = time % kNanosecondsPerSecond;
  if (last_.second != second) {
    last_.second = second;
    last_.second_text.clear();
    AppendNumber(second, 5, last_.second_text);
    last_.second_text += '.';
  }
  out += last_.second_text;
  if (options_.nanoseconds) {
    AppendDigits(rest, 9, out);
  } else {
    AppendDigits(rest / 1000, 6, out);
  }
  out += ": ";
}

// Records about the state before the recording have time 0, which never becomes the origin. If a
// late record precedes the origin, the difference wraps around, as in perf.
uint64_t ScriptFormatter::SinceOrigin(uint64_t time) {
  if (options_.times_from == TimeOrigin::kClock) return time;
  const uint64_t since = origin_ == 0 ? 0 : time - origin_;
  if (origin_ == 0 || options_.times_from == TimeOrigin::kPrevious) origin_ = time;
  return since;
}

void ScriptFormatter::AppendCpu(uint32_t cpu, std::string& out) {
  constexpr uint32_t kMostCpus = 1024;
  const auto text = [cpu] { return absl::StrFormat("[%03d] ", static_cast<int32_t>(cpu)); };
  if (cpu >= kMostCpus) {
    out += text();
    return;
  }
  if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
  if (cpus_[cpu].empty()) cpus_[cpu] = text();
  out += cpus_[cpu];
}

void ScriptFormatter::AppendEvent(const Row& row, std::string& out) {
  if (last_.event_text.empty() || last_.event != row.event || last_.period != row.period) {
    last_.event = row.event;
    last_.period = row.period;
    std::string& text = last_.event_text;
    text.clear();
    if (has(ScriptField::kPeriod)) {
      AppendNumber(row.period, 10, text);
      text += ' ';
    }
    if (has(ScriptField::kEvent)) AppendEventName(row.event, text);
  }
  out += last_.event_text;
}

void ScriptFormatter::AppendEventName(EventId id, std::string& out) {
  if (event_width_ == 0) {
    for (const Event& event : profile_.events) {
      event_width_ = std::max(event_width_, profile_.text(event.name).size());
    }
  }
  const std::string_view name = profile_.text(profile_[id].name);
  out.append(event_width_ - std::min(event_width_, name.size()), ' ');
  AppendPrintable(name, out);
  out += ": ";
}

void ScriptFormatter::AppendAddr(const SampleDetails& details, std::string& out) const {
  AppendHex(details.addr, 16, out);
  if (details.addr_frame == kNoFrame) return;
  const Frame& frame = profile_[details.addr_frame];
  if (has(ScriptField::kSym)) {
    out += ' ';
    AppendSymbol(frame, BaseOf(profile_.LinesOf(frame)), has(ScriptField::kSymOff), out);
  }
  if (has(ScriptField::kDso)) AppendDso(frame, has(ScriptField::kDsoOff), out);
}

// The column is as wide as the widest text so far, as in perf.
void ScriptFormatter::AppendDataSource(const SampleDetails& details, std::string& out) {
  std::string text;
  AppendHex(details.data_src, 16, text);
  text += ' ';
  text += details.data_source;
  data_source_width_ = std::max(data_source_width_, text.size());
  AppendLeftAligned(text, data_source_width_, out);
}

// Appends the call chain. If the sample has none, appends the ip.
void ScriptFormatter::AppendCode(const SampleRow& row, std::string& out) {
  if (!HasChains(row.event)) {
    selves_.Append(static_cast<uint32_t>(row.self), out,
                   [&](std::string& text) { AppendSelf(profile_[row.self], text); });
  } else if (row.has_chain) {
    chains_.Append(static_cast<uint32_t>(row.stack), out,
                   [&](std::string& text) { AppendChain(row.stack, text); });
  } else {
    out += '\n';
  }
}

void ScriptFormatter::AppendChain(StackId stack, std::string& out) {
  out += '\n';
  uint64_t inlined_calls = 0;
  for (uint32_t shown = 0; stack != kNoStack && shown < options_.max_stack;) {
    const FrameId id = profile_[stack].frame;
    const Frame& frame = profile_[id];
    stack = profile_[stack].parent;
    ++shown;
    const uint32_t here = profile::InlinedCallsAt(frame);
    if (inlined_calls + here <= profile::MostInlinedCalls(shown)) {
      inlined_calls += here;
      frames_.Append(static_cast<uint32_t>(id), out,
                     [&](std::string& text) { AppendFrame(frame, options_.inlines, text); });
    } else {
      leaves_out_inlined_calls_ = true;
      AppendFrame(frame, /*inlines=*/false, out);
    }
  }
}

void ScriptFormatter::AppendSelf(const Frame& frame, std::string& out) const {
  const std::span<const Line> lines = profile_.LinesOf(frame);
  out += ' ';
  AppendAddress(frame, BaseOf(lines), out);
  if (has(ScriptField::kDso)) AppendDso(frame, has(ScriptField::kDsoOff), out);
  if (has(ScriptField::kSrcline)) AppendSourceLine(frame, InnermostOf(lines), out);
}

void ScriptFormatter::AppendFrame(const Frame& frame, bool inlines, std::string& out) const {
  const std::span<const Line> lines = profile_.LinesOf(frame);
  const SymbolId base = BaseOf(lines);
  const bool lines_shown = has(ScriptField::kSrcline);
  const bool named = (has(ScriptField::kSym) || lines_shown) && base != kNoSymbol;
  for (size_t i = 0; inlines && named && i + 1 < lines.size(); ++i) {
    if (lines[i].symbol == kNoSymbol) continue;
    out += '\t';
    AppendAddress(frame, lines[i].symbol, out);
    if (lines_shown) AppendSourceLine(frame, &lines[i], out);
    out += " (inlined)\n";
  }
  out += '\t';
  AppendAddress(frame, base, out);
  if (has(ScriptField::kDso)) AppendDso(frame, has(ScriptField::kDsoOff), out);
  if (lines_shown) {
    const bool outermost = options_.inlines && named;
    AppendSourceLine(frame, outermost ? &lines.back() : InnermostOf(lines), out);
  }
  out += '\n';
}

void ScriptFormatter::AppendAddress(const Frame& frame, SymbolId name, std::string& out) const {
  AppendHex(frame.ip.value, 16, out);
  if (!has(ScriptField::kSym)) return;
  out += ' ';
  AppendSymbol(frame, name, has(ScriptField::kSymOff), out);
}

// Shows an inlined function with the offset from the start of the function that contains it.
void ScriptFormatter::AppendSymbol(const Frame& frame, SymbolId name, bool offset,
                                   std::string& out) const {
  if (name == kNoSymbol) {
    out += "[unknown]";
    return;
  }
  AppendPrintable(profile_.text(profile_[name].name), out);
  if (!offset) return;
  out += "+0x";
  AppendHex(frame.symbol_offset, 0, out);
}

void ScriptFormatter::AppendDso(const Frame& frame, bool offset, std::string& out) const {
  const Image& image = profile_[frame.image];
  out += " (";
  AppendPrintable(NameOf(profile_, image), out);
  if (offset && (image.kind == ImageKind::kUser || image.kind == ImageKind::kVdso)) {
    out += "+0x";
    AppendHex(frame.place.offset().value, 0, out);
  }
  out += ')';
}

// Appends the source line, or the address in the image. Appends nothing for code outside of images.
void ScriptFormatter::AppendSourceLine(const Frame& frame, const Line* line,
                                       std::string& out) const {
  const Image& image = profile_[frame.image];
  if (line != nullptr && line->file != StringId::kEmpty) {
    const std::string_view path = profile_.text(line->file);
    out += "\n  ";
    AppendPrintable(options_.full_source_paths ? path : BaseName(path), out);
    out += ':';
    AppendNumber(line->line, 0, out);
  } else if (image.kind != ImageKind::kUnknown) {
    out += "\n  ";
    AppendPrintable(profile_.text(image.name), out);
    out += '[';
    AppendHex(profile_.AddressOf(frame), 0, out);
    out += ']';
  }
}

void ScriptFormatter::AppendInstruction(std::span<const std::byte> code, std::string& out) const {
  if (has(ScriptField::kInsnLen)) {
    out += " ilen: ";
    AppendNumber(code.size(), 0, out);
  }
  if (!has(ScriptField::kInsn) || code.empty()) return;
  out += " insn:";
  for (const std::byte byte : code) {
    out += ' ';
    out += HexOf({&byte, 1});
  }
}

void ScriptFormatter::AppendBranches(const SampleDetails& details, std::string& out) const {
  const bool symbols = !has(ScriptField::kBrstack) && has(ScriptField::kBrstackSym);
  if (!has(ScriptField::kBrstack) && !symbols && !has(ScriptField::kBrstackOff)) return;
  for (const Branch& branch : details.branches) {
    if (!symbols) out += ' ';
    AppendBranchEnd(branch.from, branch.from_frame, out);
    out += '/';
    AppendBranchEnd(branch.to, branch.to_frame, out);
    AppendBranchFlags(branch.flags, out);
  }
}

void ScriptFormatter::AppendBranchEnd(uint64_t address, FrameId id, std::string& out) const {
  const Frame unmapped;
  const bool known = id != kNoFrame;
  const Frame& frame = known ? profile_[id] : unmapped;
  if (has(ScriptField::kBrstack)) {
    out += "0x";
    AppendHex(address, 0, out);
  } else if (has(ScriptField::kBrstackSym)) {
    AppendSymbol(frame, known ? BaseOf(profile_.LinesOf(frame)) : kNoSymbol, true, out);
  } else {
    out += "0x";
    AppendHex(known ? frame.place.value : address, 0, out);
  }
  if (has(ScriptField::kDso)) AppendDso(frame, false, out);
}

bool ScriptFormatter::Passes(const Row& sample) const {
  const analysis::Filter& filter = options_.filter;
  return filter.empty() || (filter.Passes(profile_, profile_[sample.thread]) &&
                            filter.Passes(profile_, profile_[sample.self]));
}

}  // namespace profiler::script
