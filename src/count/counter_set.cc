#include "src/count/counter_set.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/unique_fd.h"
#include "src/machine/target/refusal.h"

namespace profiler::count {
namespace {

// Layout of read(2) for a group:    nr     enabled  running  value of the leader  of the next …
//                   for one event:  value  enabled  running
constexpr uint64_t kTimes = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
constexpr size_t kWordsBeforeValues = 3;
// Number of descriptors that the program needs besides the counters: for its files, the event loop
// and the command.
constexpr size_t kDescriptorsBeside = 64;

class OpenedCounters final : public CounterSet {
 public:
  OpenedCounters(ringbuf::Kernel& kernel, std::vector<CounterEvent> events,
                 std::vector<CounterPlace> places)
      : kernel_(kernel),
        events_(std::move(events)),
        places_(std::move(places)),
        counters_(events_.size() * places_.size()),
        supported_(events_.size(), false),
        user_only_(events_.size(), false) {}

  absl::Status OpenAll() {
    kernel_.RaiseFileLimit(counters_.size() + kDescriptorsBeside);
    // Splitting a weak group adds leaders, so the present leaders are listed beforehand.
    std::vector<size_t> leaders;
    for (size_t event = 0; event < events_.size(); ++event) {
      if (events_[event].leader == event) leaders.push_back(event);
    }
    for (const size_t leader : leaders) PROFILER_RETURN_IF_ERROR(OpenGroup(leader));
    if (gone_ < places_.size()) return absl::OkStatus();
    return ErrnoStatus(ESRCH, "all threads to count have ended");
  }

  bool is_supported(size_t event) const override { return supported_[event]; }
  bool excludes_kernel(size_t event) const override { return user_only_[event]; }
  absl::Status Enable() override { return ForEachLeader(&ringbuf::Kernel::Enable); }
  absl::Status Disable() override { return ForEachLeader(&ringbuf::Kernel::Disable); }

  absl::StatusOr<std::vector<Count>> Read() const override {
    std::vector<Count> counts(counters_.size());
    for (size_t event = 0; event < events_.size(); ++event) {
      for (size_t place = 0; place < places_.size(); ++place) {
        if (!counter(event, place).fd.valid() || !counter(event, place).is_read) continue;
        PROFILER_RETURN_IF_ERROR(ReadCounter(event, place, counts));
      }
    }
    return counts;
  }

 private:
  struct Counter {
    UniqueFd fd;
    // True if a read(2) of `fd` returns the count of this event, or the counts of its group.
    bool is_read = false;
    std::vector<size_t> members;  // events whose counts that read(2) returns, in this order
  };

  Counter& counter(size_t event, size_t place) { return counters_[event * places_.size() + place]; }
  const Counter& counter(size_t event, size_t place) const {
    return counters_[event * places_.size() + place];
  }

  std::vector<size_t> MembersOf(size_t leader) const {
    std::vector<size_t> members;
    for (size_t event = leader; event < events_.size(); ++event) {
      if (events_[event].leader == leader) members.push_back(event);
    }
    return members;
  }

  absl::Status OpenGroup(size_t leader) {
    const std::vector<size_t> members = MembersOf(leader);
    absl::Status opened = OpenMembers(members);
    if (opened.ok() || members.size() == 1 || !events_[leader].weak) return opened;
    for (const size_t member : members) {
      Close(member);
      events_[member].leader = member;
      PROFILER_RETURN_IF_ERROR(OpenMembers({member}));
    }
    return absl::OkStatus();
  }

  void Close(size_t event) {
    for (size_t place = 0; place < places_.size(); ++place) counter(event, place) = Counter();
  }

  absl::Status OpenMembers(const std::vector<size_t>& members) {
    for (size_t place = 0; place < places_.size(); ++place) {
      std::optional<size_t> leader;
      for (const size_t event : members) {
        PROFILER_RETURN_IF_ERROR(OpenAt(event, place, members.size() > 1, &leader));
      }
    }
    return absl::OkStatus();
  }

