#include "src/views/summary/waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::summary {
namespace {

using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::StackId;

struct Kind {
  std::string_view function;  // without underscores in front; '*' at the end: any ending
  std::string_view kind;
};

constexpr std::string_view kLock = "a lock or a condition";
constexpr std::string_view kThread = "the end of a thread";
constexpr std::string_view kEvents = "events of sockets and files";
constexpr std::string_view kTimer = "a timer";
constexpr std::string_view kPipe = "a pipe";
constexpr std::string_view kSocket = "a socket";
constexpr std::string_view kProcess = "another process";
constexpr std::string_view kDisk = "a disk or file system";
constexpr std::string_view kKernelLock = "a lock of the kernel";

// Functions of the kernel and of C libraries in which threads wait.
constexpr std::array<Kind, 50> kKinds = {{{"pthread_join*", kThread},
                                          {"pthread_clockjoin*", kThread},
                                          {"pthread_timedjoin*", kThread},
                                          {"futex*", kLock},
                                          {"do_futex", kLock},
                                          {"pthread_cond_*", kLock},
                                          {"pthread_mutex_*", kLock},
                                          {"lll_lock_*", kLock},
                                          {"ep_poll", kEvents},
                                          {"epoll_*", kEvents},
                                          {"do_epoll_*", kEvents},
                                          {"do_poll*", kEvents},
                                          {"do_sys_poll", kEvents},
                                          {"do_select", kEvents},
                                          {"poll", kEvents},
                                          {"ppoll*", kEvents},
                                          {"select", kEvents},
                                          {"pselect*", kEvents},
                                          {"io_cqring_wait", kEvents},
                                          {"hrtimer_nanosleep", kTimer},
                                          {"do_nanosleep", kTimer},
                                          {"clock_nanosleep*", kTimer},
                                          {"nanosleep*", kTimer},
                                          {"usleep", kTimer},
                                          {"pipe_read", kPipe},
                                          {"anon_pipe_*", kPipe},
                                          {"pipe_write", kPipe},
                                          {"unix_stream_*", kSocket},
                                          {"sk_wait_data", kSocket},
                                          {"tcp_recvmsg*", kSocket},
                                          {"inet_csk_accept", kSocket},
                                          {"skb_wait_for_more_packets", kSocket},
                                          {"accept", kSocket},
                                          {"accept4", kSocket},
                                          {"recv", kSocket},
                                          {"recvmsg", kSocket},
                                          {"recvfrom", kSocket},
                                          {"do_wait", kProcess},
                                          {"wait4", kProcess},
                                          {"waitid", kProcess},
                                          {"io_schedule*", kDisk},
                                          {"folio_wait_*", kDisk},
                                          {"jbd2_*", kDisk},
                                          {"fsync", kDisk},
                                          {"fdatasync", kDisk},
                                          {"n_tty_read", "a terminal"},
                                          {"do_sigtimedwait", "a signal"},
                                          {"sigsuspend", "a signal"},
                                          {"mutex_lock*", kKernelLock},
                                          {"rwsem_down_*", kKernelLock}}};

// Removes version, leading underscores, and glibc's mark of internal names.
std::string_view BareName(std::string_view function) {
  function = function.substr(0, function.find('@'));
  while (function.starts_with('_')) function.remove_prefix(1);
  constexpr std::string_view kInternal = "GI_";
  if (function.starts_with(kInternal)) function.remove_prefix(kInternal.size());
  while (function.starts_with('_')) function.remove_prefix(1);
  return function;
}

// Returns the kind of event for which the function waits; "" if it tells nothing.
std::string_view KindOf(std::string_view function) {
  const std::string_view name = BareName(function);
  for (const Kind& kind : kKinds) {
    const bool is_prefix = kind.function.ends_with('*');
    const std::string_view stem = kind.function.substr(0, kind.function.size() - is_prefix);
    if (is_prefix ? name.starts_with(stem) : name == stem) return kind.kind;
  }
  return {};
}

bool IsWait(const Profile& profile, const Row& row) {
  const std::string_view event = profile.text(profile[row.event].name);
  if (event.substr(0, event.find(':')) == kBlockedEvent) return true;
  return IsState(profile, row.self) &&
         profile.text(profile[profile[row.self].image].name) == "[blocked]";
}

// The facts about one stack of a waiting thread. Views point into the profile.
struct WaitingStack {
  std::string_view kind, function, in;
};

// True for code of headers of the system, such as std::lock_guard, which is compiled into programs.
bool IsOfSystemHeader(const Profile& profile, const profile::Line& line) {
  return profile.text(line.file).starts_with("/usr/");
}

WaitingStack Read(const Profile& profile, const OwnCode& own, StackId leaf) {
  WaitingStack found;
  std::string_view innermost, in_header;
  for (StackId at = leaf; at != profile::kNoStack; at = profile[at].parent) {
    const FrameId frame = profile[at].frame;
    if (IsState(profile, frame)) continue;
    for (const profile::Line& line : profile.LinesOf(profile[frame])) {
      if (line.symbol == profile::kNoSymbol) continue;
      const std::string_view name = profile.text(profile[line.symbol].name);
      if (innermost.empty()) innermost = name;
      if (own.Has(frame) && profile[frame].unnamed == profile::Unnamed::kNamed) {
        if (in_header.empty()) in_header = name;
        if (found.in.empty() && !IsOfSystemHeader(profile, line)) found.in = name;
      }
      // The kernel waits for a thread's end as for a lock. Only the C library knows which it is.
      const std::string_view kind = KindOf(name);
      if (found.kind.empty() || (found.kind == kLock && kind == kThread)) {
        found.kind = kind;
        if (!kind.empty()) found.function = name;
      }
    }
    if (!found.kind.empty() && !found.in.empty()) break;
  }
  if (found.in.empty()) found.in = in_header;
  if (found.kind.empty()) {
    found.kind = "something else";
    found.function = innermost;
  }
  return found;
}

// Returns the key with the largest value.
std::string_view Heaviest(const std::map<std::string_view, double>& amounts) {
  const auto best = std::ranges::max_element(amounts, {}, [](const auto& of) { return of.second; });
  return best == amounts.end() ? std::string_view() : best->first;
}

}  // namespace

bool IsState(const Profile& profile, FrameId frame) {
  return profile[profile[frame].image].kind == symbolize::ImageKind::kNoCode;
}

Waits FindWaits(const Profile& profile, const OwnCode& own) {
  struct Sums {
    double amount = 0;
    std::map<std::string_view, double> functions, in;
  };
  std::map<std::string_view, Sums> kinds;
  Waits waits;
  for (const Row& row : profile.rows) {
    if (!IsWait(profile, row)) continue;
    const WaitingStack stack = Read(profile, own, row.stack);
    const auto amount = static_cast<double>(row.period);
    Sums& sums = kinds[stack.kind];
    sums.amount += amount;
    sums.functions[stack.function] += amount;
    sums.in[stack.in] += amount;
    waits.amount += amount;
  }
  for (const auto& [kind, sums] : kinds) {
    waits.kinds.push_back({.kind = std::string(kind),
                           .function = std::string(Heaviest(sums.functions)),
                           .in = std::string(Heaviest(sums.in)),
                           .amount = sums.amount});
  }
  std::ranges::stable_sort(waits.kinds, std::ranges::greater(), &Wait::amount);
  return waits;
}

}  // namespace profiler::summary
