#include "ringbuf/event_set.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::ringbuf {
namespace {

// Descriptors to leave for the rest of the process when the limit is raised.
constexpr uint64_t kSpareFiles = 256;
constexpr size_t kNoRing = static_cast<size_t>(-1);

bool IsPowerOfTwo(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::string Count(uint64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// The events and rings of one thread. They join the set only if all of them could be opened.
struct Batch {
  struct Event {
    size_t attr;
    size_t cpu;  // index in EventSetOptions::cpus
    uint64_t id;
    UniqueFd fd;
  };
  struct NewRing {
    size_t cpu;    // index in EventSetOptions::cpus
    size_t event;  // index in `events` of the event that owns the ring
    std::unique_ptr<MappedRing> memory;
  };
  std::vector<Event> events;
  std::vector<NewRing> rings;
};

class PerfEventSet final : public EventSet {
 public:
  PerfEventSet(Kernel& kernel, EventSetOptions options)
      : kernel_(kernel),
        options_(std::move(options)),
        ring_pages_(options_.ring_pages),
        ring_of_cpu_(options_.cpus.size(), kNoRing),
        offline_(options_.cpus.size(), false) {}

  absl::Status AddThread(pid_t tid) override {
    assert(!options_.system_wide);
    return Add(tid);
  }

  absl::Status Add(pid_t tid) {
    Batch batch;
    PROFILER_RETURN_IF_ERROR(OpenEvents(tid, batch));
    PROFILER_RETURN_IF_ERROR(MapNewRings(batch));
    PROFILER_RETURN_IF_ERROR(Connect(batch));
    Commit(tid, std::move(batch));
    return absl::OkStatus();
  }

  const std::vector<Ring>& rings() const override { return rings_; }
  const std::vector<OpenedEvent>& events() const override { return events_; }
  size_t ring_pages() const override { return ring_pages_; }

  std::vector<int> offline_cpus() const override {
    std::vector<int> cpus;
    for (size_t i = 0; i < offline_.size(); ++i) {
      if (offline_[i]) cpus.push_back(options_.cpus[i]);
    }
    return cpus;
  }

  int NextWatch(size_t ring) override {
    WatchPosition& position = watch_positions_[ring];
    while (position.next < events_.size()) {
      const size_t event = position.next++;
      if (events_[event].cpu != rings_[ring].cpu || events_[event].tid == position.tid) continue;
      position.tid = events_[event].tid;
      return fds_[event].get();
    }
    return -1;
  }

  uint64_t MonotonicNow() override { return kernel_.MonotonicNow(); }
  absl::StatusOr<std::vector<Output>> OpenOutputs(const perf_event_attr& attr) override {
    std::vector<Output> outputs;
    std::vector<UniqueFd> opened;
    for (const Ring& ring : rings_) {
      PROFILER_ASSIGN_OR_RETURN(UniqueFd fd, kernel_.OpenEvent(attr, -1, ring.cpu, -1));
      PROFILER_RETURN_IF_ERROR(kernel_.SetOutput(fd.get(), ring.fd));
      PROFILER_ASSIGN_OR_RETURN(const uint64_t id, kernel_.EventId(fd.get()));
      outputs.push_back({ring.cpu, fd.get(), id});
      opened.push_back(std::move(fd));
    }
    for (UniqueFd& fd : opened) outputs_.push_back(std::move(fd));
    return outputs;
  }

  absl::Status SetProgram(size_t attr, int program) override {
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].attr != attr) continue;
      PROFILER_RETURN_IF_ERROR(kernel_.SetProgram(fds_[i].get(), program));
    }
    return absl::OkStatus();
  }

  absl::Status Enable(size_t attr) override { return OnEventsOf(attr, &Kernel::Enable); }
  absl::Status Disable(size_t attr) override { return OnEventsOf(attr, &Kernel::Disable); }

 private:
  // The position of NextWatch. NextWatch skips a thread's other events, because all events of a
  // thread hang up together.
  struct WatchPosition {
    size_t next;
    pid_t tid;
  };