  // Opens an event at a place. The first event of a group that can be opened becomes the group's
  // leader.
  absl::Status OpenAt(size_t event, size_t place, bool in_group, std::optional<size_t>* leader) {
    const CounterPlace& where = places_[place];
    const std::vector<int>& cpus = events_[event].cpus;
    if (where.cpu != -1 && !cpus.empty() &&
        std::find(cpus.begin(), cpus.end(), where.cpu) == cpus.end()) {
      return absl::OkStatus();
    }
    Counter& opened = counter(event, place);
    const int group_fd = leader->has_value() ? counter(**leader, place).fd.get() : -1;
    auto fd = OpenEvent(event, where, in_group, group_fd);
    if (!fd.ok()) {
      const int error = ErrnoOf(fd.status());
      if (error == ESRCH) {
        if (!leader->has_value() && event == 0) ++gone_;
        return absl::OkStatus();
      }
      return target::IsMissing(error) ? absl::OkStatus() : fd.status();
    }
    opened.fd = *std::move(fd);
    if (const std::string& filter = events_[event].filter; !filter.empty()) {
      PROFILER_RETURN_IF_ERROR(kernel_.SetFilter(opened.fd.get(), filter));
    }
    supported_[event] = true;
    if (!leader->has_value() || !reads_groups_) {
      opened.is_read = true;
      opened.members = {event};
      if (!leader->has_value()) *leader = event;
    } else {
      counter(**leader, place).members.push_back(event);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<UniqueFd> OpenEvent(size_t event, const CounterPlace& where, bool in_group,
                                     int group_fd) {
    perf_event_attr& attr = events_[event].attr;
    for (;;) {
      attr.read_format = kTimes;
      if (in_group && reads_groups_) attr.read_format |= PERF_FORMAT_GROUP;
      // Only the leader starts disabled; its members start with it.
      perf_event_attr member = attr;
      if (group_fd != -1) member.disabled = member.enable_on_exec = 0;
      const int cgroup = events_[event].cgroup;
      auto fd = cgroup == -1
                    ? kernel_.OpenEvent(member, where.tid, where.cpu, group_fd)
                    : kernel_.OpenEvent(member, cgroup, where.cpu, group_fd, PERF_FLAG_PID_CGROUP);
      if (fd.ok()) return fd;
      const int error = ErrnoOf(fd.status());
      if (target::IsRefusal(error) && !attr.exclude_kernel && !attr.exclude_user) {
        attr.exclude_kernel = attr.exclude_hv = 1;
        user_only_[event] = true;
      } else if (error == EINVAL && in_group && reads_groups_ && group_fd == -1) {
        // Before Linux 6.13, one read(2) cannot return the counts of an inherited group.
        reads_groups_ = false;
      } else {
        return fd;
      }
    }
  }

  absl::Status ForEachLeader(absl::Status (ringbuf::Kernel::*call)(int fd)) {
    for (size_t event = 0; event < events_.size(); ++event) {
      for (size_t place = 0; place < places_.size(); ++place) {
        const Counter& at = counter(event, place);
        if (at.fd.valid() && at.is_read) PROFILER_RETURN_IF_ERROR((kernel_.*call)(at.fd.get()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCounter(size_t event, size_t place, std::vector<Count>& counts) const {
    const Counter& at = counter(event, place);
    const bool is_group = (events_[event].attr.read_format & PERF_FORMAT_GROUP) != 0;
    std::vector<uint64_t> words(kWordsBeforeValues + (is_group ? at.members.size() : 0));
    PROFILER_ASSIGN_OR_RETURN(
        const size_t size,
        kernel_.ReadCounter(at.fd.get(), std::as_writable_bytes(std::span(words))));
    // read(2) returns end of file for a pinned group that has lost its counters.
    if (size < words.size() * sizeof(uint64_t)) return absl::OkStatus();
    for (size_t i = 0; i < at.members.size(); ++i) {
      counts[at.members[i] * places_.size() + place] = {
          .value = is_group ? words[kWordsBeforeValues + i] : words[0],
          .enabled = words[1],
          .running = words[2]};
    }
    return absl::OkStatus();
  }

  ringbuf::Kernel& kernel_;
  std::vector<CounterEvent> events_;
  std::vector<CounterPlace> places_;
  std::vector<Counter> counters_;  // index: event · (number of places) + place
  std::vector<bool> supported_;
  std::vector<bool> user_only_;
  bool reads_groups_ = true;
  size_t gone_ = 0;
};

}  // namespace

Count& Count::operator+=(const Count& other) {
  value += other.value;
  enabled += other.enabled;
  running += other.running;
  return *this;
}

Count Count::operator-(const Count& before) const {
  return {value - before.value, enabled - before.enabled, running - before.running};
}

double Count::scaled() const {
  if (running == 0) return 0;
  return std::round(static_cast<double>(value) * static_cast<double>(enabled) /
                    static_cast<double>(running));
}

absl::StatusOr<std::unique_ptr<CounterSet>> CounterSet::Open(ringbuf::Kernel& kernel,
                                                             std::vector<CounterEvent> events,
                                                             std::vector<CounterPlace> places) {
  auto set = std::make_unique<OpenedCounters>(kernel, std::move(events), std::move(places));
  PROFILER_RETURN_IF_ERROR(set->OpenAll());
  return set;
}

}  // namespace profiler::count
