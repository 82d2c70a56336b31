#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/keyed_rows.h"
#include "src/analysis/measure.h"
#include "src/analysis/missing_periods.h"
#include "src/base/text.h"
#include "src/profile/chain_shares.h"
#include "src/views/summary/heaviest_path.h"
#include "src/views/summary/own_code.h"
#include "src/views/summary/summary.h"

namespace profiler::summary {
namespace {

using analysis::KeyBy;
using analysis::KeyedRows;
using analysis::KeyId;
using analysis::Measurement;
using profile::EventId;
using profile::Frame;
using profile::FrameId;
using profile::ImageId;
using profile::Line;
using profile::Mode;
using profile::Profile;
using profile::Row;
using profile::Thread;

constexpr size_t kFunctions = 5, kThreads = 4, kPathSteps = 6;

std::string SourceOf(const Profile& profile, StringId file, uint32_t line) {
  if (file == StringId::kEmpty) return {};
  return absl::StrCat(View(BaseName(profile.text(file))), ":", line);
}

// Returns the source line of `function` at a frame. `function` may be inlined into the frame's
// function.
std::string SourceOf(const Profile& profile, FrameId id, std::string_view function) {
  for (const Line& line : profile.LinesOf(profile[id])) {
    if (line.symbol == profile::kNoSymbol) continue;
    if (profile.text(profile[line.symbol].name) == function) {
      return SourceOf(profile, line.file, line.line);
    }
  }
  return {};
}

class Summarizer {
 public:
  Summarizer(const Profile& profile, EventId event, size_t functions)
      : profile_(profile),
        event_(event),
        most_functions_(functions),
        own_(profile, event),
        missing_(profile, event),
        functions_(profile, event, KeyBy::kFunction),
        measured_(analysis::Measure(profile, event, functions_)) {}

  Summary Finish() && {
    summary_.event = profile_.text(profile_[event_].name);
    summary_.samples = measured_.samples;
    summary_.amount = static_cast<double>(measured_.period);
    summary_.is_count = measured_.is_count;
    if (measured_.estimated > 0) {
      summary_.switches = profile_[event_].estimate.switches;
      summary_.sampled_switches = profile_[event_].estimate.sampled;
    }
    summary_.missing_part = measured_.missing_part;
    AddFunctions();
    AddOwnFunctions();
    AddPath();
    AddRows();
    summary_.waits = FindWaits(profile_, own_);
    summary_.losses = profile_.losses;
    summary_.chains = profile_.chains;
    for (const profile::ChainShares& shares : profile::SharesOfChains(profile_)) {
      if (shares.event == event_) summary_.whole_chains = shares.whole_part();
    }
    summary_.has_chains = profile_[event_].callchains;
    summary_.python = analysis::FindUnnamedPython(profile_, event_);
    return std::move(summary_);
  }

 private:
  // Returns a row's weight, including its share of the missing samples.
  double WeightOf(size_t row) const {
    return static_cast<double>(profile_.rows[row].period) + missing_.PeriodOf(row);
  }
  double WeightOf(const analysis::Measured& of) const {
    return static_cast<double>(of.period) + of.missing;
  }
  double WholeWeight() const { return static_cast<double>(measured_.period) + measured_.missing; }
  double PartOf(double weight) const {
    return measured_.period == 0 ? 0 : std::min(1.0, weight / WholeWeight());
  }

  void AddFunctions() {
    std::vector<KeyId> order;
    for (KeyId key = 0; key < functions_.size(); ++key) {
      if (measured_.self[key].period != 0) order.push_back(key);
    }
    std::stable_sort(order.begin(), order.end(), [this](KeyId a, KeyId b) {
      return WeightOf(measured_.self[a]) > WeightOf(measured_.self[b]);
    });
    const size_t shown = std::min(order.size(), kFunctions);
    for (size_t i = 0; i < shown; ++i) {
      summary_.functions.push_back(FunctionOf(order, i, measured_.self, HeaviestLineOf(order[i])));
    }
    for (size_t i = shown; i < order.size(); ++i) {
      ++summary_.others;
      const analysis::Measured& of = measured_.self[order[i]];
      summary_.others_part += measured_.ShareOf(of);
      summary_.others_amount += static_cast<double>(of.period);
    }
    AddLeaves(std::move(order));
  }

  void AddLeaves(std::vector<KeyId> order) {
    std::erase_if(order, [this](KeyId key) { return IsState(profile_, functions_.FrameOf(key)); });
    summary_.all_leaves = order.size();
    for (size_t i = 0; i < order.size(); ++i) {
      const analysis::Measured& of = measured_.self[order[i]];
      summary_.leaves_part += measured_.ShareOf(of);
      summary_.leaves_amount += static_cast<double>(of.period);
      if (i < most_functions_) {
        summary_.leaves.push_back(FunctionOf(order, i, measured_.self, HeaviestLineOf(order[i])));
      }
    }
  }

