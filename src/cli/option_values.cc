#include "src/cli/option_values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::cli {
namespace {

// Parses a whole decimal number in [0, limit].
bool ParseNumber(std::string_view text, uint64_t limit, uint64_t* number) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && *number <= limit;
}

// Parses seconds with up to nine decimals to nanoseconds.
bool ParseSeconds(std::string_view text, uint64_t* nanoseconds) {
  constexpr uint64_t kPerSecond = 1'000'000'000;
  constexpr size_t kDigits = 9;
  const size_t point = text.find('.');
  uint64_t seconds = 0;
  if (!ParseNumber(text.substr(0, point), UINT64_MAX / kPerSecond - 1, &seconds)) return false;
  uint64_t fraction = 0;
  if (point != text.npos) {
    std::string digits(text.substr(point + 1));
    if (digits.empty() || digits.size() > kDigits) return false;
    digits.resize(kDigits, '0');
    if (!ParseNumber(digits, kPerSecond - 1, &fraction)) return false;
  }
  *nanoseconds = seconds * kPerSecond + fraction;
  return true;
}

// Parses a size: "512K", "4M", "1G" and "8192B"; a plain number counts units of `unit` bytes.
std::optional<uint64_t> BytesOf(std::string_view text, uint64_t unit) {
  static constexpr std::pair<char, int> kShifts[] = {{'B', 0}, {'K', 10}, {'M', 20}, {'G', 30}};
  for (const auto& [letter, shift] : kShifts) {
    if (!text.ends_with(letter)) continue;
    unit = uint64_t{1} << shift;
    text.remove_suffix(1);
    break;
  }
  uint64_t count = 0;
  if (!ParseNumber(text, UINT64_MAX / unit, &count)) return std::nullopt;
  return count * unit;
}

// Parses "10%" or "12.5%".
bool ParsePercent(std::string_view text, std::optional<double>* percent) {
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !(value >= 0 && value <= 100)) return false;
  *percent = value;
  return true;
}

}  // namespace

absl::StatusOr<perf_data::TimeRange> ParseTimeRange(std::string_view text) {
  perf_data::TimeRange range;
  bool good = false;
  if (const size_t comma = text.find(','); comma != text.npos) {
    const std::string_view begin = text.substr(0, comma);
    const std::string_view end = text.substr(comma + 1);
    good = (begin.empty() || ParseSeconds(begin, &range.begin)) &&
           (end.empty() || ParseSeconds(end, &range.end)) && range.begin <= range.end;
  } else if (const size_t dash = text.find('-'); dash != text.npos) {
    good = ParsePercent(text.substr(0, dash), &range.begin_percent) &&
           ParsePercent(text.substr(dash + 1), &range.end_percent) &&
           *range.begin_percent <= *range.end_percent;
  }
  if (good) return range;
  return absl::InvalidArgumentError(absl::StrCat(
      "--time: '", View(text),
      "' is not a time range; give seconds (12.5,13 or 12.5, or ,13), or 10%-20%, or 10%/2"));
}

namespace {

// Parses "10%/2", the second tenth of the recording, and "10%", the first tenth.
std::optional<perf_data::TimeRange> ParseTimePiece(std::string_view text) {
  const size_t slash = text.find('/');
  std::optional<double> length;
  if (!ParsePercent(text.substr(0, slash), &length) || *length == 0) return std::nullopt;
  uint64_t number = 1;
  if (slash != text.npos && !ParseNumber(text.substr(slash + 1), 1'000'000, &number)) {
    return std::nullopt;
  }
  const double end = *length * static_cast<double>(number);
  if (number == 0 || end > 100) return std::nullopt;
  return perf_data::TimeRange{.begin_percent = end - *length, .end_percent = end};
}

}  // namespace

