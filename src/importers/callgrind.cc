#include "src/importers/callgrind.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

constexpr std::string_view kSpace = " \t";

std::string_view TakeWord(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
  rest.remove_prefix(word.size());
  return word;
}

// Parses a decimal number, or a hexadecimal one after 0x.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Decodes abbreviated names: a name is "(3) main" at first, and "(3)" later.
class Names {
 public:
  std::string_view Of(std::string_view text) {
    text = Trimmed(text);
    if (!text.starts_with('(')) return text;
    const size_t close = text.find(')');
    if (close == std::string_view::npos) return text;
    const std::string_view id = text.substr(0, close + 1), name = Trimmed(text.substr(close + 1));
    std::string_view& known = names_[id];
    if (!name.empty()) known = name;
    return known.empty() ? text : known;
  }

 private:
  absl::flat_hash_map<std::string_view, std::string_view> names_;
};

class CallgrindReader {
 public:
  explicit CallgrindReader(ProfileMaker& maker) : maker_(maker) {}

  void Take(std::string_view line, size_t number) {
    line = Trimmed(line);
    if (line.empty() || line.starts_with('#')) return;
    const char first = line[0];
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*') {
      TakeCosts(line, number);
    } else if (const size_t end = line.find_first_of("=:"); end != std::string_view::npos) {
      line[end] == '=' ? TakeName(line.substr(0, end), line.substr(end + 1))
                       : TakeHead(line.substr(0, end), Trimmed(line.substr(end + 1)));
    } else {
      PassOver(number);
    }
  }

  absl::Status End() {
    if (events_.empty()) {
      return absl::DataLossError("it has no line \"events:\", which names the counted events");
    }
    AddFunctions();
    if (passed_over_ != 0) {
      maker_.Warn(absl::StrCat(passed_over_, " lines were not understood and skipped, line ",
                               first_passed_over_, " first"));
    }
    maker_.Warn("a callgrind file has no stacks: each function has its own cost, and no callers");
    return absl::OkStatus();
  }

 private:
  struct EventColumn {
    std::string name;
    std::string title;
  };
  struct Place {
    std::string_view image, file, function;
    uint64_t line = 0;
    bool operator==(const Place&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Place& place) {
      return H::combine(std::move(h), place.image, place.file, place.function, place.line);
    }
  };

  struct CostLine {
    Place place;
    std::vector<uint64_t> costs;
  };

  void PassOver(size_t number) {
    if (++passed_over_ == 1) first_passed_over_ = number;
  }

  void TakeHead(std::string_view key, std::string_view value) {
    if (key == "events") {
      if (!events_.empty()) return;  // each part of a file repeats the line of event names
      while (!Trimmed(value).empty()) {
        const std::string_view name = TakeWord(value);
        events_.push_back({std::string(name), titles_.contains(name) ? titles_[name] : ""});
      }
    } else if (key == "event") {
      const size_t colon = value.find(':');
      if (colon == std::string_view::npos) return;
      titles_[Trimmed(value.substr(0, colon))] = std::string(Trimmed(value.substr(colon + 1)));
    } else if (key == "positions") {
      positions_ = line_position_ = 0;
      has_lines_ = false;
      while (!Trimmed(value).empty()) {
        const std::string_view position = TakeWord(value);
        if (position == "line") line_position_ = positions_;
        has_lines_ = has_lines_ || position == "line";
        ++positions_;
      }
    } else if (key == "cmd") {
      const std::string_view command = TakeWord(value);
      if (!command.empty()) comm_ = BaseName(command);
    }
  }

  void TakeName(std::string_view key, std::string_view value) {
    if (key == "ob") {
      place_.image = images_.Of(value);
    } else if (key == "fl" || key == "fi" || key == "fe") {
      place_.file = files_.Of(value);
    } else if (key == "fn") {
      place_.function = functions_.Of(value);
    } else if (key == "cob") {
      images_.Of(value);
    } else if (key == "cfi" || key == "cfl") {
      files_.Of(value);
    } else if (key == "cfn") {
      functions_.Of(value);
    } else if (key == "calls") {
      is_call_ = true;
    }
    // jump=, jcnd= and other keys have no cost.
  }

  // Adds a line of costs. Positions are relative to the former line: "+3", "-1", or "*" for the
  // same position.
  void TakeCosts(std::string_view line, size_t number) {
    last_positions_.resize(positions_);
    for (size_t i = 0; i < positions_; ++i) {
      const std::string_view word = TakeWord(line);
      if (word == "*") continue;
      const bool is_relative = word.starts_with('+') || word.starts_with('-');
      const auto value = ParseNumber(word.substr(is_relative ? 1 : 0));
      if (!value) return PassOver(number);
      uint64_t& last = last_positions_[i];
      last = word.starts_with('+') ? last + *value : is_relative ? last - *value : *value;
    }
    if (std::exchange(is_call_, false)) return;  // costs of a callee, which the callee lists itself
    place_.line = has_lines_ ? last_positions_[line_position_] : 0;
    const auto [known, is_new] = numbers_.try_emplace(place_, lines_.size());
    if (is_new) lines_.push_back({place_, {}});
    std::vector<uint64_t>& sums = lines_[known->second].costs;
    sums.resize(std::max(sums.size(), events_.size()));
    for (uint64_t& sum : sums) {
      const std::string_view word = TakeWord(line);
      if (word.empty()) break;
      const auto cost = ParseNumber(word);
      if (!cost) return PassOver(number);
      sum += *cost;
    }
  }

  // Returns the index of the column with the numbers of samples of an event. Our own exports have
  // such a column beside the column with the periods.
  std::optional<size_t> CountsOf(size_t event) const {
    const std::string title = absl::StrCat("samples of ", events_[event].title);
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!events_[event].title.empty() && events_[i].title == title) return i;
    }
    return std::nullopt;
  }

  bool IsCount(size_t column) const {
    for (size_t i = 0; i < events_.size(); ++i) {
      if (CountsOf(i) == column) return true;
    }
    return false;
  }

  void AddFunctions() {
    for (CostLine& line : lines_) line.costs.resize(events_.size());
    const profile::ThreadId thread = maker_.NamedThread(comm_);
    for (size_t event = 0; event < events_.size(); ++event) {
      if (IsCount(event)) continue;
      const std::optional<size_t> counts = CountsOf(event);
      const profile::EventId id = maker_.Event(
          events_[event].title.empty() || !counts ? events_[event].name : events_[event].title);
      for (const auto& [place, costs] : lines_) {
        maker_.Add({.event = id,
                    .thread = thread,
                    .stack = StackOf(place),
                    .count = counts ? costs[*counts] : uint64_t{costs[event] != 0},
                    .period = costs[event]});
      }
    }
  }

  profile::StackId StackOf(const Place& place) {
    const bool has_file = place.file != "???";
    const FunctionLine function{
        .name = place.function,
        .file = has_file ? place.file : std::string_view(),
        .line = place.line < UINT32_MAX ? static_cast<uint32_t>(place.line) : 0};
    CodeSpec code;
    if (!place.function.empty() && place.function != "???") code.functions = {&function, 1};
    if (!place.image.empty() && place.image != "???") {
      code.image = maker_.UserImage(place.image, std::nullopt);
    }
    return maker_.Stack(profile::kNoStack, maker_.Frame(code));
  }

  ProfileMaker& maker_;
  std::string_view comm_ = "[unknown]";
  std::vector<EventColumn> events_;
  absl::flat_hash_map<std::string_view, std::string> titles_;
  size_t positions_ = 1, line_position_ = 0;
  bool has_lines_ = true;
  std::vector<uint64_t> last_positions_;
  Names images_, files_, functions_;
  Place place_;
  bool is_call_ = false;  // True if the next line of costs belongs to a call.
  std::vector<CostLine> lines_;
  absl::flat_hash_map<Place, size_t> numbers_;  // index of each place in lines_
  size_t passed_over_ = 0, first_passed_over_ = 0;
};

}  // namespace

absl::Status ReadCallgrind(std::string_view text, ProfileMaker& maker) {
  CallgrindReader reader(maker);
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(&line)) reader.Take(line, lines.number());
  return reader.End();
}

bool LooksLikeCallgrind(std::string_view start) {
  constexpr std::string_view kHeads[] = {
      "version:", "creator:", "pid:", "cmd:", "part:", "desc:", "positions:", "event:", "events:"};
  TextLines lines(start);
  std::string_view line;
  while (lines.Next(&line)) {
    if (line == "# callgrind format") return true;
    if (Trimmed(line).empty() || line.starts_with('#')) continue;
    if (line.starts_with("events:")) return true;
    const bool is_head = std::any_of(std::begin(kHeads), std::end(kHeads),
                                     [&](std::string_view head) { return line.starts_with(head); });
    if (!is_head) return false;
  }
  return false;
}

}  // namespace profiler::importers
