#include "src/fleet/clickhouse/stacks_answer.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/statements.h"
#include "src/fleet/segments/window_builder.h"

namespace profiler::fleet::clickhouse {
namespace {

absl::Status NoAnswer() {
  return absl::DataLossError("the server's answer ends in the middle of a row");
}

// Host and begin of windows that are merged. Empty and 0, respectively, if the question merges all
// hosts or all times.
using Key = std::pair<std::string, UnixTime>;

// The names of a stack's frames, as views of the answer's bytes.
struct Names {
  std::vector<std::string_view> functions, images;
};

class Reader {
 public:
  Reader(const StacksQuestion& question, std::vector<std::string>* notes)
      : question_(question), notes_(notes) {}

  absl::Status ReadStacks(std::string_view answer) {
    RowReader row(answer);
    while (row.ok() && !row.AtEnd()) {
      const auto hash = row.Number<uint64_t>();
      Names names = {.functions = row.Texts(), .images = row.Texts()};
      if (names.functions.empty() || names.functions.size() != names.images.size()) {
        return NoAnswer();
      }
      stacks_.emplace(hash, std::move(names));
    }
    return row.ok() ? absl::OkStatus() : NoAnswer();
  }

  absl::Status ReadRows(std::string_view answer) {
    RowReader row(answer);
    while (row.ok() && !row.AtEnd()) {
      const std::string host(question_.tells_hosts_apart ? row.Text() : std::string_view());
      Sum& sum = sums_[{host, TimeIn(row)}];
      const uint32_t event = sum.builder.Event(row.Text());
      WorkloadNames who;
      for (std::string_view* text :
           {&who.service, &who.program, &who.container, &who.pod, &who.build_id}) {
        *text = row.Text();
      }
      const uint32_t workload = sum.builder.Workload(who);
      const uint32_t stack = StackIn(sum, row.Number<uint64_t>());
      const auto samples = row.Number<uint64_t>();
      sum.builder.Add({.event = event,
                       .workload = workload,
                       .stack = stack,
                       .samples = samples,
                       .value = row.Number<uint64_t>()});
    }
    return row.ok() ? absl::OkStatus() : NoAnswer();
  }

  absl::Status ReadWindows(std::string_view answer) {
    RowReader row(answer);
    while (row.ok() && !row.AtEnd()) {
      const UnixTime time = TimeIn(row);
      Window facts;
      facts.host = row.Text();
      const std::vector<std::string_view> keys = row.Texts(), values = row.Texts();
      if (keys.size() != values.size()) return NoAnswer();
      for (size_t i = 0; i < keys.size(); ++i) facts.labels.emplace_back(keys[i], values[i]);
      facts.frequency = row.Number<double>();
      facts.cpus = row.Number<uint32_t>();
      facts.version = row.Text();
      facts.begin = row.Number<UnixTime>();
      facts.length = row.Number<uint64_t>() - static_cast<uint64_t>(facts.begin);
      facts.losses.lost_samples = row.Number<uint64_t>();
      facts.losses.chains = row.Number<uint64_t>();
      facts.losses.cut_chains = row.Number<uint64_t>();
      const auto sum = sums_.find({question_.tells_hosts_apart ? facts.host : "", time});
      if (sum != sums_.end()) sum->second.builder.AddFacts(facts);
    }
    return row.ok() ? absl::OkStatus() : NoAnswer();
  }

  std::vector<Window> Finish() && {
    std::vector<Window> windows;
    size_t without_facts = 0;
    for (auto& [key, sum] : sums_) {
      if (!sum.builder.has_facts()) {
        ++without_facts;
        sum.builder.window().host = key.first;
        sum.builder.window().begin = key.second;
      }
      windows.push_back(std::move(sum.builder).Finish());
    }
    if (unknown_ != 0) {
      notes_->push_back(absl::StrCat(unknown_, unknown_ == 1 ? " stack is" : " stacks are",
                                     " missing in the table `stacks` and shown as [unknown]"));
    }
    if (without_facts != 0) {
      notes_->push_back(
          absl::StrCat(without_facts, without_facts == 1 ? " window is" : " windows are",
                       " missing in the table `windows`; times and rates are unknown"));
    }
    return windows;
  }

 private:
  struct Sum {
    WindowBuilder builder;
    absl::flat_hash_map<uint64_t, uint32_t> stacks;  // keyed by hash
  };

  UnixTime TimeIn(RowReader& row) const {
    if (!question_.tells_times_apart) return 0;
    const UnixTime seconds = row.Number<uint32_t>();
    return seconds * kNanosecondsPerSecond + row.Number<uint32_t>();
  }

  uint32_t StackIn(Sum& sum, uint64_t hash) {
    const auto [known, is_new] = sum.stacks.try_emplace(hash, kNoCaller);
    if (!is_new) return known->second;
    uint32_t stack = kNoCaller;
    if (const auto names = stacks_.find(hash); names != stacks_.end()) {
      const auto& [functions, images] = names->second;
      for (size_t i = 0; i < functions.size(); ++i) {
        stack = sum.builder.Stack(stack, functions[i], images[i]);
      }
    } else {
      ++unknown_;
      stack = sum.builder.Stack(stack, kUnknownFunction, kUnknownFunction);
    }
    return known->second = stack;
  }

  const StacksQuestion& question_;
  std::vector<std::string>* const notes_;
  absl::flat_hash_map<uint64_t, Names> stacks_;
  std::map<Key, Sum> sums_;
  size_t unknown_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Window>> WindowsOf(const StacksAnswer& answer,
                                              const StacksQuestion& question,
                                              std::vector<std::string>* notes) {
  Reader reader(question, notes);
  PROFILER_RETURN_IF_ERROR(reader.ReadStacks(answer.stacks));
  PROFILER_RETURN_IF_ERROR(reader.ReadRows(answer.rows));
  PROFILER_RETURN_IF_ERROR(reader.ReadWindows(answer.windows));
  return std::move(reader).Finish();
}

}  // namespace profiler::fleet::clickhouse
