#include "src/profile/profile_codec.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/base/packed_section.h"
#include "src/profile/profile_order.h"

namespace profiler::profile {
namespace {

constexpr uint64_t kVersion = 2;

constexpr int kCompressionLevel = 3;  // level of zstd; the section has some megabytes

constexpr auto kCpu = static_cast<size_t>(Dimension::kCpu);
constexpr auto kSlice = static_cast<size_t>(Dimension::kSlice);

// The parts of the summary's rows. The samples of a part agree in thread, CPU and slice.
struct Details {
  HugeVector<uint32_t> parts;  // [n]: number of parts of the summary's row n
  // Threads, columns, counts and periods of all parts, indexed by part.
  HugeVector<ThreadId> threads;
  std::array<HugeVector<uint32_t>, kDimensions> columns;
  HugeVector<uint64_t> counts, periods;
};

// Predicts the period of a row of `count` samples from the mean period of the former row's samples.
uint64_t ExpectedPeriod(uint64_t count, uint64_t count_before, uint64_t period_before) {
  return count_before == 0 ? 0 : count * (period_before / count_before);
}

// ---- the lists of fields, for writing and for reading

template <class Io>
void EventFields(Io& io, Profile& profile) {
  io.Resize(profile.events, 4);
  for (Event& event : profile.events) {
    io.String(event.name);
    io.Plain(event.samples);
    io.Plain(event.period);
    uint8_t frequency = event.frequency ? 1 : 0;
    io.Flagged(frequency, event.callchains);
    event.frequency = frequency != 0;
  }
}

template <class Io>
void ImageFields(Io& io, Profile& profile) {
  io.Resize(profile.images, 5);
  for (Image& image : profile.images) {
    auto kind = static_cast<uint8_t>(image.kind);
    io.Plain(kind);
    image.kind = symbolize::ImageKind{kind};
    io.Plain(image.pid);
    io.String(image.name);
    io.String(image.long_name);
    io.Bytes(image.build_id);
  }
  KernelFacts& kernel = profile.kernel;
  io.String(kernel.reference);
  io.Plain(kernel.reference_address.value);
  io.Resize(kernel.symbols, 3);
  uint64_t start = 0;
  for (KernelFacts::Symbol& symbol : kernel.symbols) {
    io.After(symbol.start.value, start);
    io.Plain(symbol.size);
    io.String(symbol.name);
    start = symbol.start.value;
  }
}

// The load address of an image differs between processes, but mostly changes for few frames.
template <class Io>
void FrameFields(Io& io, Profile& profile) {
  HugeVector<Frame>& frames = profile.frames;
  const size_t images = profile.images.size();
  io.Resize(frames, 4);
  for (Frame& frame : frames) io.Index(frame.image, images);
  for (Frame& frame : frames) {
    auto mode = static_cast<uint8_t>(frame.mode);
    io.Flagged(mode, frame.return_address);
    frame.mode = Mode{mode};
  }
  std::vector<uint64_t> last(images);  // [n]: place of the last frame in image n
  for (Frame& frame : frames) {
    if (!io.ok()) return;
    io.After(frame.place.value, last[NumberOf(frame.image)]);
    last[NumberOf(frame.image)] = frame.place.value;
  }
  std::vector<uint64_t> loaded(images);  // [n]: address minus place of image n's last frame
  for (Frame& frame : frames) {
    if (!io.ok()) return;
    uint64_t& distance = loaded[NumberOf(frame.image)];
    io.After(frame.ip.value, frame.place.value + distance);
    distance = frame.ip.value - frame.place.value;
  }
}

// A stack mostly follows its caller's stack, or another stack of the same caller.
template <class Io>
void StackFields(Io& io, Profile& profile) {
  HugeVector<StackNode>& stacks = profile.stacks;
  io.Resize(stacks, 2);
  for (size_t i = 0; i < stacks.size(); ++i) io.Earlier(stacks[i].parent, i);
  FrameId newest{};
  for (StackNode& stack : stacks) {
    io.IndexAfter(stack.frame, newest, profile.frames.size());
    newest = std::max(newest, stack.frame);
  }
}

// Rows of the summary. Their threads are indices into `names`.
template <class Io>
void RowFields(Io& io, size_t names, Profile& profile) {
  HugeVector<Row>& rows = profile.rows;
  io.Resize(rows, 6);
  for (Row& row : rows) io.Index(row.event, profile.events.size());
  ThreadId thread{};
  for (Row& row : rows) {
    io.IndexAfter(row.thread, thread, names);
    thread = row.thread;
  }
  StackId stack{};
  for (Row& row : rows) {
    io.IndexAfter(row.stack, stack, profile.stacks.size());
    stack = row.stack;
  }
  for (Row& row : rows) {
    if (!io.ok()) return;
    io.IndexAfter(row.self, profile[row.stack].frame, profile.frames.size());
  }
  for (Row& row : rows) io.Plain(row.count);
  Row before;
  for (Row& row : rows) {
    io.After(row.period, ExpectedPeriod(row.count, before.count, before.period));
    before = row;
  }
}

template <class Io>
void SummaryFields(Io& io, uint64_t& data_size, std::vector<StringId>& names, Profile& profile) {
  io.Plain(data_size);
  Losses& losses = profile.losses;
  for (uint64_t* const count :
       {&losses.lost_records, &losses.lost_samples, &losses.lost_events, &losses.throttled,
        &losses.undecodable, &losses.corrupt_chains, &losses.unknown_records}) {
    io.Plain(*count);
  }
  io.Strings(profile.strings);
  EventFields(io, profile);
  io.Resize(names, 1);
  for (StringId& name : names) io.String(name);
  ImageFields(io, profile);
  FrameFields(io, profile);
  StackFields(io, profile);
  RowFields(io, names.size(), profile);
}

template <class Io>
void ThreadFields(Io& io, Profile& profile) {
  io.Resize(profile.threads, 5);
  Thread before;
  for (Thread& thread : profile.threads) {
    io.After(thread.pid, before.pid);
    io.After(thread.tid, thread.pid);
    for (StringId* const name : {&thread.comm, &thread.last_comm, &thread.process_comm}) {
      io.String(*name);
    }
    before = thread;
  }
}

template <class Io>
void SliceFields(Io& io, TimeSlices& slices) {
  io.Plain(slices.begin);
  io.Plain(slices.length);
  io.Resize(slices.slices, 2);
  uint64_t begin = slices.begin;
  for (TimeSlices::Slice& slice : slices.slices) {
    io.After(slice.first, begin);
    io.After(slice.last, slice.first);
    begin += slices.length;
  }
}

template <class Io>
void DetailFields(Io& io, Profile& profile, Details& details) {
  ThreadFields(io, profile);
  SliceFields(io, profile.slices);
  io.Resize(details.parts, 1);
  for (uint32_t& parts : details.parts) io.Plain(parts);
  io.Resize(details.threads, 5);
  ThreadId thread{};
  for (ThreadId& id : details.threads) {
    io.IndexAfter(id, thread, profile.threads.size());
    thread = id;
  }
  io.Resize(details.columns[kCpu], 1);
  for (uint32_t& cpu : details.columns[kCpu]) io.Optional(cpu, kNoCpu);
  io.Resize(details.columns[kSlice], 1);
  uint32_t slice = 0;
  for (uint32_t& number : details.columns[kSlice]) {
    io.IndexAfter(number, slice, std::max<size_t>(profile.slices.slices.size(), 1));
    slice = number;
  }
  io.Resize(details.counts, 1);
  for (uint64_t& count : details.counts) io.Plain(count);
  io.Resize(details.periods, 1);
  uint64_t count_before = 0, period_before = 0;
  for (size_t i = 0; i < std::min(details.counts.size(), details.periods.size()); ++i) {
    io.After(details.periods[i], ExpectedPeriod(details.counts[i], count_before, period_before));
    count_before = details.counts[i];
    period_before = details.periods[i];
  }
}

// ---- writing

struct Summary {
  HugeVector<Row> rows;
  Details details;  // `columns` is unused, because the profile has them
};

// Sums up rows of a sorted profile that differ only in the dimensions of the details.
Summary Summarize(const std::vector<ThreadId>& number_of_name, const Profile& profile) {
  HugeVector<Row> rows;
  Details details;
  for (Row row : profile.rows) {
    details.threads.push_back(row.thread);
    details.counts.push_back(row.count);
    details.periods.push_back(row.period);
    row.thread = number_of_name[NumberOf(row.thread)];
    const bool is_new = rows.empty() || rows.back().event != row.event ||
                        rows.back().thread != row.thread || rows.back().stack != row.stack ||
                        rows.back().self != row.self;
    if (is_new) {
      rows.push_back(row);
      details.parts.push_back(1);
    } else {
      rows.back().count += row.count;
      rows.back().period += row.period;
      ++details.parts.back();
    }
  }
  return {std::move(rows), std::move(details)};
}

// ---- reading

bool IsPossible(const Profile& profile) {
  const auto is_unknown = [](const Image& image) {
    return image.kind == symbolize::ImageKind::kUnknown;
  };
  return !profile.images.empty() && is_unknown(profile.images.front()) &&
         std::all_of(
             profile.images.begin() + 1, profile.images.end(),
             [](const Image& image) { return image.kind < symbolize::ImageKind::kUnknown; }) &&
         std::all_of(profile.frames.begin(), profile.frames.end(), [&](const Frame& frame) {
           const bool in_file = IsInFile(profile[frame.image].kind);
           return frame.mode <= Mode::kCut && (in_file || frame.place.value == frame.ip.value);
         });
}

// Sets the depths. Returns false if a stack is deeper than a recording's can be.
bool SetDepths(HugeVector<StackNode>& stacks) {
  for (StackNode& stack : stacks) {
    if (stack.parent == kNoStack) continue;
    stack.depth = stacks[NumberOf(stack.parent)].depth + 1;
    if (stack.depth > kMostFrames) return false;
  }
  return true;
}

// Returns for each slice whether it is wanted. Returns nothing if only a part of any slice is
// wanted.
std::optional<std::vector<bool>> WantedSlices(const TimeSlices& slices,
                                              const SampleSelection& samples) {
  if (slices.slices.empty() && !samples.HasAllTimes()) return std::nullopt;
  std::vector<bool> wanted;
  for (const TimeSlices::Slice& slice : slices.slices) {
    const bool is_empty = slice.first > slice.last;
    const bool whole = samples.HasSpan({slice.first, slice.last});
    if (!is_empty && !whole && samples.Touches({slice.first, slice.last})) return std::nullopt;
    wanted.push_back(!is_empty && whole);
  }
  return wanted;
}

// A part of a row: its thread and dimensions, and its counts.
struct Part {
  ThreadId thread{};
  std::array<uint32_t, kDimensionsOfSamples> values{};
  uint64_t count = 0, period = 0;
};

// An operation that replaces each row by its wanted parts.
class Refinement {
 public:
  Refinement(const Details& details, const Wanted& wanted, std::vector<bool> slices,
             Profile& profile)
      : details_(details), wanted_(wanted), slices_(std::move(slices)), profile_(profile) {}

