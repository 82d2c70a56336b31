#include "symbolize/symbols/jit_dump.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kMagic = kJitDumpMagic;
constexpr uint32_t kSwappedMagic = 0x4454694a;
constexpr uint64_t kFlagProcessorTimes = 1;

constexpr size_t kRecordHeaderSize = 16;
constexpr size_t kDebugEntrySize = 17;  // size with an empty file name

// V8 counts addresses of lines from the start of the ELF header that perf puts before a function.
constexpr uint64_t kElfHeaderSize = 64;

}  // namespace

class JitDump::Parser {
 public:
  Parser(std::span<const std::byte> bytes, const Limits& limits)
      : reader_(bytes), limits_(limits) {}

  absl::StatusOr<JitDump> Parse() {
    PROFILER_RETURN_IF_ERROR(ParseHeader());
    while (reader_.remaining() >= kRecordHeaderSize && !dump_.is_cut_ && ParseRecord()) {
    }
    std::stable_sort(dump_.codes_.begin(), dump_.codes_.end(),
                     [](const JitCode& a, const JitCode& b) { return a.time < b.time; });
    PlaceLines();
    PlaceInlines();
    return std::move(dump_);
  }

 private:
  // The range [first, end) of a function's lines in JitDump::lines_.
  struct Lines {
    size_t first = 0, end = 0;
  };

  // The ranges of a function's calls and places in JitDump::calls_ and places_, and its source
  // file.
  struct Inlines {
    Lines calls, places;
    std::string_view file;
  };

  absl::Status ParseHeader() {
    const auto magic = reader_.Read<uint32_t>();
    if (magic == kSwappedMagic) return absl::InvalidArgumentError("has the other byte order");
    if (magic != kMagic) return absl::InvalidArgumentError("is no jitdump file");
    reader_.Skip(sizeof(uint32_t));  // version
    const auto header_size = reader_.Read<uint32_t>();
    dump_.machine_ = static_cast<uint16_t>(reader_.Read<uint32_t>());
    reader_.Skip(2 * sizeof(uint32_t));  // padding, pid
    dump_.began_ = reader_.Read<uint64_t>();
    const auto flags = reader_.Read<uint64_t>();
    if (!reader_.ok() || header_size < reader_.offset()) {
      return absl::InvalidArgumentError("has no whole header");
    }
    if ((flags & kFlagProcessorTimes) != 0) {
      return absl::InvalidArgumentError("has times of the processor's clock, not the recording's");
    }
    reader_.Skip(header_size - reader_.offset());
    return absl::OkStatus();
  }

  // Reads a record. Returns false at the end, and if the record is incomplete.
  bool ParseRecord() {
    const size_t start = reader_.offset();
    const auto id = reader_.Read<uint32_t>();
    const auto size = reader_.Read<uint32_t>();
    const auto time = reader_.Read<uint64_t>();
    if (size < kRecordHeaderSize) return false;
    const std::span<const std::byte> body = reader_.ReadBytes(size - kRecordHeaderSize);
    if (!reader_.ok()) return false;
    dump_.is_cut_ = dump_.codes_.size() >= limits_.codes;
    if (dump_.is_cut_) return false;
    ByteReader fields(body);
    if (id == JitDumpRecord::kCodeLoad) AddLoad(time, start + kRecordHeaderSize, fields);
    if (id == JitDumpRecord::kCodeMove) AddMove(time, fields);
    if (id == JitDumpRecord::kDebugInfo) AddDebugInfo(fields);
    if (id == JitDumpRecord::kPlaces) AddPlaces(fields);
    return true;
  }

  void AddLoad(uint64_t time, size_t body, ByteReader& fields) {
    Lines lines = std::exchange(next_lines_, {});
    const Inlines inlines = std::exchange(next_inlines_, {});
    JitCode code{.time = time, .pid = fields.Read<uint32_t>()};
    fields.Skip(sizeof(uint32_t) + sizeof(uint64_t));  // tid, vma
    code.start.value = fields.Read<uint64_t>();
    code.size = fields.Read<uint64_t>();
    const auto index = fields.Read<uint64_t>();
    const std::string_view name = fields.ReadCString();
    code.offset.value = body + fields.offset();
    if (!fields.ok() || code.size == 0 || code.size > fields.remaining()) return;
    if (code.start.value + code.size < code.start.value) return;
    loaded_.insert_or_assign(index, code);
    dump_.codes_.push_back(code);
    dump_.functions_.push_back({.offset = code.offset,
                                .size = code.size,
                                .name = name,
                                .code = fields.ReadBytes(code.size)});
    if (!AreAllIn(code, lines)) lines.end = lines.first;
    for (size_t i = lines.first; i < lines.end; ++i) {
      lowest_line_ = std::min(lowest_line_, dump_.lines_[i].distance - code.start.value);
    }
    lines_of_.push_back({lines, code.start});
    inlines_of_.push_back(inlines);
  }

