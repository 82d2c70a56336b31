#include "src/views/annotate/choice.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/analysis/name_rules.h"
#include "src/base/edit_distance.h"
#include "src/base/text.h"

namespace profiler::annotate {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::kNoStack;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::Row;
using profile::StackId;
using profile::SymbolId;

constexpr size_t kNearShown = 4, kContainersShown = 5;
constexpr size_t kLongestCompared = 200;  // bytes of a name

std::string WithoutParameters(std::string_view name) {
  return analysis::SimplifiedName(name, {.strip_args = true});
}

// Returns "ns::Table::Put" for "void ns::Table<int>::Put<long>(long)".
std::string WithoutTemplates(std::string_view name) {
  return absl::StrReplaceAll(
      analysis::SimplifiedName(name, {.fold_templates = 0, .strip_args = true}), {{"<...>", ""}});
}

// Returns the function whose code contains the frame; kNoSymbol if unknown.
SymbolId FunctionOf(const Profile& profile, FrameId frame) {
  const auto lines = profile.LinesOf(profile[frame]);
  return lines.empty() ? kNoSymbol : lines.back().symbol;
}

// Returns the function whose code the row's samples interrupted; kNoSymbol if unknown.
SymbolId Interrupted(const Profile& profile, const Row& row) {
  return FunctionOf(profile, row.self);
}

// Returns the weight of the samples whose call chain contains the function.
ChosenFunction WithCallees(const Profile& profile, EventId event, SymbolId symbol) {
  const std::vector<bool> contains = StacksWith(profile, symbol);
  ChosenFunction function{.symbol = symbol};
  for (const Row& row : profile.rows) {
    if (row.event != event) continue;
    const bool is_on_stack = row.stack != kNoStack && contains[static_cast<uint32_t>(row.stack)];
    if (!is_on_stack && Interrupted(profile, row) != symbol) continue;
    function.period += row.period;
    function.samples += row.count;
  }
  return function;
}

void SortByPeriod(std::vector<ChosenFunction>& functions) {
  std::ranges::stable_sort(functions, std::ranges::greater{}, &ChosenFunction::period);
}

class Chooser {
 public:
  Chooser(const Profile& profile, EventId event)
      : profile_(profile), event_(event), weights_(profile.symbols.size()) {
    for (uint32_t i = 0; i < weights_.size(); ++i) weights_[i].symbol = SymbolId{i};
    for (const Row& row : profile.rows) {
      if (row.event != event) continue;
      any_ = true;
      const SymbolId symbol = Interrupted(profile, row);
      if (symbol == kNoSymbol) continue;
      ChosenFunction& function = weights_[static_cast<uint32_t>(symbol)];
      function.period += row.period;
      function.samples += row.count;
    }
  }

  absl::StatusOr<std::vector<ChosenFunction>> Choose(std::string_view name, Counted counted) const {
    if (!any_) return absl::NotFoundError("the recording has no samples of this event");
    std::vector<ChosenFunction> found;
    if (name.empty()) {
      const auto heaviest = std::max_element(
          weights_.begin(), weights_.end(),
          [](const ChosenFunction& a, const ChosenFunction& b) { return a.period < b.period; });
      if (heaviest == weights_.end() || heaviest->samples == 0) {
        return absl::NotFoundError("no sample is in a function whose name is known");
      }
      return std::vector{
          counted == Counted::kOwn ? *heaviest : WithCallees(profile_, event_, heaviest->symbol)};
    }
    constexpr std::string (*kShorter[])(std::string_view) = {WithoutParameters, WithoutTemplates};
    found = Matching([&](std::string_view known) { return known == name; }, counted);
    for (const auto shorter : kShorter) {
      if (!found.empty()) return found;
      found = Matching([&](std::string_view known) { return shorter(known) == name; }, counted);
    }
    if (found.empty()) return WhyNone(name);
    return found;
  }