  // Returns false if the details belong to other rows.
  bool Refine() {
    const HugeVector<Row> summary = std::exchange(profile_.rows, {});
    if (details_.parts.size() != summary.size() || !AreWhole()) return false;
    size_t end = 0;
    for (size_t i = 0; i < summary.size(); ++i) {
      const size_t begin = end;
      if (details_.parts[i] > details_.threads.size() - begin) return false;
      end += details_.parts[i];
      Collect(summary[i], begin, end);
      Merge();
      AddRows(summary[i]);
    }
    if (!wanted_.samples.HasAll()) CountEvents();
    return true;
  }

 private:
  bool AreWhole() const {
    const size_t parts = details_.threads.size();
    return details_.counts.size() == parts && details_.periods.size() == parts &&
           details_.columns[kCpu].size() == parts && details_.columns[kSlice].size() == parts;
  }

  void Collect(const Row& row, size_t begin, size_t end) {
    parts_.clear();
    for (size_t i = begin; i < end; ++i) {
      if (!wanted_.samples.HasCpu(details_.columns[kCpu][i])) continue;
      const uint32_t slice = details_.columns[kSlice][i];
      if (slice < slices_.size() && !slices_[slice]) continue;
      Part& part = parts_.emplace_back();
      part.thread = wanted_.threads ? details_.threads[i] : row.thread;
      for (size_t d = 0; d < kDimensionsOfSamples; ++d) {
        if (wanted_.dimensions[d]) part.values[d] = details_.columns[d][i];
      }
      part.count = details_.counts[i];
      part.period = details_.periods[i];
    }
  }

