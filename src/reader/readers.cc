#include "src/reader/readers.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::reader {
namespace {

constexpr size_t kPage = 4096;

uint64_t Now() {
  constexpr uint64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// The beginning of a file of /proc that has nothing of a process's memory.
std::string BeginningOf(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : -1;
  return size <= 0 ? std::string() : std::string(text.data(), static_cast<size_t>(size));
}

// A letter as in proc_pid_stat(5); 'X' if the process is gone.
char StateOf(const std::string& proc, pid_t pid) {
  const std::string stat = BeginningOf(absl::StrCat(proc, "/", pid, "/stat"));
  const size_t name_end = stat.rfind(") ");
  return name_end == stat.npos || name_end + 2 >= stat.size() ? 'X' : stat[name_end + 2];
}

// The user who started the process: its effective one may be that of a program with a set-user-ID
// bit.
std::optional<uint32_t> UserOf(const std::string& proc, uint32_t pid) {
  const std::string status = BeginningOf(absl::StrCat(proc, "/", pid, "/status"));
  constexpr std::string_view kKey = "\nUid:\t";
  const size_t begin = status.find(kKey);
  uint32_t user = 0;
  if (begin == status.npos) return std::nullopt;
  const char* const first = status.data() + begin + kKey.size();
  const auto [end, error] = std::from_chars(first, status.data() + status.size(), user);
  return error == std::errc() ? std::optional(user) : std::nullopt;
}

std::chrono::nanoseconds CpuTimeOf(pid_t pid) {
  clockid_t clock = 0;
  timespec time = {};
  if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return {};
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Readers::~Readers() {
  if (socket_.valid()) Order(kEnd);
  socket_.Reset();
  if (forker_ > 0) {
    while (waitpid(forker_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (area_ != nullptr) munmap(area_, sizeof(Area));
}

absl::Status Readers::Start() {
  if (std::exchange(is_started_, true)) return started_;
  // Zeroes. Only what is used takes memory.
  void* const area = mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return started_ = ErrnoStatus(errno, "memory for reader processes");
  area_ = static_cast<Area*>(area);
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return started_ = ErrnoStatus(errno, "socketpair");
  }
  const UniqueFd its(ends[0]);
  socket_ = UniqueFd(ends[1]);
  forker_ = fork();
  if (forker_ == 0) RunForker(its.get(), area_->priority, area_->exchanges, options_.read);
  if (forker_ < 0) return started_ = ErrnoStatus(errno, "fork");
  started_ = absl::OkStatus();
  for (; forked_ < 2; ++forked_) Order(static_cast<uint8_t>(kFork | forked_));
  return started_;
}

void Readers::TakeOverPriority() {
  if (!Start().ok()) return;
  sched_param param{};
  sched_getparam(0, &param);
  Priority& priority = area_->priority;
  priority.policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  priority.real_time = param.sched_priority;
  priority.nice = getpriority(PRIO_PROCESS, 0);
  ++priority.version;
}

int64_t Readers::Read(uint32_t pid, uint32_t tid, std::span<const Piece> pieces) {
  if (const int64_t refused = Standing(pid); refused != 0) return refused;
  if (!Start().ok()) return -EAGAIN;
  int64_t all = 0;
  size_t skipped = 0;  // bytes of the first piece that were read
  while (!pieces.empty()) {
    if (current_ >= forked_) return -EAGAIN;
    Exchange& exchange = current();
    size_t count = 0, asked = 0, begin = skipped;
    for (size_t i = 0; i < pieces.size() && count < kMostPieces && asked < kMostBytes; ++i) {
      const size_t size = std::min(pieces[i].bytes.size() - begin, kMostBytes - asked);
      exchange.pieces[count++] = {pieces[i].address + begin, size};
      asked += size;
      begin = 0;
    }
    exchange.pieces_count = static_cast<uint32_t>(count);
    const int64_t result = Ask(pid, tid);
    if (result < 0) return all == 0 ? result : all;
    const size_t read = std::min(static_cast<size_t>(result), asked);
    for (size_t done = 0; done < read;) {
      const std::span<std::byte> to = pieces.front().bytes.subspan(skipped);
      const size_t size = std::min(to.size(), read - done);
      std::memcpy(to.data(), exchange.data.data() + done, size);
      done += size;
      skipped += size;
      if (skipped < pieces.front().bytes.size()) break;
      pieces = pieces.subspan(1);
      skipped = 0;
    }
    while (!pieces.empty() && pieces.front().bytes.empty()) pieces = pieces.subspan(1);
    all += static_cast<int64_t>(read);
    if (read < asked || asked == 0) break;
  }
  return all;
}

int64_t Readers::ReadPages(uint32_t pid, uint32_t tid, uint64_t address,
                           std::span<std::byte> bytes) {
  int64_t all = 0;
  while (!bytes.empty()) {
    std::array<Piece, kMostPieces> pieces;
    size_t count = 0, asked = 0;
    while (count < pieces.size() && asked < bytes.size()) {
      const uint64_t start = address + asked;
      const size_t size = std::min<size_t>(kPage - start % kPage, bytes.size() - asked);
      pieces[count++] = {start, bytes.subspan(asked, size)};
      asked += size;
    }
    const int64_t read = Read(pid, tid, std::span(pieces).first(count));
    if (read < 0) return all == 0 ? read : all;
    all += read;
    if (static_cast<size_t>(read) < asked) break;
    address += asked;
    bytes = bytes.subspan(asked);
  }
  return all;
}

int64_t Readers::Standing(uint32_t pid) const {
  if (waits_.contains(pid)) return -ETIMEDOUT;
  if (!has_refused_) return 0;
  return HasCostTooMany(UserOf(options_.proc, pid)) ? -EACCES : 0;
}

bool Readers::HasCostTooMany(std::optional<uint32_t> user) const {
  if (abandoned_ >= kMostAbandoned) return true;
  if (!user) return false;  // it is gone
  const auto found = of_user_.find(*user);
  if (found != of_user_.end() && found->second >= kMostOfUser) return true;
  return *user != getuid() && of_others_ >= kMostOfOthers;
}

int64_t Readers::Ask(uint32_t pid, uint32_t tid) {
  Exchange& exchange = current();
  exchange.pid = tid;
  const uint32_t number = exchange.asked.load(std::memory_order_relaxed) + 1;
  exchange.asked.store(number, std::memory_order_release);
  WakeWaiter(exchange.asked);
  switch (AwaitAnswer(exchange, number)) {
    case Answer::kGiven:
      return exchange.result;
    case Answer::kWaits:
      CountWait(pid);
      Abandon();
      return -ETIMEDOUT;
    case Answer::kReaderGone:
      Abandon();
      return -EAGAIN;
  }
  return -EAGAIN;
}

Readers::Answer Readers::AwaitAnswer(Exchange& exchange, uint32_t number) const {
  const auto is_given = [&] { return exchange.answered.load(std::memory_order_acquire) == number; };
  for (int round = 0; round < options_.most_rounds; ++round) {
    const uint64_t deadline = Now() + static_cast<uint64_t>(options_.deadline.count());
    do {
      if (is_given()) return Answer::kGiven;
      WaitWhile(exchange.answered, number - 1, &deadline);
    } while (Now() < deadline);
    if (is_given()) return Answer::kGiven;
    const pid_t reader = exchange.process;
    if (reader == 0) continue;  // it is being forked
    const char state = reader < 0 ? 'X' : StateOf(options_.proc, reader);
    if (is_given()) return Answer::kGiven;
    if (state == 'X' || state == 'Z') return Answer::kReaderGone;
    if (state != 'R') return Answer::kWaits;
  }
  return exchange.process > 0 ? Answer::kWaits : Answer::kReaderGone;
}

// The spare reader takes over, and another one is forked as the spare.
void Readers::Abandon() {
  time_of_abandoned_ += CpuTimeOf(current().process);
  Order(static_cast<uint8_t>(kKill | current_));
  ++current_;
  if (++abandoned_ >= kMostAbandoned) has_refused_ = true;
  if (forked_ < kExchanges) Order(static_cast<uint8_t>(kFork | forked_++));
}

void Readers::CountWait(uint32_t pid) {
  waits_.insert(pid);
  std::string name = BeginningOf(absl::StrCat(options_.proc, "/", pid, "/comm"));
  if (name.ends_with('\n')) name.pop_back();
  const std::optional<uint32_t> user = UserOf(options_.proc, pid);
  noted_.push_back({pid, std::move(name), user});
  if (user && ++of_user_[*user] >= kMostOfUser) has_refused_ = true;
  if (user != getuid() && ++of_others_ >= kMostOfOthers) has_refused_ = true;
}

void Readers::Order(uint8_t order) const {
  // If the forker is gone, its readers are too: the next question finds that.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &order, 1, MSG_NOSIGNAL);
}

std::vector<std::string> Readers::Notes() const {
  std::vector<std::string> notes;
  if (is_started_ && !started_.ok()) {
    notes.push_back(absl::StrCat("no process could be started that reads memory (",
                                 started_.message(),
                                 "): call chains are cut at code that is in memory only"));
  }
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.deadline).count();
  for (const Wait& wait : noted_) {
    notes.push_back(absl::StrCat(
        "memory of process ", wait.pid, wait.name.empty() ? "" : " (", wait.name,
        wait.name.empty() ? "" : ")", " could not be read within ", milliseconds,
        " ms, so it was not read again: call chains of this process are cut where that is needed"));
  }
  for (const auto& [user, count] : of_user_) {
    if (count < kMostOfUser) continue;
    notes.push_back(absl::StrCat("processes of user ", user, " made ", count,
                                 " reads of memory wait: no memory of this user's processes was "
                                 "read after that"));
  }
  if (abandoned_ >= kMostAbandoned) {
    notes.push_back(absl::StrCat(abandoned_,
                                 " reads of memory did not end: no memory of any "
                                 "process was read after that"));
  } else if (of_others_ >= kMostOfOthers) {
    notes.push_back(absl::StrCat(of_others_,
                                 " reads of memory did not end: no memory of other "
                                 "users' processes was read after that"));
  }
  return notes;
}

std::chrono::nanoseconds Readers::CpuTime() const {
  std::chrono::nanoseconds time = time_of_abandoned_ + CpuTimeOf(forker_);
  for (size_t i = current_; i < forked_; ++i) time += CpuTimeOf(area_->exchanges[i].process);
  return time;
}

}  // namespace profiler::reader