  std::vector<ChosenFunction> Heaviest(size_t count) const {
    std::vector<ChosenFunction> found =
        Matching([](std::string_view) { return true; }, Counted::kOwn);
    if (found.size() > count) found.resize(count);
    return found;
  }

  std::vector<ChosenFunction> InlinedInto(std::string_view name) const {
    std::vector<bool> is_called;  // [symbol]: True if `name` is its name
    for (uint32_t i = 0; i < profile_.symbols.size(); ++i) {
      is_called.push_back(IsCalled(SymbolId{i}, name));
    }
    // [frame]: function that contains the frame, if `name` is inlined there; else kNoSymbol
    std::vector<SymbolId> container(profile_.frames.size(), kNoSymbol);
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const auto lines = profile_.LinesOf(profile_.frames[i]);
      const bool is_there =
          !lines.empty() &&
          std::ranges::any_of(lines.first(lines.size() - 1), [&](const Line& line) {
            return line.symbol != kNoSymbol && is_called[static_cast<uint32_t>(line.symbol)];
          });
      if (is_there) container[i] = lines.back().symbol;
    }
    std::vector<ChosenFunction> found;
    std::vector<size_t> last_row;  // [n]: last row that was counted for found[n]
    const auto weigh = [&](FrameId frame, const Row& row, size_t of_row) {
      const SymbolId symbol = container[static_cast<uint32_t>(frame)];
      if (symbol == kNoSymbol) return;
      auto at = std::ranges::find(found, symbol, &ChosenFunction::symbol);
      if (at == found.end()) at = found.insert(found.end(), {.symbol = symbol});
      last_row.resize(found.size(), SIZE_MAX);
      size_t& last = last_row[static_cast<size_t>(at - found.begin())];
      if (std::exchange(last, of_row) == of_row) return;
      at->period += row.period;
      at->samples += row.count;
    };
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.event != event_) continue;
      weigh(row.self, row, i);
      for (StackId at = row.stack; at != kNoStack; at = profile_[at].parent) {
        weigh(profile_[at].frame, row, i);
      }
    }
    SortByPeriod(found);
    return found;
  }

 private:
  std::string_view NameOf(SymbolId symbol) const { return profile_.text(profile_[symbol].name); }

  // True if `name` is the symbol's name, with or without its parameters and template arguments.
  bool IsCalled(SymbolId symbol, std::string_view name) const {
    const std::string_view known = NameOf(symbol);
    return known == name || WithoutParameters(known) == name || WithoutTemplates(known) == name;
  }

  std::vector<ChosenFunction> Matching(auto&& matches, Counted counted) const {
    std::vector<ChosenFunction> found;
    for (const ChosenFunction& own : weights_) {
      if (counted == Counted::kOwn && own.samples == 0) continue;
      if (!matches(NameOf(own.symbol))) continue;
      const ChosenFunction function =
          counted == Counted::kOwn ? own : WithCallees(profile_, event_, own.symbol);
      if (function.samples != 0) found.push_back(function);
    }
    SortByPeriod(found);
    return found;
  }

  absl::Status WhyNone(std::string_view name) const {
    const std::vector<ChosenFunction> containers = InlinedInto(name);
    if (!containers.empty()) return HasOnlyInlinedCode(name, containers);
    for (const ChosenFunction& function : weights_) {
      if (!IsCalled(function.symbol, name)) continue;
      return absl::NotFoundError(absl::StrCat(
          "'", View(name), "' has no samples of its own; annotate one of its callees"));
    }
    const std::vector<std::string> near = NearNames(name);
    return absl::NotFoundError(
        absl::StrCat("no function '", View(name), "' has samples",
                     near.empty() ? "" : absl::StrCat("; near: ", absl::StrJoin(near, ", "))));
  }

  absl::Status HasOnlyInlinedCode(std::string_view name,
                                  const std::vector<ChosenFunction>& containers) const {
    std::string message = absl::StrCat("'", View(name), "' was inlined into ");
    const size_t shown = std::min(containers.size(), kContainersShown);
    for (size_t i = 0; i < shown; ++i) {
      absl::StrAppend(&message, i == 0 ? "'" : ", '",
                      analysis::SimplifiedName(NameOf(containers[i].symbol),
                                               {.fold_templates = 0, .strip_args = true}),
                      "'");
    }
    if (containers.size() > shown) {
      absl::StrAppend(&message, " and ", containers.size() - shown, " more");
    }
    return absl::NotFoundError(absl::StrCat(
        message, containers.size() == 1 ? "; annotate that function" : "; annotate the first one"));
  }

  // Returns up to kNearShown names. Names that contain `name` come first, sorted by period. Names
  // that are spelt like `name` follow, sorted by edit distance, then by period.
  std::vector<std::string> NearNames(std::string_view name) const {
    struct Near {
      bool contains;
      size_t distance;
      uint64_t period;
      std::string name;
    };
    std::vector<Near> all;
    for (const ChosenFunction& function : weights_) {
      if (function.samples == 0) continue;
      std::string known = WithoutParameters(NameOf(function.symbol));
      const bool contains = known.find(name) != std::string::npos;
      const size_t distance =
          contains ? 0
                   : EditDistance(std::string_view(known).substr(0, kLongestCompared),
                                  name.substr(0, kLongestCompared));
      if (!contains && distance > std::max<size_t>(2, name.size() / 3)) continue;
      all.push_back({contains, distance, function.period, std::move(known)});
    }
    std::sort(all.begin(), all.end(), [](const Near& a, const Near& b) {
      if (a.contains != b.contains) return a.contains;
      if (a.distance != b.distance) return a.distance < b.distance;
      return a.period != b.period ? a.period > b.period : a.name < b.name;
    });
    std::vector<std::string> names;
    for (Near& near : all) {
      if (names.size() == kNearShown) break;
      if (std::find(names.begin(), names.end(), near.name) == names.end()) {
        names.push_back(std::move(near.name));
      }
    }
    return names;
  }

  const Profile& profile_;
  const EventId event_;
  std::vector<ChosenFunction> weights_;  // own weight; indexed by SymbolId
  bool any_ = false;
};

}  // namespace