  // Merges parts that do not differ in a wanted property.
  void Merge() {
    const auto place = [](const Part& part) { return std::pair(part.thread, part.values); };
    std::sort(parts_.begin(), parts_.end(),
              [&](const Part& a, const Part& b) { return place(a) < place(b); });
    size_t kept = 0;
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (place(parts_[kept]) == place(parts_[i])) {
        parts_[kept].count += parts_[i].count;
        parts_[kept].period += parts_[i].period;
      } else {
        parts_[++kept] = parts_[i];
      }
    }
    if (!parts_.empty()) parts_.resize(kept + 1);
  }

  void AddRows(Row row) {
    for (const Part& part : parts_) {
      row.thread = part.thread;
      row.count = part.count;
      row.period = part.period;
      profile_.rows.push_back(row);
      for (size_t d = 0; d < kDimensionsOfSamples; ++d) {
        if (wanted_.dimensions[d]) profile_.columns[d].push_back(part.values[d]);
      }
    }
  }

  void CountEvents() {
    for (Event& event : profile_.events) event.samples = event.period = 0;
    for (const Row& row : profile_.rows) {
      Event& event = profile_.events[NumberOf(row.event)];
      event.samples += row.count;
      event.period += row.period;
    }
  }

  const Details& details_;
  const Wanted& wanted_;
  const std::vector<bool> slices_;
  Profile& profile_;
  std::vector<Part> parts_;  // parts of the present row
};

bool ReadDetails(std::string_view section, const Wanted& wanted, Profile& profile) {
  const std::optional<UnpackedSection> unpacked = UnpackSection(section, kVersion);
  if (!unpacked) return false;
  ColumnReader reading{.in = NumberReader(unpacked->content), .strings = profile.strings.size()};
  Details details;
  DetailFields(reading, profile, details);
  if (!reading.ok()) return false;
  std::optional<std::vector<bool>> slices = WantedSlices(profile.slices, wanted.samples);
  return slices && Refinement(details, wanted, *std::move(slices), profile).Refine();
}

bool IsStored(const DimensionSet& wanted) {
  for (size_t d = 0; d < kDimensions; ++d) {
    if (wanted[d] && !kStoredDimensions[d]) return false;
  }
  return true;
}

bool IsSummary(const Wanted& wanted) {
  return !wanted.threads && wanted.samples.HasAll() &&
         std::none_of(wanted.dimensions.begin(), wanted.dimensions.end(), [](bool b) { return b; });
}

}  // namespace

