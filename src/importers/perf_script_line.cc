#include "src/importers/perf_script_line.h"

#include <algorithm>
#include <charconv>

#include "src/base/clock.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
constexpr std::string_view kSpace = " \t";

template <class Number>
std::optional<Number> ParseNumber(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Removes the next word of `rest` and returns it.
std::string_view TakeWord(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  const size_t end = std::min(rest.find_first_of(kSpace), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

// Parses a time in seconds, such as "51499.088689", and returns it in ns.
std::optional<uint64_t> ParseSeconds(std::string_view text) {
  constexpr uint64_t kMostSeconds = UINT64_MAX / kNanosecondsPerSecond - 1;
  constexpr size_t kPlaces = 9;
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const auto seconds = ParseNumber<uint64_t>(text.substr(0, point));
  const std::string_view places = text.substr(point + 1);
  const auto fraction = ParseNumber<uint64_t>(places);
  if (!seconds || !fraction || places.size() > kPlaces || *seconds > kMostSeconds) {
    return std::nullopt;
  }
  uint64_t nanoseconds = *fraction;
  for (size_t i = places.size(); i < kPlaces; ++i) nanoseconds *= 10;
  return *seconds * kNanosecondsPerSecond + nanoseconds;
}

// Parses "1234", a tid, or "12/34", a pid and a tid. -1 stands for an ended thread.
bool ParseIds(std::string_view word, ScriptSample& sample) {
  const auto parse = [](std::string_view text) -> std::optional<uint32_t> {
    if (text == "-1") return UINT32_MAX;
    return ParseNumber<uint32_t>(text);
  };
  const size_t slash = word.find('/');
  const auto last = parse(word.substr(slash == std::string_view::npos ? 0 : slash + 1));
  if (!last) return false;
  sample.tid = *last;
  if (slash != std::string_view::npos) {
    sample.pid = parse(word.substr(0, slash));
    return sample.pid.has_value();
  }
  return true;
}

// Parses "[003]".
bool ParseCpu(std::string_view word, ScriptSample& sample) {
  if (word.size() < 3 || !word.starts_with('[') || !word.ends_with(']')) return false;
  sample.cpu = ParseNumber<uint32_t>(word.substr(1, word.size() - 2));
  return sample.cpu.has_value();
}

// Removes the CPU and the time that follow the thread's numbers. Returns the word after them.
std::string_view TakePlaceAndTime(std::string_view& rest, ScriptSample& sample) {
  std::string_view word = TakeWord(rest);
  if (ParseCpu(word, sample)) word = TakeWord(rest);
  if (word.ends_with(':')) {
    sample.time = ParseSeconds(word.substr(0, word.size() - 1));
    if (sample.time) word = TakeWord(rest);
  }
  return word;
}

// Parses the text after the thread's name and numbers.
bool ParseBehindIds(std::string_view rest, ScriptSample& sample) {
  std::string_view word = TakePlaceAndTime(rest, sample);
  if (const auto period = ParseNumber<uint64_t>(word)) {
    sample.period = period;
    word = TakeWord(rest);
  }
  if (word.size() < 2 || !word.ends_with(':')) return false;
  sample.event = word.substr(0, word.size() - 1);
  // A number with a colon is not an event, so the line does not begin a sample.
  if (sample.event.find_first_not_of("0123456789.:") == std::string_view::npos) return false;
  sample.rest = Trimmed(rest);
  return true;
}

// Removes "+0x1f" at the end of a name and returns it.
std::optional<uint64_t> TakeOffset(std::string_view& name) {
  const size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0) return std::nullopt;
  const auto offset = ParseNumber<uint64_t>(name.substr(plus + 3), 16);
  if (offset) name = name.substr(0, plus);
  return offset;
}

// Returns the position of " (image)" at the end of a line.
size_t FindImage(std::string_view line) {
  constexpr std::string_view kDeleted = " (deleted))";
  const size_t end = line.ends_with(kDeleted) ? line.size() - kDeleted.size() : line.size();
  return line.substr(0, end).rfind(" (");
}

}  // namespace

namespace {

// Parses the beginning of a line. The thread's name may contain numbers. The tid is the first
// number after which `fits` accepts the rest of the line.
template <class Fits>
std::optional<ScriptSample> ParseHead(std::string_view line, Fits fits) {
  const size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(begin);
  const std::string_view whole = rest;
  (void)TakeWord(rest);
  while (!rest.empty()) {
    const std::string_view name = whole.substr(0, whole.size() - rest.size());
    const std::string_view word = TakeWord(rest);
    ScriptSample sample{.comm = name};
    if (ParseIds(word, sample) && fits(rest, sample)) return sample;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ScriptSample> ParseScriptSample(std::string_view line) {
  return ParseHead(line, ParseBehindIds);
}

bool IsScriptRecord(std::string_view line) {
  constexpr std::string_view kRecord = "PERF_RECORD_";
  if (line.find(kRecord) == std::string_view::npos) return false;
  return ParseHead(line,
                   [&](std::string_view rest, ScriptSample& sample) {
                     return TakePlaceAndTime(rest, sample).starts_with(kRecord);
                   })
      .has_value();
}

std::optional<ScriptFrame> ParseScriptFrame(std::string_view line) {
  std::string_view rest = Trimmed(line);
  const std::string_view address = TakeWord(rest);
  rest = Trimmed(rest);
  constexpr std::string_view kWord =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (address.find_first_not_of(kWord) != std::string_view::npos || rest.empty()) {
    return std::nullopt;
  }
  ScriptFrame frame;
  frame.address = ParseNumber<uint64_t>(address, 16);
  const size_t image = rest.ends_with(')') ? FindImage(rest) : std::string_view::npos;
  if (image != std::string_view::npos) {
    frame.image = rest.substr(image + 2, rest.size() - image - 3);
    rest = rest.substr(0, image);
  } else if (!frame.address) {
    return std::nullopt;
  }
  frame.inlined = frame.image == "inlined";
  if (frame.inlined || frame.image == "[unknown]") frame.image = {};
  frame.name = Trimmed(rest);
  frame.symbol_offset = TakeOffset(frame.name);
  if (frame.name == "[unknown]") frame.name = {};
  return frame;
}

std::optional<ScriptFrame> FindScriptFrame(std::string_view rest) {
  constexpr size_t kShortestAddress = 6;
  if (!rest.ends_with(')')) return std::nullopt;
  for (std::string_view tail = rest; !tail.empty();) {
    tail.remove_prefix(std::min(tail.find_first_not_of(kSpace), tail.size()));
    std::string_view behind = tail;
    const std::string_view word = TakeWord(behind);
    const bool is_address = word.size() >= kShortestAddress &&
                            word.find_first_not_of(kHexDigits) == std::string_view::npos;
    if (is_address) return ParseScriptFrame(tail);
    tail = behind;
  }
  return std::nullopt;
}

std::optional<ScriptLine> ParseScriptLine(std::string_view line) {
  line = Trimmed(line);
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto number = ParseNumber<uint32_t>(line.substr(colon + 1));
  if (!number || line.find_first_of(kSpace) != std::string_view::npos) return std::nullopt;
  return ScriptLine{line.substr(0, colon), *number};
}

}  // namespace profiler::importers