absl::StatusOr<std::vector<ChosenFunction>> ChooseFunctions(const Profile& profile, EventId event,
                                                            std::string_view name,
                                                            Counted counted) {
  return Chooser(profile, event).Choose(name, counted);
}

std::vector<ChosenFunction> InlinedInto(const Profile& profile, EventId event,
                                        std::string_view name) {
  return Chooser(profile, event).InlinedInto(name);
}

std::vector<bool> StacksWith(const Profile& profile, SymbolId function) {
  std::vector<bool> contains;
  contains.reserve(profile.stacks.size());
  // Callers come before their callees.
  for (const profile::StackNode& node : profile.stacks) {
    contains.push_back(FunctionOf(profile, node.frame) == function ||
                       (node.parent != kNoStack && contains[static_cast<uint32_t>(node.parent)]));
  }
  return contains;
}

std::vector<ChosenFunction> HeaviestFunctions(const Profile& profile, EventId event, size_t count) {
  return Chooser(profile, event).Heaviest(count);
}

std::vector<SymbolId> InterruptedFunctions(const Profile& profile) {
  std::vector<uint64_t> samples(profile.symbols.size());
  std::vector<SymbolId> functions;
  for (const Row& row : profile.rows) {
    const SymbolId symbol = Interrupted(profile, row);
    if (symbol == kNoSymbol || row.count == 0) continue;
    uint64_t& count = samples[static_cast<uint32_t>(symbol)];
    if (count == 0) functions.push_back(symbol);
    count += row.count;
  }
  std::ranges::stable_sort(functions, std::ranges::greater{},
                           [&](SymbolId symbol) { return samples[static_cast<uint32_t>(symbol)]; });
  return functions;
}

}  // namespace profiler::annotate
