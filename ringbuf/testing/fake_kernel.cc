#include "ringbuf/testing/fake_kernel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::ringbuf {
namespace {

class FakeMapping final : public MappedRing {
 public:
  explicit FakeMapping(std::shared_ptr<FakeRing> ring) : ring_(std::move(ring)) {}
  RingView& view() override { return ring_->view(); }

 private:
  std::shared_ptr<FakeRing> ring_;
};

bool SameRing(const std::weak_ptr<FakeRing>& a, const std::shared_ptr<FakeRing>& b) {
  return b != nullptr && a.lock() == b;
}

}  // namespace

void FakeKernel::FailCall(Call call, uint64_t nth, int error) {
  CallState& state = calls_[static_cast<size_t>(call)];
  state.failures[state.count + nth] = error;
}

void FakeKernel::SetOffline(int cpu, bool offline) {
  if (offline) {
    offline_.insert(cpu);
  } else {
    offline_.erase(cpu);
  }
}

void FakeKernel::SetFileLimit(uint64_t soft, uint64_t hard) {
  soft_file_limit_ = soft;
  hard_file_limit_ = hard;
}

bool FakeKernel::Publish(int cpu, std::span<const std::byte> record) {
  const bool written = ring(cpu).Publish(record);
  if (written) Wake(cpu);
  return written;
}

bool FakeKernel::PublishQuietly(int cpu, std::span<const std::byte> record) {
  return ring(cpu).Publish(record);
}

void FakeKernel::Wake(int cpu) {
  const std::shared_ptr<FakeRing> ring = rings_[cpu].lock();
  for (auto& [fd, event] : events_) {
    if (!event.signal.valid() || !SameRing(event.ring, ring) || !IsOpen(fd, event)) continue;
    // perf wakes its waiters each time, but epoll sees an edge only if an empty pipe fills. So an
    // unread byte is taken out first.
    Consume(fd, event);
    event.woken = write(event.signal.get(), "!", 1) == 1;
  }
}

void FakeKernel::ConsumeReadiness() {
  for (auto& [fd, event] : events_) {
    if (IsOpen(fd, event)) Consume(fd, event);
  }
}

void FakeKernel::Consume(int fd, Event& event) {
  char byte;
  if (event.woken) event.woken = read(fd, &byte, 1) != 1;
}

void FakeKernel::HangUp(pid_t tid) {
  // A perf event that has hung up is never readable, but a pipe with a byte in it is.
  ConsumeReadiness();
  for (auto& [fd, event] : events_) {
    if (event.pid == tid) event.signal.Reset();
  }
}

FakeRing& FakeKernel::ring(int cpu) {
  const std::shared_ptr<FakeRing> ring = rings_[cpu].lock();
  assert(ring != nullptr);
  return *ring;  // kept alive by its mapping
}

bool FakeKernel::has_ring(int cpu) const {
  const auto it = rings_.find(cpu);
  return it != rings_.end() && !it->second.expired();
}

size_t FakeKernel::open_events() const {
  return std::count_if(events_.begin(), events_.end(),
                       [this](const auto& entry) { return IsOpen(entry.first, entry.second); });
}

std::string FakeKernel::GroupOf(const Event& event) const {
  const auto leader = events_.find(event.group_fd);
  return leader == events_.end() ? "" : absl::StrCat(" in the group of ", leader->second.id);
}

std::string FakeKernel::Describe() const {
  std::map<uint64_t, std::string> lines;
  for (const auto& [fd, event] : events_) {
    if (!IsOpen(fd, event)) continue;
    const char* output = event.owns_ring        ? " owns the ring of cpu "
                         : event.ring.expired() ? " no ring on cpu "
                                                : " -> ring of cpu ";
    lines[event.id] = absl::StrCat(
        "id ", event.id, ": ", event.is_of_cgroup ? "cgroup" : absl::StrCat("tid ", event.pid),
        " config ", event.attr.config, event.enabled ? " enabled" : " disabled", GroupOf(event),
        event.filter.empty() ? "" : " if " + event.filter,
        event.program == -1 ? "" : absl::StrCat(" runs program ", event.program), output, event.cpu,
        "\n");
  }
  std::string text;
  for (const auto& [id, line] : lines) text += line;
  return text;
}

absl::StatusOr<UniqueFd> FakeKernel::OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                               int group_fd, unsigned long flags) {
  if (filter_error_ != 0) return ErrnoStatus(filter_error_, "perf_event_open");
  constexpr unsigned long kKnownFlags =
      PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
  if ((flags & ~kKnownFlags) != 0) return ErrnoStatus(EINVAL, "perf_event_open");
  if (int error = Begin(Call::kOpenEvent)) return ErrnoStatus(error, "perf_event_open");
  if (gone_.contains(pid)) return ErrnoStatus(ESRCH, "perf_event_open");
  if (offline_.contains(cpu)) return ErrnoStatus(ENODEV, "perf_event_open");
  if (group_fd != -1 && Find(group_fd) == nullptr) return ErrnoStatus(EBADF, "perf_event_open");
  if (soft_file_limit_ != UINT64_MAX && open_events() >= soft_file_limit_) {
    return ErrnoStatus(EMFILE, "perf_event_open");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoStatus(errno, "pipe2");
  struct stat status;
  if (fstat(ends[0], &status) != 0) return ErrnoStatus(errno, "fstat");
  Event event;
  event.pipe = status.st_ino;
  event.attr = attr;
  event.pid = pid;
  event.cpu = cpu;
  event.group_fd = group_fd;
  event.is_of_cgroup = (flags & PERF_FLAG_PID_CGROUP) != 0;
  event.id = next_id_++;
  event.enabled = attr.disabled == 0;
  event.signal = UniqueFd(ends[1]);
  events_.insert_or_assign(ends[0], std::move(event));
  return UniqueFd(ends[0]);
}

absl::Status FakeKernel::SetFilter(int fd, const std::string& filter) {
  if (int error = Begin(Call::kSetFilter)) return ErrnoStatus(error, "PERF_EVENT_IOC_SET_FILTER");
  Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "PERF_EVENT_IOC_SET_FILTER");
  event->filter = filter;
  return absl::OkStatus();
}

