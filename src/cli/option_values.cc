#include "src/cli/option_values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "absl/strings/str_cat.h"

namespace profiler::cli {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// A whole decimal number in [0, limit].
bool ParseNumber(std::string_view text, uint64_t limit, uint64_t* number) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && *number <= limit;
}

}  // namespace

namespace {

// "2180.110871" → nanoseconds.
bool ParseSeconds(std::string_view text, uint64_t* nanoseconds) {
  constexpr uint64_t kPerSecond = 1'000'000'000;
  constexpr size_t kDigits = 9;
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string fraction(text.substr(std::min(point + 1, text.size())));
  if (fraction.size() > kDigits) return false;
  fraction.resize(kDigits, '0');
  uint64_t seconds, rest;
  if (!ParseNumber(whole, UINT64_MAX, &seconds) || !ParseNumber(fraction, kPerSecond, &rest)) {
    return false;
  }
  return !__builtin_mul_overflow(seconds, kPerSecond, nanoseconds) &&
         !__builtin_add_overflow(*nanoseconds, rest, nanoseconds);
}

}  // namespace

absl::StatusOr<TimeRange> ParseTimeRange(std::string_view text) {
  TimeRange range;
  const size_t comma = text.find(',');
  const std::string_view first = text.substr(0, comma);
  const std::string_view last =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  if (comma != std::string_view::npos && (first.empty() || ParseSeconds(first, &range.first)) &&
      (last.empty() || ParseSeconds(last, &range.last)) && range.first <= range.last) {
    return range;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", View(text), "\" is no time span: give START,STOP in seconds"));
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

absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text) {
  constexpr uint64_t kHighestCpu = 65535;
  std::vector<int> cpus;
  for (const std::string& piece : SplitList(text)) {
    const std::string_view range = piece;
    const size_t dash = range.find('-');
    uint64_t first = 0;
    uint64_t last = 0;
    if (!ParseNumber(range.substr(0, dash), kHighestCpu, &first) ||
        !ParseNumber(dash == range.npos ? range : range.substr(dash + 1), kHighestCpu, &last) ||
        last < first) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", piece, "' is no CPU or range of CPUs, such as 0,2-3"));
    }
    for (uint64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  if (cpus.empty()) return absl::InvalidArgumentError("the list of CPUs is empty");
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

absl::StatusOr<std::vector<int>> ParseIdList(std::string_view text) {
  std::vector<int> ids;
  for (const std::string& piece : SplitList(text)) {
    uint64_t id = 0;
    if (!ParseNumber(piece, std::numeric_limits<int>::max(), &id) || id == 0) {
      return absl::InvalidArgumentError(absl::StrCat("'", piece, "' is no process or thread id"));
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
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(text),
                     "' is no ring size: give pages (128) or a size (512K, 4M), 4 GiB at most"));
  };
  uint64_t unit = page_size;
  std::string_view number = text;
  if (!text.empty()) {
    switch (text.back()) {
      case 'B':
        unit = 1;
        break;
      case 'K':
        unit = 1ull << 10;
        break;
      case 'M':
        unit = 1ull << 20;
        break;
      case 'G':
        unit = 1ull << 30;
        break;
      default:
        break;
    }
    if (unit != page_size || text.back() == 'B') number.remove_suffix(1);
  }
  uint64_t count = 0;
  if (!ParseNumber(number, kLargestRing, &count) || count == 0) return wrong();
  if (count > kLargestRing / unit) return wrong();
  const uint64_t pages = (count * unit + page_size - 1) / page_size;
  return std::bit_ceil(pages);
}

}  // namespace profiler::cli
