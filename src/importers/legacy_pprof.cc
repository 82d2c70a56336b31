#include "src/importers/legacy_pprof.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/legacy_cpu.h"
#include "src/importers/memory_map.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::StackId;

constexpr std::string_view kHeap = "heap profile:", kJemalloc = "heap_v2/";
constexpr std::string_view kCounts = " profile: total ";
constexpr double kMost = 9e18;

// A parser of numbers and marks at the beginning of a line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::optional<uint64_t> Number(int base = 10) {
    SkipSpace();
    uint64_t number = 0;
    const auto [stop, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    return number;
  }

  bool Mark(std::string_view mark) {
    SkipSpace();
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }

  // Parses "0x41c711 0x42ecc3 …" up to the end of the line.
  std::vector<uint64_t> Addresses() {
    std::vector<uint64_t> addresses;
    while (Mark("0x")) {
      const auto address = Number(16);
      if (!address) break;
      addresses.push_back(*address);
    }
    return addresses;
  }

  std::string_view rest() const { return rest_; }

 private:
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string_view rest_;
};

// The counts in "144: 8498176 [ 144: 8498176]".
struct HeapCounts {
  uint64_t objects_in_use = 0, bytes_in_use = 0, objects = 0, bytes = 0;
};
std::optional<HeapCounts> TakeHeapCounts(Cursor& line) {
  HeapCounts counts;
  for (const auto& [number, mark] :
       {std::pair(&counts.objects_in_use, ":"), std::pair(&counts.bytes_in_use, "["),
        std::pair(&counts.objects, ":"), std::pair(&counts.bytes, "]")}) {
    const auto value = line.Number();
    if (!value || !line.Mark(mark)) return std::nullopt;
    *number = *value;
  }
  return counts;
}

// The text in front of the mappings, and the mappings.
struct Parts {
  std::string_view samples, mappings;
};
Parts SplitAtMappings(std::string_view text) {
  constexpr std::string_view kMarks[] = {"--- Memory map: ---", "MAPPED_LIBRARIES:"};
  for (const std::string_view mark : kMarks) {
    const size_t at = text.find(mark);
    if (at != std::string_view::npos) return {text.substr(0, at), text.substr(at + mark.size())};
  }
  return {text, {}};
}

// The names that the file gives to addresses: "#⇥0x41c711⇥main.f+0x11⇥⇥/src/f.go:12".
using Names = std::map<uint64_t, std::vector<FunctionLine>>;
Names NamesIn(std::string_view text) {
  Names names;
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(&line)) {
    Cursor cursor(line);
    if (!cursor.Mark("#") || !cursor.Mark("0x")) continue;
    const auto address = cursor.Number(16);
    std::string_view rest = Trimmed(cursor.rest());
    const size_t end = std::min(rest.find('\t'), rest.size());
    FunctionLine function{.name = rest.substr(0, end)};
    function.name = function.name.substr(0, function.name.rfind("+0x"));
    const std::string_view where = Trimmed(rest.substr(end));
    const size_t colon = where.rfind(':');
    if (colon != std::string_view::npos) {
      function.file = where.substr(0, colon);
      (void)std::from_chars(where.data() + colon + 1, where.data() + where.size(), function.line);
    }
    if (!address || function.name.empty()) continue;
    std::vector<FunctionLine>& known = names[*address];
    const bool is_known = std::ranges::any_of(known, [&](const FunctionLine& other) {
      return other.name == function.name && other.line == function.line;
    });
    if (!is_known) known.push_back(function);
  }
  return names;
}

class TextReader {
 public:
  TextReader(std::string_view text, ProfileMaker& maker)
      : parts_(SplitAtMappings(text)),
        map_(parts_.mappings),
        names_(NamesIn(parts_.samples)),
        maker_(maker),
        thread_(maker.NamedThread(map_.program())) {}

  absl::Status ReadHeap() {
    TextLines lines(parts_.samples);
    std::string_view line;
    if (!lines.Next(&line) || !ReadHeapHeader(line)) {
      return absl::DataLossError(
          "line 1: expected \"heap profile: N: N [N: N] @ heap_v2/RATE\" or \"heap_v2/RATE\"");
    }
    has_allocated_ = HasAllocated();
    StackId stack = profile::kNoStack;
    while (lines.Next(&line)) {
      Cursor cursor(line);
      if (cursor.Mark("@")) {
        stack = MakeStack(cursor.Addresses());
        continue;
      }
      // jemalloc has a line for each thread; the line t* has the sum of all threads.
      if (is_jemalloc_ && !cursor.Mark("t*:")) continue;
      const auto counts = TakeHeapCounts(cursor);
      if (!counts) continue;
      if (!is_jemalloc_) {
        if (!cursor.Mark("@")) continue;
        stack = MakeStack(cursor.Addresses());
      } else if (stack == profile::kNoStack) {
        continue;  // the line with the sums at the beginning
      }
      AddHeap(*counts, stack);
    }
    return absl::OkStatus();
  }

