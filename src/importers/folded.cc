#include "src/importers/folded.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::FrameId;
using profile::StackId;

struct Count {
  uint64_t value = 0;
  bool is_rounded = false;
};

// Parses a number: digits, and perhaps a fraction.
std::optional<Count> ParseCount(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  Count count;
  const auto [stop, error] = std::from_chars(text.data(), end, count.value);
  if (error == std::errc() && stop == end) return count;
  double fraction = 0;
  const auto [stop_there, no_fraction] = std::from_chars(text.data(), end, fraction);
  if (no_fraction != std::errc() || stop_there != end || fraction > kMostExactNumber)
    return std::nullopt;
  count.value = static_cast<uint64_t>(std::llround(fraction));
  count.is_rounded = static_cast<double>(count.value) != fraction;
  return count;
}

struct FoldedLine {
  std::string_view stack;
  Count count;
  std::optional<Count> after;  // count of the second column
};

// Removes the number at the end of `text` and returns it.
std::optional<Count> TakeCount(std::string_view& text) {
  const size_t space = text.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::optional<Count> count = ParseCount(text.substr(space + 1));
  if (count) text = Trimmed(text.substr(0, space));
  return count;
}

// Parses a line. A number in front of the last number may be part of a name. So it counts as a
// column only if every line has such a number.
std::optional<FoldedLine> ParseLine(std::string_view line, bool two_columns) {
  FoldedLine folded{.stack = Trimmed(line)};
  const std::optional<Count> last = TakeCount(folded.stack);
  if (!last || folded.stack.empty()) return std::nullopt;
  folded.count = *last;
  if (!two_columns) return folded;
  const std::optional<Count> before = TakeCount(folded.stack);
  if (!before || folded.stack.empty()) return std::nullopt;
  folded.after = folded.count;
  folded.count = *before;
  return folded;
}

bool HasTwoColumns(std::string_view text) {
  TextLines lines(text);
  std::string_view line;
  bool any = false;
  while (lines.Next(&line)) {
    if (Trimmed(line).empty()) continue;
    if (!ParseLine(line, /*two_columns=*/true)) return false;
    any = true;
  }
  return any;
}

class FoldedReader {
 public:
  FoldedReader(bool two_columns, ProfileMaker& maker) : maker_(maker) {
    first_ = maker.Event(two_columns ? "before" : "samples");
    if (two_columns) second_ = maker.Event("after");
  }

  void Add(const FoldedLine& folded) {
    const auto [thread, stack] = MakeStack(folded.stack);
    AddCount(first_, thread, stack, folded.count);
    if (folded.after) AddCount(second_, thread, stack, *folded.after);
  }

  void Warn() {
    if (rounded_ == 0) return;
    maker_.Warn(absl::StrCat(rounded_, " counts are not whole numbers and were rounded"));
  }

 private:
  std::pair<profile::ThreadId, StackId> MakeStack(std::string_view names) {
    const size_t first = names.find(';');
    const profile::ThreadId thread = maker_.NamedThread(names.substr(0, first));
    StackId stack = profile::kNoStack;
    if (first == std::string_view::npos) return {thread, stack};
    for (size_t begin = first + 1; begin <= names.size();) {
      const size_t end = std::min(names.find(';', begin), names.size());
      const std::string_view name = names.substr(begin, end - begin);
      if (!name.empty()) stack = maker_.Stack(stack, FrameOf(name));
      begin = end + 1;
    }
    return {thread, stack};
  }

  FrameId FrameOf(std::string_view name) {
    const FunctionLine function{.name = name};
    const bool in_kernel = name.ends_with("_[k]");
    if (name == "[unknown]") return maker_.Frame({});
    return maker_.Frame({.functions = {&function, 1},
                         .image = in_kernel ? maker_.KernelImage() : maker_.UnknownImage(),
                         .mode = in_kernel ? profile::Mode::kKernel : profile::Mode::kUser});
  }

  void AddCount(profile::EventId event, profile::ThreadId thread, StackId stack,
                const Count& count) {
    rounded_ += count.is_rounded;
    if (count.value == 0) return;
    maker_.Add({.event = event,
                .thread = thread,
                .stack = stack,
                .count = count.value,
                .period = count.value});
  }

  ProfileMaker& maker_;
  profile::EventId first_{}, second_{};
  size_t rounded_ = 0;
};

}  // namespace

absl::Status ReadFolded(std::string_view text, ProfileMaker& maker) {
  const bool two_columns = HasTwoColumns(text);
  FoldedReader reader(two_columns, maker);
  TextLines lines(text);
  std::string_view line;
  size_t passed_over = 0, first_passed_over = 0;
  while (lines.Next(&line)) {
    if (Trimmed(line).empty() || line.starts_with('#')) continue;
    if (const auto folded = ParseLine(line, two_columns)) {
      reader.Add(*folded);
    } else if (++passed_over == 1) {
      first_passed_over = lines.number();
    }
  }
  reader.Warn();
  if (passed_over == 0) return absl::OkStatus();
  if (maker.rows() == 0) {
    return absl::DataLossError(absl::StrCat("line ", first_passed_over,
                                            " does not end with a number, and no other line does; "
                                            "folded stacks are lines of the form root;…;leaf 12"));
  }
  maker.Warn(absl::StrCat(passed_over, " lines do not end with a number and were skipped, line ",
                          first_passed_over, " first"));
  return absl::OkStatus();
}

namespace {

// True if `line` may be the beginning of a long line that the examined part of the file cuts off: a
// deep stack with long names.
bool IsStartOfLongLine(std::string_view line) {
  constexpr size_t kLong = 8192;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  return line.size() >= kLong && line.find(';') != std::string_view::npos &&
         std::none_of(line.begin(), line.end(), is_control);
}

}  // namespace

bool LooksFolded(std::string_view start) {
  constexpr size_t kLines = 20;
  TextLines lines(start);
  std::string_view line;
  size_t folded = 0, others = 0;
  bool has_callers = false;
  while (folded + others < kLines && lines.Next(&line)) {
    if (Trimmed(line).empty() || line.starts_with('#')) continue;
    const bool may_be_cut = lines.rest().empty() && !start.ends_with('\n');
    if (may_be_cut && IsStartOfLongLine(line)) {
      has_callers = true;
      ++folded;
      break;
    }
    const auto parsed = ParseLine(line, /*two_columns=*/false);
    const bool is_folded = parsed && parsed->stack.find('\0') == std::string_view::npos;
    if (!is_folded && may_be_cut && folded != 0) break;
    ++(is_folded ? folded : others);
    has_callers = has_callers || (is_folded && parsed->stack.find(';') != std::string_view::npos);
  }
  return has_callers && folded > others;
}

}  // namespace profiler::importers
