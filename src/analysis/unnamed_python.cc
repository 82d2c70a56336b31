#include "src/analysis/unnamed_python.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/interpreters.h"
#include "src/base/text.h"

namespace profiler::analysis {

using profile::EventId;
using profile::Frame;
using profile::Profile;
using profile::Row;
using profile::StackNode;
using symbolize::ImageKind;

namespace {

constexpr double kLeastPart = 0.02;
constexpr uint32_t kFirstWithPerf = 12;
// Versions whose functions `record` finds itself (symbolize/python).
constexpr uint32_t kFirstFound = 8, kLastFound = 14;

class Finder {
 public:
  explicit Finder(const Profile& profile) : profile_(profile) {
    for (const profile::Image& image : profile.images) {
      minors_.push_back(image.kind == ImageKind::kUser ? MinorOfPython3(profile.text(image.name))
                                                       : std::nullopt);
    }
  }

  // True if any image belongs to Python. Without one, the stacks need not be read.
  bool HasPython() const {
    return std::any_of(minors_.begin(), minors_.end(),
                       [](auto minor) { return minor.has_value(); });
  }

  void ReadStacks() {
    on_stack_.reserve(profile_.stacks.size());
    for (const StackNode& stack : profile_.stacks) {
      OnStack at;
      if (stack.parent != profile::kNoStack) at = on_stack_[static_cast<uint32_t>(stack.parent)];
      const Frame& frame = profile_[stack.frame];
      if (const auto minor = minors_[static_cast<uint32_t>(frame.image)]) at.minor = minor;
      at.is_named = at.is_named || IsPythonFunction(frame);
      on_stack_.push_back(at);
    }
  }

  std::optional<UnnamedPython> Find(EventId event) const {
    absl::flat_hash_map<uint32_t, Process> processes;  // keyed by pid
    double all = 0;
    for (const Row& row : profile_.rows) {
      if (row.event != event) continue;
      const OnStack& at = on_stack_[static_cast<uint32_t>(row.stack)];
      const auto weight = static_cast<double>(row.period);
      all += weight;
      if (!at.minor && !at.is_named) continue;
      Process& process = processes[profile_[row.thread].pid];
      process.is_named = process.is_named || at.is_named;
      if (at.minor) process.by_minor[*at.minor] += weight;
    }
    return Heaviest(processes, all);
  }

 private:
  struct OnStack {
    std::optional<uint32_t> minor;
    bool is_named = false;  // True if a Python function has a name.
  };
  struct Process {
    bool is_named = false;
    std::map<uint32_t, double> by_minor;
  };

  bool IsPythonFunction(const Frame& frame) const {
    if (profile_.text(profile_[frame.image].name) == kPythonFunctions) return true;
    const ImageKind kind = profile_[frame.image].kind;
    if (kind != ImageKind::kJit && kind != ImageKind::kJitDump) return false;
    const auto lines = profile_.LinesOf(frame);
    if (lines.empty() || lines.back().symbol == profile::kNoSymbol) return false;
    return profile_.text(profile_[lines.back().symbol].name).starts_with("py::") ||
           profile_.text(lines.back().file).ends_with(".py");
  }

  static std::optional<UnnamedPython> Heaviest(
      const absl::flat_hash_map<uint32_t, Process>& processes, double all) {
    std::map<uint32_t, double> by_minor;
    for (const auto& [pid, process] : processes) {
      if (process.is_named) continue;
      for (const auto& [minor, weight] : process.by_minor) by_minor[minor] += weight;
    }
    UnnamedPython found;
    double most = 0;
    for (const auto& [minor, weight] : by_minor) {
      found.part += weight;
      if (weight <= most) continue;
      most = weight;
      found.minor = minor;
    }
    if (most == 0 || found.part < kLeastPart * all) return std::nullopt;
    found.part /= all;
    return found;
  }

  const Profile& profile_;
  std::vector<std::optional<uint32_t>> minors_;  // indexed by ImageId
  std::vector<OnStack> on_stack_;                // indexed by StackId
};

}  // namespace

std::optional<UnnamedPython> FindUnnamedPython(const Profile& profile, EventId event) {
  Finder finder(profile);
  if (!profile[event].callchains || !finder.HasPython()) return std::nullopt;
  finder.ReadStacks();
  return finder.Find(event);
}

std::optional<UnnamedPython> FindUnnamedPython(const Profile& profile) {
  Finder finder(profile);
  if (!finder.HasPython()) return std::nullopt;
  finder.ReadStacks();
  std::optional<UnnamedPython> most;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (!profile.events[i].callchains) continue;
    const auto found = finder.Find(EventId{i});
    if (found && (!most || found->part > most->part)) most = found;
  }
  return most;
}

std::string MissingText(const UnnamedPython& python) {
  return absl::StrFormat("Python 3.%d took %.1f %%, and its functions have no names", python.minor,
                         100 * python.part);
}

std::string RemedyText(const UnnamedPython& python) {
  constexpr std::string_view kStarted = "started as python3 -X perf, or with PYTHONPERFSUPPORT=1, ";
  const std::string started = python.minor >= kFirstWithPerf
                                  ? absl::StrCat(View(kStarted), "it would name them")
                                  : absl::StrCat("Python 3.", kFirstWithPerf, " or later, ",
                                                 View(kStarted), "would name them");
  if (python.minor < kFirstFound || python.minor > kLastFound) return started;
  return absl::StrCat(
      "record -g, as root or with CAP_BPF and CAP_PERFMON and without --no-interpreters, names "
      "them; ",
      started);
}

}  // namespace profiler::analysis