std::string EncodeProfile(Profile& profile, uint64_t data_size) {
  PutInOrder(profile);
  // first[thread]: first thread with the same name. number_of_name[thread]: index of its name in
  // `names`.
  const std::vector<ThreadId> first = FirstOfSameName(profile);
  std::vector<ThreadId> number_of_name(first.size());
  std::vector<StringId> names;
  for (uint32_t i = 0; i < first.size(); ++i) {
    if (first[i] == ThreadId{i}) {
      number_of_name[i] = ThreadId{static_cast<uint32_t>(names.size())};
      names.push_back(profile.threads[i].comm);
    } else {
      number_of_name[i] = number_of_name[NumberOf(first[i])];
    }
  }

  auto [rows, details] = Summarize(number_of_name, profile);
  ColumnWriter summary, parts;
  profile.rows.swap(rows);  // SummaryFields reads the rows of a profile
  SummaryFields(summary, data_size, names, profile);
  profile.rows.swap(rows);
  details.columns.swap(profile.columns);
  DetailFields(parts, profile, details);
  details.columns.swap(profile.columns);

  const std::string packed = PackSection(kVersion, 0, summary.out.Take(), kCompressionLevel);
  NumberWriter section;
  section.Number(kVersion);
  section.Text(packed);
  return section.Take() + PackSection(kVersion, 0, parts.out.Take(), kCompressionLevel);
}

std::optional<Profile> DecodeProfile(std::string_view section, uint64_t data_size,
                                     const Wanted& wanted) {
  if (!IsStored(wanted.dimensions)) return std::nullopt;
  NumberReader parts(BytesOfText(section));
  if (parts.Number() != kVersion) return std::nullopt;
  const std::span<const std::byte> summary = parts.Bytes();
  if (!parts.ok()) return std::nullopt;
  const std::optional<UnpackedSection> unpacked = UnpackSection(TextOf(summary), kVersion);
  if (!unpacked) return std::nullopt;

  Profile profile;
  uint64_t of_size = 0;
  std::vector<StringId> names;
  ColumnReader reading{NumberReader(unpacked->content)};
  SummaryFields(reading, of_size, names, profile);
  if (!reading.ok() || of_size != data_size || !IsPossible(profile) || !SetDepths(profile.stacks)) {
    return std::nullopt;
  }
  // The sums do not say when damaged samples were taken.
  const bool has_damage = profile.losses.undecodable != 0 || profile.losses.corrupt_chains != 0;
  if (has_damage && !wanted.samples.HasAllTimes()) return std::nullopt;
  for (Frame& frame : profile.frames) {
    frame.place.in_file = IsInFile(profile[frame.image].kind);
    frame.unnamed = frame.image == ImageId{} ? Unnamed::kNoMapping : Unnamed::kNoSymbol;
  }
  if (!IsSummary(wanted) &&
      !ReadDetails(section.substr(section.size() - parts.remaining()), wanted, profile)) {
    return std::nullopt;
  }
  if (!wanted.threads) {
    profile.threads.clear();
    for (const StringId name : names) profile.threads.push_back({.comm = name});
  }
  return profile;
}

}  // namespace profiler::profile