absl::Status FakeKernel::SetProgram(int fd, int program) {
  constexpr char kName[] = "PERF_EVENT_IOC_SET_BPF";
  if (int error = Begin(Call::kSetProgram)) return ErrnoStatus(error, kName);
  Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, kName);
  if (event->program != -1) return ErrnoStatus(EEXIST, kName);
  event->program = program;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FakeKernel::EventId(int fd) {
  if (int error = Begin(Call::kEventId)) return ErrnoStatus(error, "PERF_EVENT_IOC_ID");
  const Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "PERF_EVENT_IOC_ID");
  return event->id;
}

absl::Status FakeKernel::SetOutput(int fd, int ring_fd) {
  constexpr char kName[] = "PERF_EVENT_IOC_SET_OUTPUT";
  if (int error = Begin(Call::kSetOutput)) return ErrnoStatus(error, kName);
  Event* event = Find(fd);
  const Event* output = Find(ring_fd);
  if (event == nullptr || output == nullptr) return ErrnoStatus(EBADF, kName);
  const bool allowed = event != output && event->cpu == output->cpu && !event->owns_ring &&
                       !output->ring.expired() &&
                       event->attr.use_clockid == output->attr.use_clockid &&
                       event->attr.clockid == output->attr.clockid;
  if (!allowed) return ErrnoStatus(EINVAL, kName);
  event->ring = output->ring;
  return absl::OkStatus();
}

absl::Status FakeKernel::Enable(int fd) {
  if (int error = Begin(Call::kEnable)) return ErrnoStatus(error, "PERF_EVENT_IOC_ENABLE");
  Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "PERF_EVENT_IOC_ENABLE");
  event->enabled = true;
  return absl::OkStatus();
}

absl::Status FakeKernel::Disable(int fd) {
  if (int error = Begin(Call::kDisable)) return ErrnoStatus(error, "PERF_EVENT_IOC_DISABLE");
  Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "PERF_EVENT_IOC_DISABLE");
  event->enabled = false;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<MappedRing>> FakeKernel::MapRing(int fd, size_t data_pages) {
  constexpr char kName[] = "mmap of a ring";
  if (int error = Begin(Call::kMapRing)) return ErrnoStatus(error, kName);
  Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, kName);
  if (event->cpu == -1 && event->attr.inherit != 0) return ErrnoStatus(EINVAL, kName);
  if (data_pages == 0 || (data_pages & (data_pages - 1)) != 0) return ErrnoStatus(EINVAL, kName);
  if (data_pages > largest_ring_) return ErrnoStatus(EPERM, kName);
  auto ring = std::make_shared<FakeRing>(data_pages * kPageSize, ring_start_, event->id);
  event->ring = ring;
  event->owns_ring = true;
  rings_[event->cpu] = ring;
  return std::make_unique<FakeMapping>(std::move(ring));
}

absl::StatusOr<size_t> FakeKernel::ReadCounter(int fd, std::span<std::byte> buffer) {
  if (int error = Begin(Call::kReadCounter)) return ErrnoStatus(error, "reading a counter");
  const Event* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "reading a counter");
  const Counter& counter = counters_[event->attr.config];
  const bool is_group = (event->attr.read_format & PERF_FORMAT_GROUP) != 0;
  std::vector<uint64_t> words = {is_group ? 1 : counter.value, counter.enabled, counter.running};
  if (is_group) words.push_back(counter.value);
  // Values of the group's members, keyed by event id. Ids grow in the order in which events are
  // opened.
  std::map<uint64_t, uint64_t> members;
  for (const auto& [member_fd, member] : events_) {
    if (is_group && member.group_fd == fd && IsOpen(member_fd, member)) {
      members[member.id] = counters_[member.attr.config].value;
    }
  }
  for (const auto& [id, value] : members) words.push_back(value);
  if (is_group) words[0] = words.size() - 3;
  const size_t size = words.size() * sizeof(uint64_t);
  if (size > buffer.size()) return ErrnoStatus(ENOSPC, "reading a counter");
  std::memcpy(buffer.data(), words.data(), size);
  return size;
}

uint64_t FakeKernel::RaiseFileLimit(uint64_t wanted) {
  soft_file_limit_ = std::max(soft_file_limit_, std::min(wanted, hard_file_limit_));
  return soft_file_limit_;
}

int FakeKernel::Begin(Call call) {
  CallState& state = calls_[static_cast<size_t>(call)];
  const auto failure = state.failures.find(++state.count);
  return failure == state.failures.end() ? 0 : failure->second;
}

FakeKernel::Event* FakeKernel::Find(int fd) {
  const auto it = events_.find(fd);
  return it != events_.end() && IsOpen(fd, it->second) ? &it->second : nullptr;
}

bool FakeKernel::IsOpen(int fd, const Event& event) const {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == event.pipe;
}

}  // namespace profiler::ringbuf