  absl::Status OpenEvents(pid_t tid, Batch& batch) {
    absl::Status offline;
    batch.events.reserve(options_.attrs.size() * options_.cpus.size());
    for (size_t cpu = 0; cpu < options_.cpus.size(); ++cpu) {
      const size_t first_of_cpu = batch.events.size();
      for (size_t attr = 0; attr < options_.attrs.size(); ++attr) {
        if (!IsCountedOn(attr, options_.cpus[cpu])) continue;
        absl::StatusOr<UniqueFd> fd =
            OpenEvent(attr, tid, options_.cpus[cpu], LeaderOf(attr, batch, first_of_cpu));
        if (ErrnoOf(fd.status()) == ENODEV) {
          offline = fd.status();
          offline_[cpu] = true;
          batch.events.resize(first_of_cpu);
          break;
        }
        if (!fd.ok()) return fd.status();
        if (!options_.filters.empty() && !options_.filters[attr].empty()) {
          PROFILER_RETURN_IF_ERROR(kernel_.SetFilter(fd->get(), options_.filters[attr]));
        }
        batch.events.push_back({attr, cpu, 0, *std::move(fd)});
      }
    }
    return batch.events.empty() ? offline : absl::OkStatus();
  }

  bool IsCountedOn(size_t attr, int cpu) const {
    if (options_.attr_cpus.empty() || options_.attr_cpus[attr].empty()) return true;
    const std::vector<int>& cpus = options_.attr_cpus[attr];
    return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  }

  // Returns the descriptor of the leader among the events of this thread and CPU, which begin at
  // `first`; −1 if `attr` leads.
  int LeaderOf(size_t attr, const Batch& batch, size_t first) const {
    if (options_.leaders.empty() || options_.leaders[attr] == attr) return -1;
    for (size_t i = first; i < batch.events.size(); ++i) {
      if (batch.events[i].attr == options_.leaders[attr]) return batch.events[i].fd.get();
    }
    return -1;
  }

  // Opens one event, and raises the limit on descriptors when it is reached.
  absl::StatusOr<UniqueFd> OpenEvent(size_t attr, pid_t tid, int cpu, int group_fd) {
    const bool is_of_cgroup = !options_.cgroups.empty() && options_.cgroups[attr] != -1;
    const pid_t whom = is_of_cgroup ? options_.cgroups[attr] : tid;
    const unsigned long flags = is_of_cgroup ? PERF_FLAG_PID_CGROUP : 0;
    while (true) {
      absl::StatusOr<UniqueFd> fd =
          kernel_.OpenEvent(options_.attrs[attr], whom, cpu, group_fd, flags);
      if (ErrnoOf(fd.status()) != EMFILE) return fd;
      const uint64_t limit = kernel_.FileLimit();
      if (kernel_.RaiseFileLimit(FilesWanted(limit)) <= limit) return TooFewFiles(limit);
    }
  }

  size_t Threads() const {
    return options_.system_wide ? 1 : std::max(options_.expected_threads, threads_ + 1);
  }
  uint64_t FilesNeeded() const {
    return static_cast<uint64_t>(Threads()) * options_.cpus.size() * options_.attrs.size();
  }
  // Returns the limit to ask for when `limit` descriptors are in use, events_ included. Doubling
  // keeps the calls few if expected_threads was too low.
  uint64_t FilesWanted(uint64_t limit) const {
    const uint64_t to_come = FilesNeeded() - std::min<uint64_t>(FilesNeeded(), events_.size());
    return std::max(limit + to_come + kSpareFiles, 2 * limit);
  }

  absl::Status TooFewFiles(uint64_t limit) const {
    const uint64_t to_come = FilesNeeded() - std::min<uint64_t>(FilesNeeded(), events_.size());
    return ErrnoStatus(
        EMFILE,
        absl::StrCat(Count(Threads(), "thread"), " x ", Count(options_.cpus.size(), "CPU"), " x ",
                     Count(options_.attrs.size(), "event"), " need ",
                     Count(FilesNeeded(), "file descriptor"), " and the limit is ", limit),
        absl::StrCat("raise it with `ulimit -n ", limit + to_come + kSpareFiles, "`"));
  }

  // Maps a ring for each CPU that has none yet, all of one size.
  absl::Status MapNewRings(Batch& batch) {
    for (size_t i = 0; i < batch.events.size(); ++i) {
      const size_t cpu = batch.events[i].cpu;
      const bool first_of_cpu = i == 0 || batch.events[i - 1].cpu != cpu;
      if (first_of_cpu && ring_of_cpu_[cpu] == kNoRing) batch.rings.push_back({cpu, i, nullptr});
    }
    size_t pages = ring_pages_;
    while (true) {
      absl::Status status = MapAll(batch, pages);
      if (status.ok()) break;
      const bool smaller_may_do = ErrnoOf(status) == EPERM || ErrnoOf(status) == ENOMEM;
      if (!smaller_may_do) return status;
      const bool may_halve = options_.min_ring_pages != 0 && pages / 2 >= options_.min_ring_pages;
      if (!may_halve) return RingRefused(status, pages);
      pages /= 2;
    }
    ring_pages_ = pages;
    return absl::OkStatus();
  }

