// The section SUMS between bytes and value. FORMAT.md draws it.

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/packed_section.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

constexpr uint64_t kVersion = 1;

constexpr int kCompressionLevel = 3;  // megabytes

// What the samples of a row would weigh if each weighed as much as those of the row before.
uint64_t ExpectedPeriod(const Row& row, const Row& before) {
  return before.count == 0 ? 0 : row.count * (before.period / before.count);
}

template <class Io>
void ImageFields(Io& io, SampleSums& sums) {
  io.Resize(sums.images, 4);
  for (auto& image : sums.images) {
    io.Plain(image.kind);
    io.Plain(image.pid);
    io.String(image.path);
    io.Bytes(image.build_id);
  }
  io.String(sums.kernel_reference);
  io.Plain(sums.kernel_reference_address);
  io.Resize(sums.kernel_symbols, 3);
  uint64_t start = 0;
  for (auto& symbol : sums.kernel_symbols) {
    io.After(symbol.start, start);
    io.Plain(symbol.size);
    io.String(symbol.name);
    start = symbol.start;
  }
}

// Where an image was loaded differs from process to process, mostly for few of its frames.
template <class Io>
void FrameFields(Io& io, SampleSums& sums) {
  auto& frames = sums.frames;
  io.Resize(frames, 4);
  for (auto& frame : frames) io.Optional(frame.image, sums.images.size());
  for (auto& frame : frames) io.Flagged(frame.mode, frame.return_address);
  // The last one of each image; that of no image in front.
  std::vector<SampleSums::Frame> before(sums.images.size() + 1);
  const auto before_of = [&](const SampleSums::Frame& frame) -> SampleSums::Frame& {
    return before[frame.image == kNoIndex ? 0 : frame.image + 1];
  };
  for (auto& frame : frames) {
    io.After(frame.offset, before_of(frame).offset);
    before_of(frame).offset = frame.offset;
  }
  std::fill(before.begin(), before.end(), SampleSums::Frame{});
  for (auto& frame : frames) {
    const SampleSums::Frame& last = before_of(frame);
    io.After(frame.ip, frame.offset + (last.ip - last.offset));
    before_of(frame) = frame;
  }
}

// A stack mostly stands right behind its caller's, or behind another of the same caller.
template <class Io>
void StackFields(Io& io, SampleSums& sums) {
  auto& stacks = sums.stacks;
  io.Resize(stacks, 2);
  for (size_t i = 0; i < stacks.size(); ++i) io.Earlier(stacks[i].parent, i);
  FrameId newest{};
  for (auto& stack : stacks) {
    io.IndexAfter(stack.frame, newest, sums.frames.size());
    newest = std::max(newest, stack.frame);
  }
}

template <class Io>
void RowFields(Io& io, SampleSums& sums) {
  auto& rows = sums.rows;
  io.Resize(rows, 6);
  const Row none{.stack = StackId{}};
  Row before = none;
  for (auto& row : rows) io.Index(row.event, sums.events.size());
  for (auto& row : rows) {
    io.IndexAfter(row.thread, before.thread, sums.threads.size());
    before = row;
  }
  before = none;
  for (auto& row : rows) {
    io.IndexAfter(row.stack, before.stack, sums.stacks.size());
    before = row;
  }
  for (auto& row : rows) {
    const FrameId leaf = io.ok() ? sums.stacks[static_cast<uint32_t>(row.stack)].frame : FrameId{};
    io.IndexAfter(row.self, leaf, sums.frames.size());
  }
  for (auto& row : rows) io.Plain(row.count);
  before = none;
  for (auto& row : rows) {
    io.After(row.period, ExpectedPeriod(row, before));
    before = row;
  }
}

template <class Io>
void Fields(Io& io, SampleSums& sums) {
  io.Plain(sums.data_size);
  LossCounts& losses = sums.losses;
  for (uint64_t* const count :
       {&losses.lost_records, &losses.lost_samples, &losses.lost_events, &losses.throttled,
        &losses.undecodable, &losses.corrupt_chains, &losses.unknown_records}) {
    io.Plain(*count);
  }
  io.Strings(sums.strings);
  io.Resize(sums.events, 2);
  for (auto& event : sums.events) {
    io.Plain(event.samples);
    io.Plain(event.period);
  }
  io.Resize(sums.threads, 1);
  for (auto& name : sums.threads) io.String(name);
  ImageFields(io, sums);
  FrameFields(io, sums);
  StackFields(io, sums);
  RowFields(io, sums);
}

// False where one is deeper than the stacks of a recording.
bool SetDepths(HugeVector<StackNode>& stacks) {
  for (StackNode& stack : stacks) {
    if (stack.parent == kNoStack) continue;
    stack.depth = stacks[static_cast<uint32_t>(stack.parent)].depth + 1;
    if (stack.depth > SampleSums::kMostFrames) return false;
  }
  return true;
}

}  // namespace

std::string EncodeSampleSums(const SampleSums& sums) {
  ColumnWriter writing;
  // The list of fields takes what it may change; a writer changes nothing.
  Fields(writing, const_cast<SampleSums&>(sums));
  return PackSection(kVersion, 0, writing.out.Take(), kCompressionLevel);
}

std::optional<SampleSums> ReadSampleSums(const Features& features) {
  const auto section = features.other.find(kFeatureSums);
  if (section == features.other.end()) return std::nullopt;
  const std::optional<UnpackedSection> unpacked = UnpackSection(section->second, kVersion);
  if (!unpacked) return std::nullopt;
  SampleSums sums;
  ColumnReader reading{NumberReader(unpacked->content)};
  Fields(reading, sums);
  if (!reading.ok() || !SetDepths(sums.stacks)) return std::nullopt;
  return sums;
}

}  // namespace profiler::perf_data
