#include "src/fleet/segments/window_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace profiler::fleet {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Returns the number of `key`. A new key gets the next number, and `make` adds its entry to
// `table`.
template <class Map, class Table, class Make>
uint32_t NumberOf(Map& numbers, const typename Map::key_type& key, Table& table, Make make) {
  const auto [known, is_new] = numbers.try_emplace(key, static_cast<uint32_t>(table.size()));
  if (is_new) table.push_back(make());
  return known->second;
}

}  // namespace

void WindowBuilder::AddFacts(const Window& facts) {
  if (!std::exchange(has_facts_, true)) {
    window_.host = facts.host;
    window_.labels = facts.labels;
    window_.begin = facts.begin;
    window_.length = facts.length;
    window_.frequency = facts.frequency;
    window_.cpus = facts.cpus;
    window_.version = facts.version;
    window_.losses = facts.losses;
    return;
  }
  const UnixTime end = std::max(window_.begin + static_cast<UnixTime>(window_.length),
                                facts.begin + static_cast<UnixTime>(facts.length));
  window_.begin = std::min(window_.begin, facts.begin);
  window_.length = static_cast<uint64_t>(end - window_.begin);
  if (window_.host != facts.host) window_.host.clear();
  if (window_.host.empty() || window_.cpus != facts.cpus) window_.cpus = 0;
  if (window_.frequency != facts.frequency) window_.frequency = 0;
  if (window_.version != facts.version) window_.version.clear();
  if (window_.labels != facts.labels) {
    decltype(window_.labels) common;
    std::ranges::set_intersection(window_.labels, facts.labels, std::back_inserter(common));
    window_.labels = std::move(common);
  }
  window_.losses.lost_samples += facts.losses.lost_samples;
  window_.losses.chains += facts.losses.chains;
  window_.losses.cut_chains += facts.losses.cut_chains;
}

uint32_t WindowBuilder::Event(std::string_view name) {
  const StringId id = window_.strings.Intern(name);
  return NumberOf(events_, id, window_.events, [&] { return fleet::Event{.name = id}; });
}

uint32_t WindowBuilder::Workload(const WorkloadNames& names) {
  StringTable& strings = window_.strings;
  const fleet::Workload workload = {.service = strings.Intern(names.service),
                                    .container = strings.Intern(names.container),
                                    .pod = strings.Intern(names.pod),
                                    .program = strings.Intern(names.program),
                                    .build_id = strings.Intern(names.build_id)};
  const WorkloadKey key = {workload.service, workload.container, workload.pod, workload.program,
                           workload.build_id};
  return NumberOf(workloads_, key, window_.workloads, [&] { return workload; });
}

uint32_t WindowBuilder::Frame(const FrameNames& names) {
  StringTable& strings = window_.strings;
  const fleet::Frame frame = {.function = strings.Intern(names.function),
                              .image = strings.Intern(names.image),
                              .type = strings.Intern(names.type),
                              .build_id = strings.Intern(names.build_id)};
  const FrameKey key = {frame.function, frame.image, frame.type, frame.build_id};
  return NumberOf(frames_, key, window_.frames, [&] { return frame; });
}

uint32_t WindowBuilder::Stack(uint32_t caller, uint32_t frame) {
  const uint32_t depth = caller == kNoCaller ? 1 : depths_[caller] + 1;
  if (depth > kMostDepth) return caller;
  return NumberOf(stacks_, {caller, frame}, window_.stacks, [&] {
    depths_.push_back(depth);
    return StackNode{.caller = caller, .frame = frame};
  });
}

void WindowBuilder::Add(const Row& row) {
  const RowKey key = {row.event, row.workload, row.stack};
  const uint32_t number = NumberOf(rows_, key, window_.rows, [&] {
    return Row{.event = row.event, .workload = row.workload, .stack = row.stack};
  });
  window_.rows[number].samples += row.samples;
  window_.rows[number].value += row.value;
}

void WindowBuilder::AddRows(const Window& other, absl::FunctionRef<bool(const Row&)> is_wanted) {
  // Marks the stacks of the wanted rows, and all callers of these stacks; a caller has a lower
  // number.
  std::vector<uint32_t> wanted;
  std::vector<bool> has_stack(other.stacks.size());
  for (uint32_t i = 0; i < other.rows.size(); ++i) {
    if (!is_wanted(other.rows[i])) continue;
    wanted.push_back(i);
    has_stack[other.rows[i].stack] = true;
  }
  for (size_t i = other.stacks.size(); i-- > 0;) {
    if (has_stack[i] && other.stacks[i].caller != kNoCaller)
      has_stack[other.stacks[i].caller] = true;
  }
  const auto text = [&other](StringId id) { return other.strings[id]; };
  std::vector<uint32_t> frames(other.frames.size(), kNone);
  std::vector<uint32_t> stacks(other.stacks.size(), kNone);
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (!has_stack[i]) continue;
    const StackNode& node = other.stacks[i];
    uint32_t& frame = frames[node.frame];
    if (frame == kNone) {
      const fleet::Frame& names = other.frames[node.frame];
      frame = Frame({.function = text(names.function), .image = text(names.image)});
    }
    stacks[i] = Stack(node.caller == kNoCaller ? kNoCaller : stacks[node.caller], frame);
  }
  std::vector<uint32_t> events(other.events.size(), kNone);
  std::vector<uint32_t> workloads(other.workloads.size(), kNone);
  for (const uint32_t i : wanted) {
    const Row& row = other.rows[i];
    if (events[row.event] == kNone) events[row.event] = Event(text(other.events[row.event].name));
    uint32_t& workload = workloads[row.workload];
    if (workload == kNone) {
      const fleet::Workload& names = other.workloads[row.workload];
      workload = Workload({.service = text(names.service),
                           .container = text(names.container),
                           .pod = text(names.pod),
                           .program = text(names.program),
                           .build_id = text(names.build_id)});
    }
    Add({.event = events[row.event],
         .workload = workload,
         .stack = stacks[row.stack],
         .samples = row.samples,
         .value = row.value});
  }
}

}  // namespace profiler::fleet