  absl::Status MapAll(Batch& batch, size_t pages) {
    for (Batch::NewRing& ring : batch.rings) {
      absl::StatusOr<std::unique_ptr<MappedRing>> memory =
          kernel_.MapRing(batch.events[ring.event].fd.get(), pages);
      if (!memory.ok()) {
        for (Batch::NewRing& mapped : batch.rings) mapped.memory.reset();
        return memory.status();
      }
      ring.memory = *std::move(memory);
    }
    return absl::OkStatus();
  }

  absl::Status RingRefused(const absl::Status& status, size_t pages) {
    const uint64_t kib = (pages + 1) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
    const uint64_t limit = kernel_.RingMemoryLimitKib();
    std::string remedy = "take smaller rings with `-m SIZE`";
    if (ErrnoOf(status) == EPERM && limit != 0) {
      // A ring that is smaller than the limit is refused only if other recordings of this user use
      // a part of the limit. They use at most all of it.
      const uint64_t enough = kib > limit ? kib : limit + kib;
      absl::StrAppend(&remedy,
                      ", or raise the limit with `sysctl kernel.perf_event_mlock_kb=", enough,
                      "` (now ", limit, ")");
    }
    return ErrnoStatus(ErrnoOf(status), absl::StrCat("mapping a ring of ", kib, " KiB a CPU"),
                       remedy);
  }

  // Redirects all events except the owners into their CPU's ring, and reads the event ids.
  absl::Status Connect(Batch& batch) {
    auto new_ring = batch.rings.begin();
    int ring_fd = -1;
    for (size_t i = 0; i < batch.events.size(); ++i) {
      Batch::Event& event = batch.events[i];
      const size_t ring = ring_of_cpu_[event.cpu];
      if (ring != kNoRing) ring_fd = rings_[ring].fd;
      const bool owner = new_ring != batch.rings.end() && new_ring->event == i;
      if (owner) {
        ring_fd = event.fd.get();
        ++new_ring;
      } else {
        PROFILER_RETURN_IF_ERROR(kernel_.SetOutput(event.fd.get(), ring_fd));
      }
      PROFILER_ASSIGN_OR_RETURN(event.id, kernel_.EventId(event.fd.get()));
    }
    return absl::OkStatus();
  }

  void Commit(pid_t tid, Batch batch) {
    for (Batch::NewRing& ring : batch.rings) {
      ring_of_cpu_[ring.cpu] = rings_.size();
      rings_.push_back(
          {options_.cpus[ring.cpu], batch.events[ring.event].fd.get(), std::move(ring.memory)});
      watch_positions_.push_back({events_.size(), tid});
    }
    for (Batch::Event& event : batch.events) {
      events_.push_back({event.attr, tid, options_.cpus[event.cpu], event.id});
      fds_.push_back(std::move(event.fd));
    }
    ++threads_;
  }

  absl::Status OnEventsOf(size_t attr, absl::Status (Kernel::*operation)(int)) {
    absl::Status first_error;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].attr == attr) first_error.Update((kernel_.*operation)(fds_[i].get()));
    }
    return first_error;
  }

  Kernel& kernel_;
  const EventSetOptions options_;
  size_t ring_pages_;
  size_t threads_ = 0;
  std::vector<size_t> ring_of_cpu_;  // [i]: index in rings_ for options_.cpus[i], or kNoRing
  std::vector<bool> offline_;        // [i]: true if CPU options_.cpus[i] was offline once
  std::vector<Ring> rings_;
  std::vector<WatchPosition> watch_positions_;  // [i]: the position in rings_[i]
  std::vector<OpenedEvent> events_;
  std::vector<UniqueFd> fds_;  // [i]: the descriptor of events_[i]
  std::vector<UniqueFd> outputs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EventSet>> EventSet::Create(Kernel& kernel,
                                                           EventSetOptions options) {
  if (options.attrs.empty()) return absl::InvalidArgumentError("no events to open");
  if (options.cpus.empty()) return absl::InvalidArgumentError("no CPUs to record on");
  if (!IsPowerOfTwo(options.ring_pages)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ring of ", options.ring_pages, " pages: must be a power of two"));
  }
  const bool system_wide = options.system_wide;
  auto set = std::make_unique<PerfEventSet>(kernel, std::move(options));
  if (system_wide) PROFILER_RETURN_IF_ERROR(set->Add(-1));
  return set;
}

}  // namespace profiler::ringbuf
