#include "src/live/merged_profile.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "symbolize/image_kind.h"

namespace profiler::live {
namespace {

using profile::Dimension;
using profile::EventId;
using profile::FrameId;
using profile::ImageId;
using profile::Profile;
using profile::RowChange;
using profile::StackId;
using profile::SymbolId;
using profile::ThreadId;
using symbolize::ImageKind;

constexpr uint32_t kNew = UINT32_MAX;
constexpr std::string_view kNoCallers = "[cut: callers not kept]";

template <class Id>
uint32_t Number(Id id) {
  return static_cast<uint32_t>(id);
}

// True if the process belongs to the identity of an image, because its code is in no file.
bool IsOfProcess(ImageKind kind) {
  return kind != ImageKind::kUser && kind != ImageKind::kKernel && kind != ImageKind::kModule &&
         kind != ImageKind::kVdso && kind != ImageKind::kBpf;
}

MergedRow RowOf(const Profile& profile, uint32_t i) {
  const auto& cgroups = profile.column(Dimension::kCgroup);
  return {.row = profile.rows[i],
          .cpu = profile.CpuOf(i),
          .cgroup = cgroups.empty() ? StringId{} : StringId{cgroups[i]}};
}

std::string TextOf(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  return text;
}

// The translated ids of a table.
class Ids {
 public:
  // A few rows of a large profile need few ids, so a list of all would cost more than a map.
  Ids(size_t size, bool is_sparse) : list_(is_sparse ? 0 : size, kNew), is_sparse_(is_sparse) {}

  // Valid until the next call.
  uint32_t& operator[](uint32_t id) {
    return is_sparse_ ? map_.try_emplace(id, kNew).first->second : list_[id];
  }

 private:
  std::vector<uint32_t> list_;
  absl::flat_hash_map<uint32_t, uint32_t> map_;
  const bool is_sparse_;
};

}  // namespace

struct MergedProfile::Translation {
  Translation(const Profile& source, size_t rows)
      : from(source),
        is_sparse(source.stacks.size() > kNodesOfRow * rows),
        strings(source.strings.size(), is_sparse),
        events(source.events.size(), false),
        threads(source.threads.size(), is_sparse),
        images(source.images.size(), is_sparse),
        symbols(source.symbols.size(), is_sparse),
        frames(source.frames.size(), is_sparse),
        stacks(source.stacks.size(), is_sparse) {}

