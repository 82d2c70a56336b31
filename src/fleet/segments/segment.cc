#include "src/fleet/segments/segment.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/packed_section.h"
#include "src/base/text.h"

namespace profiler::fleet {
namespace {

constexpr std::string_view kMagic = "PROFSEG1";
constexpr size_t kStart = kMagic.size() + sizeof(uint32_t);
constexpr uint64_t kBodyVersion = 1;
constexpr int kLevel = 3;  // compression level of zstd

template <class T>
void AppendFixed(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

template <class T>
T FixedAt(std::span<const std::byte> bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<T>(bytes[i]) << (8 * i);
  return value;
}

void AppendSum(std::string_view of, std::string& out) {
  AppendFixed<uint64_t>(XXH3_64bits(of.data(), of.size()), out);
}

bool HasSum(std::span<const std::byte> bytes, std::span<const std::byte> sum) {
  return XXH3_64bits(bytes.data(), bytes.size()) == FixedAt<uint64_t>(sum);
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("not a complete segment: ", View(what)));
}

std::string EncodeHead(const Window& window) {
  NumberWriter out;
  out.Text(window.host);
  out.Number(window.labels.size());
  for (const auto& [key, value] : window.labels) {
    out.Text(key);
    out.Text(value);
  }
  out.Difference(static_cast<uint64_t>(window.begin), 0);
  out.Number(window.length);
  out.Number(std::bit_cast<uint64_t>(window.frequency));
  out.Number(window.cpus);
  out.Text(window.version);
  out.Number(window.losses.lost_samples);
  out.Number(window.losses.chains);
  out.Number(window.losses.cut_chains);
  out.Number(window.rows.size());
  out.Number(SamplesOf(window));
  return out.Take();
}

std::string TextIn(NumberReader& in) { return std::string(TextOf(in.Bytes())); }

absl::StatusOr<SegmentHead> DecodeHead(std::span<const std::byte> bytes) {
  NumberReader in(bytes);
  SegmentHead head;
  Window& window = head.window;
  window.host = TextIn(in);
  window.labels.resize(in.Count(2));
  for (auto& [key, value] : window.labels) {
    key = TextIn(in);
    value = TextIn(in);
  }
  window.begin = static_cast<UnixTime>(in.Difference(0));
  window.length = in.Number();
  window.frequency = std::bit_cast<double>(in.Number());
  window.cpus = in.Index(uint64_t{UINT32_MAX} + 1);
  window.version = TextIn(in);
  window.losses.lost_samples = in.Number();
  window.losses.chains = in.Number();
  window.losses.cut_chains = in.Number();
  head.rows = in.Number();
  head.samples = in.Number();
  if (!in.ok()) return Damaged("its head is too short");
  return head;
}

// Reads or writes the tables, column by column: `Io` is a ColumnReader or a ColumnWriter.
template <class Io, class W>
void Tables(Io& io, W& window) {
  io.Strings(window.strings);
  io.Resize(window.events, 1);
  for (auto& event : window.events) io.String(event.name);
  io.Resize(window.workloads, 5);
  for (auto& workload : window.workloads) io.String(workload.service);
  for (auto& workload : window.workloads) io.String(workload.container);
  for (auto& workload : window.workloads) io.String(workload.pod);
  for (auto& workload : window.workloads) io.String(workload.program);
  for (auto& workload : window.workloads) io.String(workload.build_id);
  io.Resize(window.frames, 2);
  for (auto& frame : window.frames) io.String(frame.function);
  for (auto& frame : window.frames) io.String(frame.image);
  io.Resize(window.stacks, 2);
  for (size_t i = 0; i < window.stacks.size() && io.ok(); ++i) {
    io.Earlier(window.stacks[i].caller, i);
  }
  for (auto& node : window.stacks) io.Index(node.frame, window.frames.size());
  io.Resize(window.rows, 5);
  for (auto& row : window.rows) io.Index(row.event, window.events.size());
  for (auto& row : window.rows) io.Index(row.workload, window.workloads.size());
  uint32_t stack = 0;
  for (auto& row : window.rows) {
    io.IndexAfter(row.stack, stack, window.stacks.size());
    stack = row.stack;
  }
  for (auto& row : window.rows) io.Plain(row.samples);
  uint64_t value = 0;
  for (auto& row : window.rows) {
    io.After(row.value, value);
    value = row.value;
  }
}

template <class Io, class W>
void FrameFacts(Io& io, W& window) {
  for (auto& frame : window.frames) io.String(frame.type);
  for (auto& frame : window.frames) io.String(frame.build_id);
}

bool HasFrameFacts(const Window& window) {
  return std::ranges::any_of(window.frames, [](const Frame& frame) {
    return frame.type != StringId::kEmpty || frame.build_id != StringId::kEmpty;
  });
}

}  // namespace

std::string EncodeSegment(const Window& window) {
  std::string out(kMagic);
  const std::string head = EncodeHead(window);
  AppendFixed<uint32_t>(static_cast<uint32_t>(head.size()), out);
  out += head;
  AppendSum(out, out);
  ColumnWriter columns;
  Tables(columns, const_cast<Window&>(window));  // a writer does not change the window
  if (HasFrameFacts(window)) FrameFacts(columns, const_cast<Window&>(window));
  const std::string body = PackSection(kBodyVersion, /*flags=*/0, columns.out.Take(), kLevel);
  out += body;
  AppendSum(body, out);
  return out;
}

namespace {

// Checks the head and returns the offset of the body, which follows the head's checksum.
absl::StatusOr<size_t> EndOfHead(std::span<const std::byte> bytes) {
  if (bytes.size() < kStart || TextOf(bytes.first(kMagic.size())) != kMagic) {
    return Damaged("its first bytes are wrong");
  }
  const size_t head = FixedAt<uint32_t>(bytes.subspan(kMagic.size()));
  if (head > kMostHeadBytes || bytes.size() < kStart + head + sizeof(uint64_t)) {
    return Damaged("its head is incomplete");
  }
  if (!HasSum(bytes.first(kStart + head), bytes.subspan(kStart + head))) {
    return Damaged("its head is damaged");
  }
  return kStart + head + sizeof(uint64_t);
}

}  // namespace

absl::StatusOr<SegmentHead> ReadSegmentHead(std::span<const std::byte> bytes) {
  PROFILER_ASSIGN_OR_RETURN(const size_t end, EndOfHead(bytes));
  return DecodeHead(bytes.subspan(kStart, end - kStart - sizeof(uint64_t)));
}

absl::StatusOr<Window> DecodeSegment(std::span<const std::byte> bytes) {
  PROFILER_ASSIGN_OR_RETURN(const size_t end, EndOfHead(bytes));
  PROFILER_ASSIGN_OR_RETURN(SegmentHead head, ReadSegmentHead(bytes));
  std::span<const std::byte> body = bytes.subspan(end);
  if (body.size() < sizeof(uint64_t)) return Damaged("its body is incomplete");
  body = body.first(body.size() - sizeof(uint64_t));
  if (!HasSum(body, bytes.last(sizeof(uint64_t))))
    return Damaged("its body is incomplete or damaged");
  const std::optional<UnpackedSection> unpacked = UnpackSection(TextOf(body), kBodyVersion);
  if (!unpacked) return Damaged("another version of profiler wrote its body");
  ColumnReader columns{.in = NumberReader(unpacked->content)};
  Window window = std::move(head.window);
  Tables(columns, window);
  if (columns.in.remaining() != 0) FrameFacts(columns, window);
  if (!columns.ok() || window.rows.size() != head.rows)
    return Damaged("its tables contradict each other");
  return window;
}

}  // namespace profiler::fleet