  void AddMove(uint64_t time, ByteReader& fields) {
    fields.Skip(2 * sizeof(uint32_t) + 2 * sizeof(uint64_t));  // pid, tid, vma, old address
    const auto start = fields.Read<uint64_t>();
    fields.Skip(sizeof(uint64_t));  // size
    const auto index = fields.Read<uint64_t>();
    const auto loaded = loaded_.find(index);
    if (!fields.ok() || loaded == loaded_.end()) return;
    JitCode moved = loaded->second;
    if (start + moved.size < start) return;
    moved.time = time;
    moved.start.value = start;
    dump_.codes_.push_back(moved);
  }

  // Returns true if all lines lie in the function. If not, the caller drops all lines: V8 may write
  // a file name from freed memory with zeros inside, and the bytes after the first zero are then
  // read as lines.
  bool AreAllIn(const JitCode& code, Lines lines) const {
    const uint64_t start = code.start.value;
    return std::all_of(
        dump_.lines_.begin() + static_cast<ptrdiff_t>(lines.first),
        dump_.lines_.begin() + static_cast<ptrdiff_t>(lines.end), [&](const Line& line) {
          return line.distance >= start && line.distance - start <= code.size + kElfHeaderSize;
        });
  }

  // Until PlaceLines runs, `distance` of a line is its address.
  void AddDebugInfo(ByteReader& fields) {
    fields.Skip(sizeof(uint64_t));  // the function's address
    const auto count = fields.Read<uint64_t>();
    next_lines_.first = dump_.lines_.size();
    std::string_view file;
    for (uint64_t i = 0; i < count && fields.remaining() >= kDebugEntrySize; ++i) {
      dump_.is_cut_ = dump_.lines_.size() >= limits_.lines;
      if (dump_.is_cut_) break;
      Line line{};
      line.distance = fields.Read<uint64_t>();
      line.line = fields.Read<uint32_t>();
      fields.Skip(sizeof(uint32_t));  // discriminator
      const std::string_view name = fields.ReadCString();
      if (!fields.ok()) break;
      if (name != "\xff") file = name;  // "\xff": same file as before
      line.file = file;
      dump_.lines_.push_back(line);
    }
    next_lines_.end = dump_.lines_.size();
  }

  // Drops a record that the writer cannot have made.
  void AddPlaces(ByteReader& fields) {
    next_inlines_ = {};
    const auto calls = fields.Read<uint32_t>();
    const auto places = fields.Read<uint32_t>();
    dump_.is_cut_ = calls > limits_.calls - std::min(limits_.calls, dump_.calls_.size()) ||
                    places > limits_.lines - std::min(limits_.lines, dump_.places_.size());
    if (dump_.is_cut_) return;
    Inlines inlines{.calls = {dump_.calls_.size(), dump_.calls_.size()},
                    .places = {dump_.places_.size(), dump_.places_.size()},
                    .file = fields.ReadCString()};
    bool is_good = true;
    for (uint32_t i = 0; i < calls && fields.ok(); ++i) {
      JitDump::Call call;
      call.caller = fields.Read<uint32_t>();
      call.line = fields.Read<uint32_t>();
      call.name = fields.ReadCString();
      call.file = fields.ReadCString();
      is_good = is_good && (call.caller == kNone || call.caller < i);
      dump_.calls_.push_back(call);
    }
    uint64_t last = 0;
    for (uint32_t i = 0; i < places && fields.ok(); ++i) {
      JitDump::Place place{};
      place.distance = fields.Read<uint64_t>();
      place.call = fields.Read<uint32_t>();
      place.line = fields.Read<uint32_t>();
      is_good = is_good && (place.call == kNone || place.call < calls) && place.distance >= last;
      last = place.distance;
      dump_.places_.push_back(place);
    }
    if (!fields.ok() || !is_good) {
      dump_.calls_.resize(inlines.calls.first);
      dump_.places_.resize(inlines.places.first);
      return;
    }
    inlines.calls.end = dump_.calls_.size();
    inlines.places.end = dump_.places_.size();
    next_inlines_ = inlines;
  }

