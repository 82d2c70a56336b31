#include "src/record/process_ends.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace profiler::record {
namespace {

using std::chrono::steady_clock;

// Bytes before the event in each message.
constexpr size_t kBeforeEvent = NLMSG_HDRLEN + sizeof(cn_msg);

constexpr size_t kMessageBytes = 4096;

// Returns the event of a message; false if the message is cut short.
bool ReadEvent(std::span<const std::byte> message, proc_event* event) {
  if (message.size() < kBeforeEvent + sizeof(*event)) return false;
  std::memcpy(static_cast<void*>(event), message.data() + kBeforeEvent, sizeof(*event));
  return true;
}

// A request to begin to send events. The answer has the same number.
//
//   nlmsghdr │ cn_msg │ PROC_CN_MCAST_LISTEN
std::array<std::byte, NLMSG_HDRLEN + sizeof(cn_msg) + sizeof(uint32_t)> ListenRequest(
    uint32_t number) {
  std::array<std::byte, NLMSG_HDRLEN + sizeof(cn_msg) + sizeof(uint32_t)> request{};
  nlmsghdr header{};
  header.nlmsg_len = request.size();
  header.nlmsg_type = NLMSG_DONE;
  cn_msg message{};
  message.id.idx = CN_IDX_PROC;
  message.id.val = CN_VAL_PROC;
  message.seq = number;
  message.len = sizeof(uint32_t);
  const uint32_t operation = PROC_CN_MCAST_LISTEN;
  std::memcpy(request.data(), &header, sizeof(header));
  std::memcpy(request.data() + NLMSG_HDRLEN, &message, sizeof(message));
  std::memcpy(request.data() + NLMSG_HDRLEN + sizeof(message), &operation, sizeof(operation));
  return request;
}

}  // namespace

ProcessEnds::~ProcessEnds() {
  // The descriptor belongs to socket_, which closes it.
  if (descriptor_.is_open()) descriptor_.release();
}

absl::Status ProcessEnds::Watch(const std::vector<pid_t>& pids,
                                std::function<void(const ProcessEnd&)> on_end) {
  on_end_ = std::move(on_end);
  watches_all_ = pids.empty();
  watched_.insert(pids.begin(), pids.end());
  socket_ =
      UniqueFd(socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!socket_.valid()) return ErrnoStatus(errno, "the kernel's process connector");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return ErrnoStatus(errno, "the kernel's process connector");
  }
  const auto number = static_cast<uint32_t>(steady_clock::now().time_since_epoch().count());
  const auto request = ListenRequest(number);
  if (send(socket_.get(), request.data(), request.size(), 0) < 0) {
    return ErrnoStatus(errno, "the kernel's process connector");
  }
  PROFILER_RETURN_IF_ERROR(AwaitConfirmation(number));
  boost::system::error_code error;
  descriptor_.assign(socket_.get(), error);
  if (error) return ErrnoStatus(error.value(), "the kernel's process connector");
  Await();
  return absl::OkStatus();
}

// Other messages show nothing. The kernel sends them to everybody if another process listens, but in
// a container they have numbers of processes outside of it.
absl::Status ProcessEnds::AwaitConfirmation(uint32_t number) {
  constexpr std::chrono::milliseconds kPatience{500};
  const auto until = steady_clock::now() + kPatience;
  std::array<std::byte, kMessageBytes> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return ErrnoStatus(ETIMEDOUT, "the kernel's process connector");
    proc_event event{};
    const std::span<const std::byte> message = Receive(buffer);
    if (ReadEvent(message, &event)) {
      cn_msg header{};
      std::memcpy(&header, message.data() + NLMSG_HDRLEN, sizeof(header));
      const bool is_answer = event.what == proc_event::PROC_EVENT_NONE && header.seq == number;
      const auto error = static_cast<int>(event.event_data.ack.err);
      if (is_answer && error != 0) return ErrnoStatus(error, "the kernel's process connector");
      if (is_answer) return absl::OkStatus();
      Take(message);
    }
    if (!message.empty()) continue;
    pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, static_cast<int>(left.count()));
  }
}

// Receives the next message of the kernel into `message`. Returns nothing if there is none.
std::span<const std::byte> ProcessEnds::Receive(std::span<std::byte> message) {
  for (;;) {
    sockaddr_nl from{};
    socklen_t from_size = sizeof(from);
    const ssize_t size = recvfrom(socket_.get(), message.data(), message.size(), 0,
                                  reinterpret_cast<sockaddr*>(&from), &from_size);
    // ENOBUFS: messages were lost; later ones may be there.
    if (size < 0 && (errno == EINTR || errno == ENOBUFS)) continue;
    if (size <= 0) return {};
    // Other processes have a port.
    if (from.nl_pid == 0) return message.first(static_cast<size_t>(size));
  }
}

void ProcessEnds::Await() {
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& failed) {
                           if (failed) return;
                           TakePending();
                           Await();
                         });
}

void ProcessEnds::TakePending() {
  if (!descriptor_.is_open()) return;
  std::array<std::byte, kMessageBytes> buffer;
  for (;;) {
    const std::span<const std::byte> message = Receive(buffer);
    if (message.empty()) return;
    Take(message);
  }
}

void ProcessEnds::Take(std::span<const std::byte> message) {
  proc_event event{};
  if (!ReadEvent(message, &event)) return;
  if (event.what == proc_event::PROC_EVENT_FORK) {
    const auto& fork = event.event_data.fork;
    if (fork.child_pid == fork.child_tgid && watched_.contains(fork.parent_tgid)) {
      watched_.insert(fork.child_tgid);
    }
    return;
  }
  if (event.what != proc_event::PROC_EVENT_EXIT) return;
  const auto& exit = event.event_data.exit;
  if (exit.process_pid != exit.process_tgid) return;
  const bool was_watched = watched_.erase(exit.process_tgid) != 0;
  if (!was_watched && (!watches_all_ || exit.parent_tgid == getpid())) return;
  const auto status = static_cast<int>(exit.exit_code);
  on_end_({.pid = exit.process_tgid,
           .code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
           .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0});
}

}  // namespace profiler::record
