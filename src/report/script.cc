#include "src/report/script.h"

#include <algorithm>
#include <optional>

#include "src/report/text.h"

namespace profiler::report {

using profile::Dso;
using profile::DsoId;
using profile::DsoKind;
using profile::Event;
using profile::Frame;
using profile::kNoStack;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::Row;
using profile::StackId;
using profile::Symbol;
using profile::SymbolId;
using profile::Thread;

namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr size_t kPiece = 1 << 16;

SymbolId BaseOf(std::span<const Line> lines) {
  return lines.empty() ? kNoSymbol : lines.back().symbol;
}

// A user image by its path, anything else by its name.
std::string_view NameOf(const Profile& profile, const Dso& dso) {
  const bool has_path = dso.kind == DsoKind::kUser || dso.kind == DsoKind::kModule ||
                        dso.kind == DsoKind::kJit || dso.kind == DsoKind::kAnonymous;
  const std::string_view path = profile.text(dso.long_name);
  return has_path && !path.empty() ? path : profile.text(dso.name);
}

bool Names(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

bool Names(const std::vector<uint32_t>& list, uint32_t id) {
  return list.empty() || std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

ScriptFormatter::ScriptFormatter(const Profile& profile, const ScriptOptions& options)
    : profile_(profile), options_(options), has_chains_(profile.events.size(), false) {
  for (const Event& event : profile.events) {
    event_width_ = std::max(event_width_, profile.text(event.name).size());
  }
  for (const Row& sample : profile.rows) {
    if (profile[sample.stack].depth > 1) has_chains_[static_cast<uint32_t>(sample.event)] = true;
  }
}

void ScriptFormatter::FormatSample(const Row& sample, std::string* out) const {
  AppendHead(sample, *out);
  if (!has_chains_[static_cast<uint32_t>(sample.event)]) {
    *out += ' ';
    const Frame& frame = profile_[sample.self];
    AppendHex(frame.ip.value, 16, *out);
    *out += ' ';
    const SymbolId symbol = BaseOf(profile_.LinesOf(frame));
    AppendSymbol(frame, symbol, *out);
    *out += " (";
    AppendSafe(NameOf(profile_, profile_[frame.dso]), *out);
    *out += ")\n";
    return;
  }
  *out += '\n';
  uint32_t shown = 0;
  for (StackId id = sample.stack; id != kNoStack && shown < options_.max_stack; ++shown) {
    AppendFrame(profile_[profile_[id].frame], *out);
    id = profile_[id].parent;
  }
  *out += '\n';
}

void ScriptFormatter::AppendHead(const Row& sample, std::string& out) const {
  const Thread& thread = profile_[sample.thread];
  const bool chains = has_chains_[static_cast<uint32_t>(sample.event)];
  const size_t start = out.size();
  AppendSafe(profile_.text(thread.comm), out);
  const size_t printed = out.size() - start;
  if (!chains && printed < 16) out.insert(start, 16 - printed, ' ');
  out += ' ';
  AppendNumber(thread.tid, 7, out);
  out += ' ';
  if (options_.show_cpu) {
    out += '[';
    const size_t digits = out.size();
    AppendNumber(sample.cpu, 3, out);
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(digits), out.end(), ' ', '0');
    out += "] ";
  }
  AppendNumber(sample.time / kNanosecondsPerSecond, 5, out);
  out += '.';
  const size_t micros = out.size();
  AppendNumber(sample.time % kNanosecondsPerSecond / 1000, 6, out);
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(micros), out.end(), ' ', '0');
  out += ": ";
  AppendNumber(sample.period, 10, out);
  out += ' ';
  AppendRightAligned(profile_.text(profile_[sample.event].name), event_width_, out);
  out += ": ";
}

void ScriptFormatter::AppendFrame(const Frame& frame, std::string& out) const {
  const std::span<const Line> lines = profile_.LinesOf(frame);
  const SymbolId base = BaseOf(lines);
  for (size_t i = 0; options_.inlines && base != kNoSymbol && i + 1 < lines.size(); ++i) {
    if (lines[i].symbol == kNoSymbol) continue;
    out += '\t';
    AppendHex(frame.ip.value, 16, out);
    out += ' ';
    AppendSymbol(frame, lines[i].symbol, out);
    out += " (inlined)\n";
  }
  out += '\t';
  AppendHex(frame.ip.value, 16, out);
  out += ' ';
  AppendSymbol(frame, base, out);
  out += " (";
  AppendSafe(NameOf(profile_, profile_[frame.dso]), out);
  out += ")\n";
}

// An inlined function is shown at its distance from where the function around it starts.
void ScriptFormatter::AppendSymbol(const Frame& frame, SymbolId name, std::string& out) const {
  if (name == kNoSymbol) {
    out += "[unknown]";
    return;
  }
  AppendSafe(profile_.text(profile_[name].name), out);
  out += "+0x";
  AppendHex(frame.symbol_offset, 0, out);
}

bool ScriptFormatter::Passes(const Row& sample) const {
  const Filter& filter = options_.filter;
  if (filter.empty()) return true;
  const Thread& thread = profile_[sample.thread];
  const Frame& frame = profile_[sample.self];
  const Dso& dso = profile_[frame.dso];
  if (!Names(filter.comms, profile_.text(thread.comm)) || !Names(filter.pids, thread.pid) ||
      !Names(filter.tids, thread.tid)) {
    return false;
  }
  if (!Names(filter.dsos, profile_.text(dso.name)) &&
      !Names(filter.dsos, profile_.text(dso.long_name))) {
    return false;
  }
  const SymbolId symbol = BaseOf(profile_.LinesOf(frame));
  return filter.symbols.empty() ||
         (symbol != kNoSymbol && Names(filter.symbols, profile_.text(profile_[symbol].name)));
}

void ScriptFormatter::Write(TextSink sink) const {
  std::string out;
  for (const Row& sample : profile_.rows) {
    if (!Passes(sample)) continue;
    FormatSample(sample, &out);
    if (out.size() >= kPiece) {
      sink(out);
      out.clear();
    }
  }
  if (!out.empty()) sink(out);
}

void FormatSample(const Profile& profile, const Row& sample, const ScriptOptions& options,
                  std::string* out) {
  ScriptFormatter(profile, options).FormatSample(sample, out);
}

}  // namespace profiler::report