  static constexpr size_t kNodesOfRow = 64;
  const Profile& from;
  const bool is_sparse;
  Ids strings, events, threads, images, symbols, frames, stacks;
  std::vector<StackId> path;  // scratch of Stack
};

MergedProfile::MergedProfile() {
  profile_.images.push_back({.name = profile_.strings.Intern("[unknown]"),
                             .long_name = profile_.strings.Intern("[unknown]")});
}

StringId MergedProfile::String(Translation& to, StringId id) {
  uint32_t& known = to.strings[Number(id)];
  if (known == kNew) known = Number(profile_.strings.Intern(to.from.text(id)));
  return StringId{known};
}

EventId MergedProfile::Event(Translation& to, EventId id) {
  uint32_t& known = to.events[Number(id)];
  if (known != kNew) return EventId{known};
  const profile::Event& event = to.from[id];
  const StringId name = String(to, event.name);
  const auto [at, is_new] =
      events_.try_emplace(Number(name), static_cast<uint32_t>(profile_.events.size()));
  if (is_new) {
    profile_.events.push_back(
        {.name = name, .frequency = event.frequency, .callchains = event.callchains});
  }
  known = at->second;
  return EventId{known};
}

ThreadId MergedProfile::Thread(Translation& to, ThreadId id) {
  uint32_t& known = to.threads[Number(id)];
  if (known != kNew) return ThreadId{known};
  profile::Thread thread = to.from[id];
  thread.comm = String(to, thread.comm);
  thread.last_comm = String(to, thread.last_comm);
  thread.process_comm = String(to, thread.process_comm);
  const auto [at, is_new] =
      threads_.try_emplace({thread.pid, thread.tid, Number(thread.comm), Number(thread.last_comm),
                            Number(thread.process_comm)},
                           static_cast<uint32_t>(profile_.threads.size()));
  if (is_new) profile_.threads.push_back(thread);
  known = at->second;
  return ThreadId{known};
}

ImageId MergedProfile::Image(Translation& to, ImageId id) {
  if (id == ImageId{}) return id;
  uint32_t& known = to.images[Number(id)];
  if (known != kNew) return ImageId{known};
  profile::Image image = to.from[id];
  image.name = String(to, image.name);
  image.long_name = String(to, image.long_name);
  const uint32_t process = IsOfProcess(image.kind) ? image.pid : 0;
  const auto [at, is_new] =
      images_.try_emplace({Number(image.name), Number(image.long_name),
                           static_cast<uint32_t>(image.kind), process, TextOf(image.build_id)},
                          static_cast<uint32_t>(profile_.images.size()));
  if (is_new) profile_.images.push_back(std::move(image));
  known = at->second;
  return ImageId{known};
}

SymbolId MergedProfile::Symbol(Translation& to, SymbolId id) {
  if (id == profile::kNoSymbol) return id;
  uint32_t& known = to.symbols[Number(id)];
  if (known != kNew) return SymbolId{known};
  profile::Symbol symbol = to.from[id];
  symbol.name = String(to, symbol.name);
  symbol.image = Image(to, symbol.image);
  const auto [at, is_new] =
      symbols_.try_emplace({Number(symbol.name), Number(symbol.image), symbol.start.value},
                           static_cast<uint32_t>(profile_.symbols.size()));
  if (is_new) profile_.symbols.push_back(symbol);
  known = at->second;
  return SymbolId{known};
}

FrameId MergedProfile::Frame(Translation& to, FrameId id) {
  uint32_t& known = to.frames[Number(id)];
  if (known != kNew) return FrameId{known};
  profile::Frame frame = to.from[id];
  const auto lines = to.from.LinesOf(frame);
  frame.image = Image(to, frame.image);
  const SymbolId symbol = lines.empty() ? profile::kNoSymbol : Symbol(to, lines.front().symbol);
  const uint32_t kind = static_cast<uint32_t>(frame.mode) << 2 | (frame.return_address ? 2 : 0) |
                        (frame.place.in_file ? 1 : 0);
  // A stack with too many inlined calls has frames without them (inlined_calls.h).
  const auto [at, is_new] = frames_.try_emplace(
      {Number(frame.image), frame.place.value, kind, Number(symbol), lines.size()},
      static_cast<uint32_t>(profile_.frames.size()));
  known = at->second;
  if (!is_new) return FrameId{known};
  frame.first_line = static_cast<uint32_t>(profile_.lines.size());
  for (profile::Line line : lines) {
    line.symbol = Symbol(to, line.symbol);
    line.file = String(to, line.file);
    profile_.lines.push_back(line);
  }
  profile_.frames.push_back(frame);
  return FrameId{known};
}

StackId MergedProfile::InternStack(StackId parent, FrameId frame) {
  const auto [at, is_new] = stacks_.try_emplace(static_cast<uint64_t>(parent) << 32 | Number(frame),
                                                static_cast<uint32_t>(profile_.stacks.size()));
  if (is_new) {
    const uint32_t depth = parent == profile::kNoStack ? 1 : profile_[parent].depth + 1;
    profile_.stacks.push_back({.parent = parent, .frame = frame, .depth = depth});
  }
  return StackId{at->second};
}

// Returns the outermost frame of stacks whose callers are not kept.
FrameId MergedProfile::Mark() {
  if (mark_ != profile::kNoFrame) return mark_;
  profile_.symbols.push_back({.name = profile_.strings.Intern(kNoCallers)});
  profile_.lines.push_back(
      {.symbol = SymbolId(static_cast<uint32_t>(profile_.symbols.size() - 1))});
  profile_.frames.push_back({.mode = profile::Mode::kCut,
                             .unnamed = profile::Unnamed::kNamed,
                             .first_line = static_cast<uint32_t>(profile_.lines.size() - 1),
                             .line_count = 1});
  return mark_ = FrameId(static_cast<uint32_t>(profile_.frames.size() - 1));
}

StackId MergedProfile::Stack(Translation& to, StackId id) {
  to.path.clear();
  for (; id != profile::kNoStack && to.stacks[Number(id)] == kNew; id = to.from[id].parent) {
    to.path.push_back(id);
  }
  StackId parent = id == profile::kNoStack ? id : StackId{to.stacks[Number(id)]};
  for (; !to.path.empty(); to.path.pop_back()) {
    const profile::StackNode& node = to.from[to.path.back()];
    const FrameId frame = Frame(to, node.frame);
    parent = InternStack(parent, frame);
    to.stacks[Number(to.path.back())] = Number(parent);
  }
  return parent;
}

void MergedProfile::Add(const Profile& from, std::span<const MergedRow> rows, Callers callers,
                        std::vector<RowChange>* changes) {
  Translation to(from, rows.size());
  // Also events without samples, so that the order of events does not depend on their samples.
  for (uint32_t i = 0; i < from.events.size(); ++i) Event(to, EventId{i});
  for (const MergedRow& added : rows) {
    profile::Row row = added.row;
    row.event = Event(to, row.event);
    row.thread = Thread(to, row.thread);
    const bool is_cut = callers == Callers::kNone && from[row.stack].depth > 1;
    row.self = Frame(to, row.self);
    row.stack = is_cut ? InternStack(InternStack(profile::kNoStack, Mark()), row.self)
                       : Stack(to, row.stack);
    const StringId cgroup = String(to, added.cgroup);
    profile::Event& event = profile_.events[Number(row.event)];
    event.samples += row.count;
    event.period += row.period;
    const auto [at, is_new] =
        rows_.try_emplace({Number(row.event), Number(row.thread), Number(row.self),
                           Number(row.stack), added.cpu, Number(cgroup)},
                          static_cast<uint32_t>(profile_.rows.size()));
    if (is_new) {
      profile_.rows.push_back(row);
      profile_.column(Dimension::kCpu).push_back(added.cpu);
      profile_.column(Dimension::kCgroup).push_back(Number(cgroup));
    } else {
      profile_.rows[at->second].count += row.count;
      profile_.rows[at->second].period += row.period;
    }
    if (changes != nullptr) {
      changes->push_back({.row = at->second, .count = row.count, .period = row.period});
    }
  }
}

void MergedProfile::Add(const Profile& from, uint64_t factor, MergedChanges* changes) {
  std::vector<MergedRow> rows;
  rows.reserve(from.rows.size());
  // Samples that events count and rows do not.
  std::vector<MergedChanges::EventChange> hidden;
  for (const profile::Event& event : from.events) {
    hidden.push_back({.samples = event.samples * factor, .period = event.period * factor});
  }
  for (uint32_t i = 0; i < from.rows.size(); ++i) {
    MergedRow& added = rows.emplace_back(RowOf(from, i));
    added.row.count *= factor;
    added.row.period *= factor;
    MergedChanges::EventChange& event = hidden[Number(added.row.event)];
    event.samples -= added.row.count;
    event.period -= added.row.period;
  }
  const std::vector<profile::Event> before =
      changes == nullptr ? std::vector<profile::Event>() : profile_.events;
  Add(from, rows, Callers::kAll, changes == nullptr ? nullptr : &changes->rows);
  AddLosses(from.losses, &profile_.losses);
  Translation to(from, 0);
  for (uint32_t i = 0; i < hidden.size(); ++i) {
    profile::Event& event = profile_.events[Number(Event(to, EventId{i}))];
    event.samples += hidden[i].samples;
    event.period += hidden[i].period;
  }
  if (changes == nullptr) return;
  for (size_t i = 0; i < profile_.events.size(); ++i) {
    const profile::Event& now = profile_.events[i];
    const profile::Event then = i < before.size() ? before[i] : profile::Event();
    changes->events.push_back(
        {.samples = now.samples - then.samples, .period = now.period - then.period});
  }
}

void MergedProfile::Subtract(const MergedChanges& changes) {
  for (const RowChange& change : changes.rows) {
    profile::Row& row = profile_.rows[change.row];
    row.count -= change.count;
    row.period -= change.period;
  }
  for (size_t i = 0; i < changes.events.size(); ++i) {
    profile_.events[i].samples -= changes.events[i].samples;
    profile_.events[i].period -= changes.events[i].period;
  }
}

void AddLosses(const profile::Losses& part, profile::Losses* sum) {
  sum->lost_records += part.lost_records;
  sum->lost_samples += part.lost_samples;
  sum->lost_events += part.lost_events;
  sum->throttled += part.throttled;
  sum->undecodable += part.undecodable;
  sum->corrupt_chains += part.corrupt_chains;
  sum->unknown_records += part.unknown_records;
}

void AddWarnings(const std::vector<std::string>& warnings, profile::Losses* sum) {
  for (const std::string& warning : warnings) {
    if (std::find(sum->warnings.begin(), sum->warnings.end(), warning) == sum->warnings.end()) {
      sum->warnings.push_back(warning);
    }
  }
}

size_t MemoryOf(const Profile& profile) {
  constexpr size_t kNode = 40, kFrame = 100, kRow = 100, kName = 150;
  return profile.stacks.size() * kNode + profile.frames.size() * kFrame +
         profile.rows.size() * kRow + profile.strings.size() * kName;
}

Profile Shortened(const Profile& profile, size_t most, double* shortened) {
  constexpr size_t kNode = 40;  // bytes
  std::vector<uint32_t> order(profile.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return profile.rows[a].period > profile.rows[b].period;
  });
  std::vector<MergedRow> whole, cut;
  size_t bytes = 0;
  double all = 0, gone = 0;
  for (const uint32_t i : order) {
    bytes += kNode * profile[profile.rows[i].stack].depth;
    const auto weight = static_cast<double>(profile.rows[i].period);
    all += weight;
    if (bytes > most) gone += weight;
    (bytes > most ? cut : whole).push_back(RowOf(profile, i));
  }
  MergedProfile merged;
  merged.Add(profile, whole);
  merged.Add(profile, cut, MergedProfile::Callers::kNone);
  merged.losses() = profile.losses;
  if (shortened != nullptr) *shortened = all == 0 ? 0 : gone / all;
  return std::move(merged).Take();
}

}  // namespace profiler::live