absl::StatusOr<std::vector<perf_data::TimeRange>> ParseTimeRanges(std::string_view text) {
  const char separator = text.find('%') == text.npos ? ' ' : ',';
  std::vector<perf_data::TimeRange> ranges;
  for (const absl::string_view piece : absl::StrSplit(View(text), separator, absl::SkipEmpty())) {
    const std::string_view range(piece.data(), piece.size());
    if (const auto part = ParseTimePiece(range)) {
      ranges.push_back(*part);
      continue;
    }
    PROFILER_ASSIGN_OR_RETURN(ranges.emplace_back(), ParseTimeRange(range));
  }
  if (ranges.empty()) return ParseTimeRange(text).status();
  return ranges;
}

absl::StatusOr<uint64_t> ParseTimeQuantum(std::string_view text) {
  static constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  for (const auto& [name, unit] : kUnits) {
    uint64_t count = 0;
    if (text.ends_with(name) &&
        ParseNumber(text.substr(0, text.size() - name.size()), UINT64_MAX / unit, &count) &&
        count != 0) {
      return count * unit;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--time-quantum: '", View(text), "' is not a duration; give 100ms, 20us, 500ns or 1s"));
}

absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr uint64_t kSecond = 1000, kDay = 24 * 60 * 60 * kSecond;
  constexpr uint64_t kLongest = 36500 * kDay;
  static constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"ms", 1}, {"s", kSecond}, {"m", 60 * kSecond}, {"h", 60 * 60 * kSecond}, {"d", kDay}};
  for (const auto& [name, unit] : kUnits) {
    uint64_t count = 0;
    if (text.ends_with(name) &&
        ParseNumber(text.substr(0, text.size() - name.size()), kLongest / unit, &count) &&
        count != 0) {
      return std::chrono::milliseconds(count * unit);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", View(text), "' is not a duration; give 500ms, 2s, 5m, 1h or 1d"));
}

std::chrono::milliseconds Milliseconds(double value) {
  return std::chrono::milliseconds(std::llround(value));
}

absl::StatusOr<std::optional<std::chrono::milliseconds>> ReadDelay(std::string_view option,
                                                                   double milliseconds) {
  constexpr double kUntilEnabled = -1;
  if (milliseconds == kUntilEnabled) return std::nullopt;
  if (milliseconds < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(View(option), ": the value cannot be negative, except -1"));
  }
  return Milliseconds(milliseconds);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) pieces.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return pieces;
}

absl::StatusOr<std::vector<int>> ParseIdList(std::string_view text) {
  std::vector<int> ids;
  for (const absl::string_view piece :
       absl::StrSplit(View(text), absl::ByAnyChar(", \t\n"), absl::SkipEmpty())) {
    uint64_t id = 0;
    if (!ParseNumber({piece.data(), piece.size()}, std::numeric_limits<int>::max(), &id) ||
        id == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", piece, "' is not a process or thread id; give numbers from 1"));
    }
    if (std::find(ids.begin(), ids.end(), static_cast<int>(id)) == ids.end()) {
      ids.push_back(static_cast<int>(id));
    }
  }
  if (ids.empty()) return absl::InvalidArgumentError("the list of ids is empty");
  return ids;
}

absl::StatusOr<size_t> ParseRingPages(std::string_view text, size_t page_size) {
  constexpr uint64_t kLargestRing = 1ull << 32;
  const std::optional<uint64_t> bytes = BytesOf(text, page_size);
  if (!bytes || *bytes == 0 || *bytes > kLargestRing) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(text),
                     "' is not a ring size; give pages (128) or a size (512K, 4M), at most 4 GiB"));
  }
  return std::bit_ceil((*bytes + page_size - 1) / page_size);
}

absl::StatusOr<uint64_t> ParseSize(std::string_view text) {
  const std::optional<uint64_t> bytes = BytesOf(text, 1);
  if (bytes && *bytes > 0) return *bytes;
  return absl::InvalidArgumentError(
      absl::StrCat("'", View(text), "' is not a size; give bytes, or 512K, 4M, 1G"));
}

}  // namespace profiler::cli
