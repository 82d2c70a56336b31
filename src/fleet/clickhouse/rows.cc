#include "src/fleet/clickhouse/rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"

namespace profiler::fleet::clickhouse {
namespace {

void AppendTime(const RowTime& time, RowWriter& row) {
  row.Number(time.day);
  row.Number(time.second);
  row.Number(time.nanosecond);
}

void AppendLabels(const Window& window, RowWriter& row) {
  row.Size(window.labels.size());
  for (const auto& [key, value] : window.labels) row.Text(key);
  row.Size(window.labels.size());
  for (const auto& [key, value] : window.labels) row.Text(value);
}

void AppendStack(const Window& window, uint32_t leaf, std::vector<uint32_t>& path, RowWriter& row) {
  path.clear();
  for (uint32_t at = leaf; at != kNoCaller; at = window.stacks[at].caller) {
    path.push_back(window.stacks[at].frame);
  }
  row.Text(window.strings[window.frames[path.front()].function]);
  row.Size(path.size());
  for (size_t i = path.size(); i-- > 0;) row.Text(window.strings[window.frames[path[i]].function]);
  row.Size(path.size());
  for (size_t i = path.size(); i-- > 0;) row.Text(window.strings[window.frames[path[i]].image]);
}

SampleGroup GroupOf(const Window& window, const RowTime& time, const Row& row) {
  const Workload& workload = window.workloads[row.workload];
  const auto text = [&window](StringId id) { return std::string(window.strings[id]); };
  return {.service = text(workload.service),
          .time = time,
          .host = window.host,
          .event = text(window.events[row.event].name),
          .program = text(workload.program),
          .container = text(workload.container),
          .pod = text(workload.pod),
          .build_id = text(workload.build_id)};
}

}  // namespace

absl::StatusOr<RowTime> RowTimeOf(UnixTime time) {
  const int64_t seconds = time / kNanosecondsPerSecond;
  if (time < 0 || seconds > UINT32_MAX) {
    return absl::OutOfRangeError(absl::StrCat("a window begins ", seconds,
                                              " seconds after 1970, outside the range of ",
                                              "ClickHouse's DateTime; check the machine's clock"));
  }
  return RowTime{.day = static_cast<uint16_t>(seconds / kSecondsOfDay),
                 .second = static_cast<uint32_t>(seconds),
                 .nanosecond = static_cast<uint32_t>(time % kNanosecondsPerSecond)};
}

absl::StatusOr<Batch> Batch::Of(std::span<const Window> windows) {
  Batch batch;
  batch.windows_ = windows;
  for (size_t i = 0; i < windows.size(); ++i) PROFILER_RETURN_IF_ERROR(batch.Add(i));
  return batch;
}

absl::Status Batch::Add(size_t number) {
  const Window& window = windows_[number];
  PROFILER_ASSIGN_OR_RETURN(const RowTime time, RowTimeOf(window.begin));
  first_ = number == 0 ? time : std::min(first_, time);
  last_ = std::max(last_, time);
  end_ = std::max(end_, window.begin + static_cast<UnixTime>(window.length));
  hashes_.push_back(StackHashes(window));
  // Most rows of a window belong to few workloads, so each group is looked up once.
  std::vector<Group*> known(window.events.size() * window.workloads.size());
  for (const Row& row : window.rows) {
    Group*& group = known[row.event * window.workloads.size() + row.workload];
    if (group == nullptr) {
      group = &groups_[GroupOf(window, time, row)];
      group->window = number;
    }
    const auto [sum, is_new] = group->rows.try_emplace(hashes_[number][row.stack]);
    sum->second.samples += row.samples;
    sum->second.value += row.value;
    if (is_new) ++sample_rows_;
  }
  return absl::OkStatus();
}

Rows Batch::StackRows(const SentStacks& sent, std::vector<SentStacks::Stack>* fresh) const {
  // Key: day and hash of a stack. Value: the first window with this stack, and the stack's index.
  std::map<SentStacks::Stack, std::pair<const Window*, uint32_t>> stacks;
  for (size_t i = 0; i < windows_.size(); ++i) {
    const auto day =
        static_cast<uint16_t>(windows_[i].begin / kNanosecondsPerSecond / kSecondsOfDay);
    for (const Row& row : windows_[i].rows) {
      const SentStacks::Stack stack = {day, hashes_[i][row.stack]};
      if (!sent.Contains(stack)) stacks.try_emplace(stack, &windows_[i], row.stack);
    }
  }
  Rows rows;
  RowWriter row(rows.body);
  std::vector<uint32_t> path;
  for (const auto& [stack, place] : stacks) {
    row.Number(stack.first);
    row.Number(stack.second);
    AppendStack(*place.first, place.second, path, row);
    fresh->push_back(stack);
  }
  rows.rows = stacks.size();
  return rows;
}

Rows Batch::WindowRows() const {
  std::vector<const Window*> windows;
  for (const Window& window : windows_) windows.push_back(&window);
  std::ranges::stable_sort(windows, [](const Window* a, const Window* b) {
    return std::tie(a->host, a->begin) < std::tie(b->host, b->begin);
  });
  Rows rows;
  RowWriter row(rows.body);
  for (const Window* window : windows) {
    AppendTime(RowTimeOf(window->begin).value_or(RowTime()), row);
    row.Text(window->host);
    AppendLabels(*window, row);
    row.Number(window->length);
    row.Number(window->frequency);
    row.Number(window->cpus);
    row.Text(window->version);
    row.Number(window->losses.lost_samples);
    row.Number(window->losses.chains);
    row.Number(window->losses.cut_chains);
  }
  rows.rows = windows.size();
  return rows;
}

Rows Batch::SampleRows() const {
  Rows rows;
  RowWriter row(rows.body);
  // The columns that all rows of a group share, up to the stack's hash.
  std::string common;
  for (const auto& [group, content] : groups_) {
    common.clear();
    RowWriter begin(common);
    AppendTime(group.time, begin);
    begin.Text(group.host);
    AppendLabels(windows_[content.window], begin);
    for (const std::string* text : {&group.service, &group.program, &group.container, &group.pod,
                                    &group.build_id, &group.event}) {
      begin.Text(*text);
    }
    for (const auto& [hash, amounts] : content.rows) {
      rows.body += common;
      row.Number(hash);
      row.Number(amounts.samples);
      row.Number(amounts.value);
    }
    rows.rows += content.rows.size();
  }
  return rows;
}

bool Batch::Remove(const SampleGroup& group, uint64_t stack_hash) {
  const auto found = groups_.find(group);
  if (found == groups_.end() || found->second.rows.erase(stack_hash) == 0) return false;
  --sample_rows_;
  return true;
}

std::vector<std::string> Batch::Hosts() const {
  std::set<std::string> hosts;
  for (const Window& window : windows_) hosts.insert(window.host);
  return {hosts.begin(), hosts.end()};
}

std::string_view StackColumns() { return "day, stack_hash, function, frames, images"; }

std::string_view WindowColumns() {
  return "day, ts, nanosecond, host, label_keys, label_values, length, frequency, cpus, version, "
         "lost_samples, chains, cut_chains";
}

std::string_view SampleColumns() {
  return "day, ts, nanosecond, host, label_keys, label_values, service, program, container, pod, "
         "build_id, event, stack_hash, samples, value";
}

}  // namespace profiler::fleet::clickhouse