  void PlaceInlines() {
    for (size_t i = 0; i < inlines_of_.size(); ++i) {
      const Inlines& inlines = inlines_of_[i];
      Function& function = dump_.functions_[i];
      function.file = inlines.file;
      function.calls = std::span(dump_.calls_)
                           .subspan(inlines.calls.first, inlines.calls.end - inlines.calls.first);
      function.places =
          std::span(dump_.places_)
              .subspan(inlines.places.first, inlines.places.end - inlines.places.first);
    }
  }

  void PlaceLines() {
    const uint64_t header = lowest_line_ != kNoLine && lowest_line_ >= kElfHeaderSize  //
                                ? kElfHeaderSize
                                : 0;
    for (size_t i = 0; i < lines_of_.size(); ++i) {
      const auto& [range, start] = lines_of_[i];
      const std::span<Line> lines =
          std::span(dump_.lines_).subspan(range.first, range.end - range.first);
      for (Line& line : lines) line.distance -= start.value + header;
      std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        return a.distance < b.distance;  // lines before the function have wrapped around to the end
      });
      dump_.functions_[i].lines = lines;
    }
  }

  static constexpr uint64_t kNoLine = std::numeric_limits<uint64_t>::max();

  ByteReader reader_;
  const Limits limits_;
  JitDump dump_;
  absl::flat_hash_map<uint64_t, JitCode> loaded_;  // keyed by the index in CODE_LOAD records
  Lines next_lines_;                               // lines of the next CODE_LOAD record
  Inlines next_inlines_;                           // calls and places of the next CODE_LOAD record
  std::vector<Inlines> inlines_of_;                // [i]: calls and places of function i
  std::vector<std::pair<Lines, RuntimeAddress>> lines_of_;  // [i]: lines and start of function i
  uint64_t lowest_line_ = kNoLine;
};

void JitDump::AdjustTimes(uint64_t mapped_at) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kLongest = 60 * kSecond;
  // Uses the dump's start only if it is close to the time of the first code, so that both are from
  // one clock. V8 writes the time of day into the header, other JITs write 0.
  const bool has_clock =
      !codes_.empty() && began_ >= kSecond && codes_.front().time - began_ < kLongest;
  if (mapped_at == 0 || !has_clock) return;
  // Wraps if the dump's clock is ahead of the recording's.
  const uint64_t ahead = mapped_at - began_;
  if (ahead < kSecond || 0 - ahead < kSecond) return;
  for (JitCode& code : codes_) code.time += ahead;
  began_ = mapped_at;
}

absl::StatusOr<JitDump> JitDump::Read(int fd, const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromFd(fd, path));
  absl::StatusOr<JitDump> dump = Parse(file.bytes());
  if (!dump.ok()) {
    return absl::Status(dump.status().code(), absl::StrCat(path, ": ", dump.status().message()));
  }
  dump->file_ = std::move(file);
  return dump;
}

absl::StatusOr<JitDump> JitDump::Parse(std::span<const std::byte> bytes, const Limits& limits) {
  return Parser(bytes, limits).Parse();
}

const JitDump::Function* JitDump::Find(FileOffset offset) const {
  const auto after = std::partition_point(
      functions_.begin(), functions_.end(),
      [&](const Function& function) { return function.offset.value <= offset.value; });
  if (after == functions_.begin()) return nullptr;
  const Function& function = *(after - 1);
  return offset.value - function.offset.value < function.size ? &function : nullptr;
}

const JitDump::Line* JitDump::LineAt(const Function& function, uint64_t distance) {
  const auto after =
      std::partition_point(function.lines.begin(), function.lines.end(),
                           [&](const Line& line) { return line.distance <= distance; });
  return after == function.lines.begin() ? nullptr : &*(after - 1);
}

const JitDump::Place* JitDump::PlaceAt(const Function& function, uint64_t distance) {
  const auto after =
      std::partition_point(function.places.begin(), function.places.end(),
                           [&](const Place& place) { return place.distance <= distance; });
  return after == function.places.begin() ? nullptr : &*(after - 1);
}

}  // namespace profiler::symbolize
