#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/query/keyed_rows.h"
#include "src/query/measure.h"
#include "src/summary/summary.h"

namespace profiler::summary {
namespace {

using profile::DsoId;
using profile::EventId;
using profile::Frame;
using profile::FrameId;
using profile::Line;
using profile::Mode;
using profile::Profile;
using profile::Row;
using profile::Thread;
using query::KeyBy;
using query::KeyedRows;
using query::KeyId;
using query::kNoKey;
using query::Measurement;

constexpr size_t kFunctions = 5, kThreads = 4, kPathSteps = 6;

std::string SourceOf(const Profile& profile, StringId file, uint32_t line) {
  if (file == StringId::kEmpty) return {};
  return absl::StrCat(View(BaseName(profile.text(file))), ":", line);
}

// What has the name `function` at a frame, which may be inlined into others.
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
  Summarizer(const Profile& profile, EventId event)
      : profile_(profile),
        event_(event),
        functions_(profile, event, KeyBy::kFunction),
        measured_(query::Measure(profile, event, functions_)) {}

  Summary Finish() && {
    summary_.event = profile_.text(profile_[event_].name);
    summary_.samples = measured_.samples;
    summary_.amount = static_cast<double>(measured_.period);
    summary_.is_count = measured_.is_count;
    AddFunctions();
    AddPath();
    AddRows();
    summary_.losses = profile_.losses;
    summary_.chains = profile_.chains;
    summary_.has_chains = profile_[event_].callchains;
    return std::move(summary_);
  }

 private:
  double PartOf(uint64_t period) const {
    return measured_.period == 0
               ? 0
               : static_cast<double>(period) / static_cast<double>(measured_.period);
  }

  void AddFunctions() {
    std::vector<KeyId> order;
    for (KeyId key = 0; key < functions_.size(); ++key) {
      if (measured_.self[key].period != 0) order.push_back(key);
    }
    std::stable_sort(order.begin(), order.end(), [this](KeyId a, KeyId b) {
      return measured_.self[a].period > measured_.self[b].period;
    });
    const size_t shown = std::min(order.size(), kFunctions);
    for (size_t i = 0; i < shown; ++i) {
      const query::Measured& of = measured_.self[order[i]];
      const profile::Dso& dso = profile_[profile_[functions_.FrameOf(order[i])].dso];
      FunctionShare function{.name = functions_.name(order[i]),
                             .image = std::string(profile_.text(dso.name)),
                             .source = HeaviestLineOf(order[i]),
                             .share = {.part = measured_.ShareOf(of),
                                       .interval = measured_.IntervalOf(of),
                                       .amount = static_cast<double>(of.period)}};
      if (i + 1 < order.size()) {
        const query::Measured& next = measured_.self[order[i + 1]];
        if (function.share.interval.Overlaps(measured_.IntervalOf(next))) {
          function.samples_to_tell = estimate::SamplesToSeparate(of.samples, next.samples);
        }
      }
      summary_.functions.push_back(std::move(function));
    }
    for (size_t i = shown; i < order.size(); ++i) {
      ++summary_.others;
      summary_.others_part += PartOf(measured_.self[order[i]].period);
    }
  }

  // The line of the function at which most of its own samples were taken.
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
    const KeyedRows paths(profile_, event_, KeyBy::kPath);
    std::vector<uint64_t> periods(paths.size());
    for (const Row& row : profile_.rows) {
      if (row.event != event_) continue;
      for (const KeyId path : paths.AllOf(row)) periods[path] += row.period;
    }
    // The heaviest that is one function longer, by path; of no path, the heaviest root.
    absl::flat_hash_map<KeyId, KeyId> heaviest;
    for (KeyId path = 0; path < paths.size(); ++path) {
      KeyId& best = heaviest.try_emplace(paths.ShorterOf(path), path).first->second;
      if (periods[path] > periods[best]) best = path;
    }
    uint64_t above = measured_.period;
    for (KeyId at = kNoKey; summary_.path.size() < kMostSteps;) {
      const auto longer = heaviest.find(at);
      // Beyond a branching no callee stands for its caller.
      if (longer == heaviest.end() || periods[longer->second] * 2 < above) break;
      at = longer->second;
      above = periods[at];
      const std::string_view function = paths.LastOf(at);
      summary_.path.push_back({.function = std::string(function),
                               .source = SourceOf(profile_, paths.FrameOf(at), function),
                               .part = PartOf(periods[at])});
    }
    ShortenPath();
  }

  // What everybody's stack begins with says nothing: the outermost steps go first.
  void ShortenPath() {
    std::vector<PathStep>& path = summary_.path;
    if (path.size() > kPathSteps) path.erase(path.begin(), path.end() - kPathSteps);
  }

  void AddRows() {
    uint64_t user = 0, kernel = 0, idle = 0, named = 0;
    absl::flat_hash_map<StringId, uint64_t> periods_by_name;
    absl::flat_hash_map<StringId, absl::flat_hash_set<uint32_t>> threads_by_name;
    absl::flat_hash_map<DsoId, uint64_t> unnamed;
    for (const Row& row : profile_.rows) {
      if (row.event != event_) continue;
      const Frame& frame = profile_[row.self];
      const Thread& thread = profile_[row.thread];
      const bool is_kernel = frame.mode == Mode::kKernel;
      if (thread.pid == 0 && thread.tid == 0 && is_kernel) {
        idle += row.period;
      } else if (is_kernel) {
        kernel += row.period;
      } else if (frame.mode == Mode::kUser) {
        user += row.period;
      }
      periods_by_name[thread.comm] += row.period;
      threads_by_name[thread.comm].insert(thread.tid);
      if (frame.unnamed == profile::Unnamed::kNamed) {
        named += row.period;
      } else {
        unnamed[frame.dso] += row.period;
      }
    }
    summary_.user = PartOf(user);
    summary_.kernel = PartOf(kernel);
    summary_.idle = PartOf(idle);
    summary_.elsewhere = std::max(0.0, 1 - summary_.user - summary_.kernel - summary_.idle);
    summary_.named = PartOf(named);
    std::vector<std::pair<uint64_t, StringId>> by_weight;
    for (const auto& [name, period] : periods_by_name) by_weight.emplace_back(period, name);
    std::sort(by_weight.begin(), by_weight.end(), [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first
                                : profile_.text(a.second) < profile_.text(b.second);
    });
    for (const auto& [period, name] : by_weight) {
      if (summary_.threads.size() == kThreads) {
        ++summary_.other_threads;
        continue;
      }
      summary_.threads.push_back({.name = std::string(profile_.text(name)),
                                  .threads = static_cast<uint32_t>(threads_by_name[name].size()),
                                  .part = PartOf(period)});
    }
    uint64_t most = 0;
    for (const auto& [dso, period] : unnamed) {
      if (period <= most) continue;
      most = period;
      summary_.most_unnamed =
          ImageShare{std::string(profile_.text(profile_[dso].name)), PartOf(most)};
    }
  }

  static constexpr size_t kMostSteps = 512;

  const Profile& profile_;
  const EventId event_;
  const KeyedRows functions_;
  const Measurement measured_;
  Summary summary_;
};

}  // namespace

Summary Summarize(const Profile& profile, EventId event) {
  return Summarizer(profile, event).Finish();
}

}  // namespace profiler::summary