  absl::Status ReadCounts() {
    TextLines lines(parts_.samples);
    std::string_view line;
    (void)lines.Next(&line);
    const profile::EventId event = maker_.Event(line.substr(0, line.find(kCounts)));
    while (lines.Next(&line)) {
      Cursor cursor(line);
      const auto count = cursor.Number();
      if (!count || !cursor.Mark("@")) continue;
      maker_.Add({.event = event,
                  .thread = thread_,
                  .stack = MakeStack(cursor.Addresses()),
                  .count = *count,
                  .period = *count});
    }
    return absl::OkStatus();
  }

 private:
  bool ReadHeapHeader(std::string_view line) {
    Cursor cursor(line);
    if (cursor.Mark(kJemalloc)) {
      is_jemalloc_ = true;
      rate_ = static_cast<double>(cursor.Number().value_or(0));
      return rate_ > 0;
    }
    if (!cursor.Mark(kHeap) || !TakeHeapCounts(cursor) || !cursor.Mark("@")) return false;
    const bool is_v2 = cursor.Mark("heapz_v2/") || cursor.Mark("heap_v2/");
    // Go writes the doubled rate.
    const bool is_go = !is_v2 && cursor.Mark("heap/");
    if (!is_v2 && !is_go) return true;  // every allocation is counted
    rate_ = static_cast<double>(cursor.Number().value_or(0)) / (is_go ? 2 : 1);
    return true;
  }

  // True if more was allocated than is in use.
  bool HasAllocated() const {
    TextLines lines(parts_.samples);
    std::string_view line;
    while (lines.Next(&line)) {
      Cursor cursor(line);
      (void)cursor.Mark(kHeap);
      (void)cursor.Mark("t*:");
      const auto counts = TakeHeapCounts(cursor);
      if (!counts || counts->objects == 0) continue;
      if (counts->objects != counts->objects_in_use || counts->bytes != counts->bytes_in_use) {
        return true;
      }
    }
    return false;
  }

  // Returns the factor by which sampled objects have to be scaled up.
  double ScaleOf(uint64_t objects, uint64_t bytes) const {
    if (rate_ <= 1 || objects == 0 || bytes == 0) return 1;
    const double average = static_cast<double>(bytes) / static_cast<double>(objects);
    return 1 / -std::expm1(-average / rate_);
  }

  void AddHeap(const HeapCounts& counts, StackId stack) {
    const double in_use = ScaleOf(counts.objects_in_use, counts.bytes_in_use);
    Add(has_allocated_ ? "inuse_objects" : "objects", counts.objects_in_use, in_use, stack);
    Add(has_allocated_ ? "inuse_space" : "space", counts.bytes_in_use, in_use, stack);
    if (!has_allocated_) return;
    const double allocated = ScaleOf(counts.objects, counts.bytes);
    Add("alloc_objects", counts.objects, allocated, stack);
    Add("alloc_space", counts.bytes, allocated, stack);
  }

  void Add(std::string_view event, uint64_t value, double scale, StackId stack) {
    const double scaled = std::min(static_cast<double>(value) * scale, kMost);
    const profile::EventId id = maker_.Event(event);
    if (value == 0) return;
    maker_.Add({.event = id,
                .thread = thread_,
                .stack = stack,
                .count = 1,
                .period = scale == 1 ? value : static_cast<uint64_t>(scaled)});
  }

  // Makes a stack. All addresses are return addresses.
  StackId MakeStack(const std::vector<uint64_t>& addresses) {
    StackId stack = profile::kNoStack;
    for (size_t i = addresses.size(); i-- > 0;) {
      const auto names = names_.find(addresses[i]);
      const std::span<const FunctionLine> functions =
          names == names_.end() ? std::span<const FunctionLine>() : names->second;
      const uint64_t call = addresses[i] == 0 ? 0 : addresses[i] - 1;
      stack = maker_.Stack(stack, map_.Frame(call, functions, maker_));
    }
    return stack;
  }

  const Parts parts_;
  const MemoryMap map_;
  const Names names_;
  ProfileMaker& maker_;
  const profile::ThreadId thread_;
  double rate_ = 0;  // mean distance of samples in bytes; 0: every allocation is a sample
  bool is_jemalloc_ = false, has_allocated_ = false;
};

bool IsCounts(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t at = line.find(kCounts);
  return at != std::string_view::npos && line.substr(0, at).find_first_of(" \t") == line.npos;
}

bool IsHeap(std::string_view text) {
  return text.starts_with(kHeap) || text.starts_with(kJemalloc);
}

}  // namespace

absl::Status ReadLegacyPprof(std::string_view bytes, ProfileMaker& maker) {
  if (IsLegacyCpuProfile(bytes)) return ReadLegacyCpuProfile(bytes, maker);
  if (IsHeap(bytes)) return TextReader(bytes, maker).ReadHeap();
  if (IsCounts(bytes)) return TextReader(bytes, maker).ReadCounts();
  return absl::DataLossError("it is not a CPU profile, a heap profile or a profile of counts");
}

bool LooksLikeLegacyPprof(std::string_view start) {
  return IsHeap(start) || IsCounts(start) || IsLegacyCpuProfile(start);
}

}  // namespace profiler::importers
