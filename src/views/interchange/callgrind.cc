#include "src/views/interchange/callgrind.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/views/interchange/code_table.h"
#include "src/views/interchange/thread_rows.h"

namespace profiler::exports {
namespace {

using profile::EventId;
using profile::Profile;
using profile::Row;
using profile::StackId;

// The costs in all columns of the file.
using Costs = std::vector<uint64_t>;

void Add(Costs& sum, const Costs& costs) {
  sum.resize(costs.size());
  for (size_t i = 0; i < costs.size(); ++i) sum[i] += costs[i];
}

// Returns an event's name in the file, where only letters, digits and underscores are allowed.
std::string EventName(std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (safe.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(safe[0]))) {
    safe.insert(0, "e");
  }
  return safe;
}

// Replaces control characters, because a name extends to the end of its line.
std::string InLine(std::string text) {
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

// The ids of names: "(ID) NAME" for the first use of a name, and "(ID)" afterwards.
class NameIds {
 public:
  std::string Of(const std::string& name) {
    const auto [known, added] = ids_.try_emplace(name, ids_.size() + 1);
    return added ? absl::StrCat("(", known->second, ") ", name)
                 : absl::StrCat("(", known->second, ")");
  }

 private:
  absl::flat_hash_map<std::string, size_t> ids_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const Profile& profile, const Origin& origin)
      : profile_(profile),
        origin_(origin),
        code_(profile),
        events_(EventsWithRows(profile)),
        images_(profile.images.size()),
        last_seen_(code_.functions().size()) {
    for (size_t i = 0; i < images_.size(); ++i) {
      images_[i] = InLine(ImagePath(profile, profile.images[i]));
    }
  }

  std::string Write() && {
    AddUpStacks();
    WriteHeader();
    for (const auto& [place, costs] : self_) {
      const auto [function, line] = place;
      EnterFunction(function);
      WriteCosts(line, costs);
      const auto next = self_.upper_bound(place);
      if (next == self_.end() || next->first.first != function) WriteCallsOf(function);
    }
    return std::move(out_);
  }

 private:
  // Place: function and line. Call: caller, line of the call, callee.
  using Place = std::pair<FunctionIndex, uint32_t>;
  using Call = std::tuple<FunctionIndex, uint32_t, FunctionIndex>;

  void AddUpStacks() {
    std::vector<size_t> column(profile_.events.size());
    for (size_t i = 0; i < events_.size(); ++i) column[static_cast<uint32_t>(events_[i])] = 2 * i;
    absl::flat_hash_map<StackId, Costs> stacks;
    for (const Row& row : profile_.rows) {
      Costs& costs = stacks[row.stack];
      costs.resize(2 * events_.size());
      costs[column[static_cast<uint32_t>(row.event)]] += row.period;
      costs[column[static_cast<uint32_t>(row.event)] + 1] += row.count;
    }
    for (const auto& [stack, costs] : stacks) {
      AddStack(stack, costs);
      Add(total_, costs);
    }
    // Adds a cost of 0 for functions without own cost, because calls are written below such a line.
    for (const auto& [call, costs] : calls_) {
      const auto& [caller, line, callee] = call;
      const auto own = self_.lower_bound({caller, 0});
      if (own == self_.end() || own->first.first != caller) {
        self_[{caller, 0}].resize(costs.size());
      }
    }
  }

  void AddStack(StackId stack, const Costs& costs) {
    ++stacks_seen_;
    bool is_leaf = true;
    FunctionIndex callee = 0;
    for (StackId at = stack; at != profile::kNoStack; at = profile_[at].parent) {
      for (const CodeLine& line : code_.At(profile_[at].frame)) {
        const bool is_innermost =
            std::exchange(last_seen_[line.function], stacks_seen_) != stacks_seen_;
        if (is_leaf) {
          Add(self_[{line.function, line.line}], costs);
        } else if (is_innermost) {
          Add(calls_[{line.function, line.line, callee}], costs);
        }
        callee = line.function;
        is_leaf = false;
      }
    }
  }

  void WriteHeader() {
    absl::StrAppend(&out_, "# callgrind format\nversion: 1\ncreator: ", origin_.producer, "\n");
    if (!origin_.command.empty()) {
      absl::StrAppend(&out_, "cmd: ", InLine(ValidUtf8(origin_.command)), "\n");
    }
    out_ += "positions: line\n";
    std::string names = "events:";
    for (const EventId event : events_) {
      const std::string_view name = profile_.text(profile_[event].name);
      const std::string safe = EventName(name);
      const std::string shown = InLine(ValidUtf8(name));
      absl::StrAppend(&out_, "event: ", safe, " : ", shown, "\n");
      absl::StrAppend(&out_, "event: ", safe, "_samples : samples of ", shown, "\n");
      absl::StrAppend(&names, " ", safe, " ", safe, "_samples");
    }
    absl::StrAppend(&out_, names, "\nsummary:");
    total_.resize(2 * events_.size());
    for (const uint64_t cost : total_) absl::StrAppend(&out_, " ", cost);
    out_ += "\n";
  }

  void EnterFunction(FunctionIndex function) {
    if (entered_ == function) return;
    entered_ = function;
    const CodeFunction& known = code_[function];
    absl::StrAppend(&out_, "\nob=", objects_.Of(ImageOf(known)), "\nfl=", files_.Of(FileOf(known)),
                    "\nfn=", functions_.Of(InLine(known.name)), "\n");
  }

  void WriteCallsOf(FunctionIndex function) {
    for (auto call = calls_.lower_bound({function, 0, 0});
         call != calls_.end() && std::get<0>(call->first) == function; ++call) {
      const auto& [caller, line, callee] = call->first;
      const CodeFunction& known = code_[callee];
      uint64_t samples = 0;
      for (size_t i = 1; i < call->second.size(); i += 2) samples += call->second[i];
      absl::StrAppend(&out_, "cob=", objects_.Of(ImageOf(known)),
                      "\ncfi=", files_.Of(FileOf(known)),
                      "\ncfn=", functions_.Of(InLine(known.name)), "\ncalls=", samples, " 0\n");
      WriteCosts(line, call->second);
    }
  }

  void WriteCosts(uint32_t line, const Costs& costs) {
    absl::StrAppend(&out_, line);
    for (const uint64_t cost : costs) absl::StrAppend(&out_, " ", cost);
    out_ += "\n";
  }

  const std::string& ImageOf(const CodeFunction& function) const {
    return images_[static_cast<uint32_t>(function.image)];
  }
  static std::string FileOf(const CodeFunction& function) {
    return function.file.empty() ? "???" : InLine(function.file);
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const std::vector<EventId> events_;
  std::vector<std::string> images_;  // indexed by ImageId
  std::map<Place, Costs> self_;
  std::map<Call, Costs> calls_;
  Costs total_;
  std::vector<uint64_t> last_seen_;  // [f]: number of the latest stack with f
  uint64_t stacks_seen_ = 0;
  NameIds objects_, files_, functions_;
  FunctionIndex entered_ = UINT32_MAX;
  std::string out_;
};

}  // namespace

std::string Callgrind(const Profile& profile, const Origin& origin) {
  return CallgrindWriter(profile, origin).Write();
}

}  // namespace profiler::exports