  void AddOwnFunctions() {
    std::vector<KeyId> order;
    for (KeyId key = 0; key < functions_.size(); ++key) {
      if (measured_.total[key].period == 0 || IsStartCode(functions_.name(key))) continue;
      if (own_.Has(functions_.FrameOf(key))) order.push_back(key);
    }
    // Functions of equal weight are in the order of their ids, callers mostly first.
    std::stable_sort(order.begin(), order.end(), [this](KeyId a, KeyId b) {
      return WeightOf(measured_.total[a]) > WeightOf(measured_.total[b]);
    });
    order.resize(std::min(order.size(), most_functions_ + 1));
    const std::vector<std::string> lines = LinesWithCallees(order);
    for (size_t i = 0; i < std::min(order.size(), most_functions_); ++i) {
      std::string line = lines[i].empty() ? HeaviestLineOf(order[i]) : lines[i];
      summary_.own.push_back(FunctionOf(order, i, measured_.total, std::move(line)));
    }
  }

  // Returns, for each function, its own source line with most weight of the line and its calls;
  // empty if unknown. Inlined calls count for the line of the call.
  std::vector<std::string> LinesWithCallees(const std::vector<KeyId>& functions) const {
    absl::flat_hash_map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < functions.size(); ++i) by_name.emplace(functions_.name(functions[i]), i);
    std::vector<size_t> function_of(profile_.symbols.size(), functions.size());
    for (size_t i = 0; i < profile_.symbols.size(); ++i) {
      const auto found = by_name.find(profile_.text(profile_.symbols[i].name));
      if (found != by_name.end()) function_of[i] = found->second;
    }
    std::vector<double> weights(profile_.stacks.size());
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.event == event_ && row.stack != profile::kNoStack) {
        weights[static_cast<size_t>(row.stack)] += WeightOf(i);
      }
    }
    std::vector<std::map<std::pair<StringId, uint32_t>, double>> sums(functions.size());
    // Callers come before their callees, so each stack is complete when it is passed on.
    for (size_t i = profile_.stacks.size(); i-- > 0;) {
      const profile::StackNode& node = profile_.stacks[i];
      if (weights[i] == 0) continue;
      if (node.parent != profile::kNoStack) weights[static_cast<size_t>(node.parent)] += weights[i];
      for (const Line& line : profile_.LinesOf(profile_[node.frame])) {
        if (line.symbol == profile::kNoSymbol || line.file == StringId::kEmpty) continue;
        const size_t function = function_of[static_cast<size_t>(line.symbol)];
        if (function != functions.size()) sums[function][{line.file, line.line}] += weights[i];
      }
    }
    std::vector<std::string> lines;
    for (const auto& of_function : sums) {
      const auto best =
          std::ranges::max_element(of_function, {}, [](const auto& a) { return a.second; });
      lines.push_back(best == of_function.end()
                          ? std::string()
                          : SourceOf(profile_, best->first.first, best->first.second));
    }
    return lines;
  }

  // Returns a function of an ordered list, whose measurements are in `measured`. `source` is its
  // heaviest line.
  FunctionShare FunctionOf(const std::vector<KeyId>& order, size_t i,
                           const std::vector<analysis::Measured>& measured,
                           std::string source) const {
    const analysis::Measured& of = measured[order[i]];
    const FrameId frame = functions_.FrameOf(order[i]);
    FunctionShare function{
        .name = functions_.name(order[i]),
        .image = std::string(profile_.text(profile_[profile_[frame].image].name)),
        .source = std::move(source),
        .compiled_into = CompiledInto(frame),
        .share = {.part = measured_.ShareOf(of),
                  .interval = measured_.IntervalOf(of),
                  .amount = static_cast<double>(of.period)}};
    if (i + 1 < order.size()) {
      function.samples_to_tell = measured_.SamplesToTell(of, measured[order[i + 1]]);
    }
    return function;
  }

  // Returns the function whose compiled code contains the frame. It is the frame's last line,
  // because the lines of inlined functions come first.
  std::string CompiledInto(FrameId frame) const {
    const std::span<const Line> lines = profile_.LinesOf(profile_[frame]);
    if (lines.empty() || lines.back().symbol == profile::kNoSymbol) return {};
    return std::string(profile_.text(profile_[lines.back().symbol].name));
  }

  // Returns the source line with most of the function's own samples.
  std::string HeaviestLineOf(KeyId key) const {
    std::map<std::pair<StringId, uint32_t>, uint64_t> periods;
    for (const Row& row : profile_.rows) {
      if (row.event != event_ || functions_.SelfOf(row) != key) continue;
      const auto lines = profile_.LinesOf(profile_[row.self]);
      if (!lines.empty()) periods[{lines[0].file, lines[0].line}] += row.period;
    }
    const auto best =
        std::max_element(periods.begin(), periods.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return best == periods.end() ? std::string()
                                 : SourceOf(profile_, best->first.first, best->first.second);
  }

  void AddPath() {
    summary_.path = PathOf([](const Row&) { return true; });
    summary_.whole_path = PathOf([this](const Row& row) { return HasUserCode(row.stack); });
    if (summary_.whole_path.empty()) summary_.whole_path = summary_.path;
    ShortenPath();
  }

  // True if the outermost frame of the stack is not the kernel's.
  bool HasUserCode(profile::StackId at) const {
    while (profile_[at].parent != profile::kNoStack) at = profile_[at].parent;
    return profile_[profile_[at].frame].mode != Mode::kKernel;
  }

  // Returns the busiest path of the rows that `is_wanted` accepts.
  template <class Wanted>
  std::vector<PathStep> PathOf(const Wanted& is_wanted) const {
    auto weights = HugeVector<double>::Zeros(profile_.stacks.size());
    double whole = 0;
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.event != event_ || !is_wanted(row)) continue;
      weights[static_cast<uint32_t>(row.stack)] += WeightOf(i);
      whole += WeightOf(i);
    }
    std::vector<PathStep> path;
    for (PathPart& part : HeaviestPath(profile_, std::move(weights), whole, kMostSteps)) {
      std::string source = SourceOf(profile_, part.frame, part.function);
      const bool is_own =
          own_.Has(part.frame) && !part.function.starts_with('[') && !IsStartCode(part.function);
      path.push_back({.function = std::move(part.function),
                      .source = std::move(source),
                      .part = PartOf(part.weight),
                      .is_own = is_own});
    }
    return path;
  }

  // Removes the outermost steps, because all stacks begin with them and they say little.
  void ShortenPath() {
    std::vector<PathStep>& path = summary_.path;
    if (path.size() > kPathSteps) path.erase(path.begin(), path.end() - kPathSteps);
  }

  void AddRows() {
    double user = 0, kernel = 0, idle = 0, named = 0;
    absl::flat_hash_map<StringId, double> weights_by_name;
    absl::flat_hash_map<StringId, absl::flat_hash_set<uint32_t>> threads_by_name;
    absl::flat_hash_map<ImageId, double> unnamed;
    absl::flat_hash_set<ImageId> lacking_symbols;
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.event != event_) continue;
      const double weight = WeightOf(i);
      const Frame& frame = profile_[row.self];
      const Thread& thread = profile_[row.thread];
      const bool is_kernel = frame.mode == Mode::kKernel;
      if (thread.pid == 0 && thread.tid == 0 && is_kernel) {
        idle += weight;
      } else if (is_kernel) {
        kernel += weight;
      } else if (frame.mode == Mode::kUser) {
        user += weight;
      }
      weights_by_name[thread.comm] += weight;
      threads_by_name[thread.comm].insert(thread.tid);
      if (frame.unnamed == profile::Unnamed::kNamed) {
        named += weight;
      } else {
        unnamed[frame.image] += weight;
        if (frame.unnamed == profile::Unnamed::kNoSymbol) lacking_symbols.insert(frame.image);
      }
    }
    summary_.user = PartOf(user);
    summary_.kernel = PartOf(kernel);
    summary_.idle = PartOf(idle);
    summary_.elsewhere = std::max(0.0, 1 - summary_.user - summary_.kernel - summary_.idle);
    summary_.named = PartOf(named);
    std::vector<std::pair<double, StringId>> by_weight;
    for (const auto& [name, weight] : weights_by_name) by_weight.emplace_back(weight, name);
    std::sort(by_weight.begin(), by_weight.end(), [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first
                                : profile_.text(a.second) < profile_.text(b.second);
    });
    for (const auto& [weight, name] : by_weight) {
      if (summary_.threads.size() == kThreads) {
        ++summary_.other_threads;
        continue;
      }
      summary_.threads.push_back({.name = std::string(profile_.text(name)),
                                  .threads = static_cast<uint32_t>(threads_by_name[name].size()),
                                  .part = PartOf(weight)});
    }
    double most = 0;
    for (const auto& [image, weight] : unnamed) {
      if (weight <= most) continue;
      most = weight;
      const profile::Image& described = profile_[image];
      summary_.most_unnamed = ImageShare{std::string(profile_.text(described.name)), PartOf(most)};
      if (described.kind == symbolize::ImageKind::kUser && lacking_symbols.contains(image)) {
        summary_.most_unnamed->path = profile_.text(described.long_name);
        summary_.most_unnamed->build_id = described.build_id;
      }
    }
  }

  static constexpr size_t kMostSteps = 512;

  const Profile& profile_;
  const EventId event_;
  const size_t most_functions_;
  const OwnCode own_;
  const analysis::MissingPeriods missing_;
  const KeyedRows functions_;
  const Measurement measured_;
  Summary summary_;
};

}  // namespace

Summary Summarize(const Profile& profile, EventId event, size_t functions) {
  return Summarizer(profile, event, functions).Finish();
}

}  // namespace profiler::summary
