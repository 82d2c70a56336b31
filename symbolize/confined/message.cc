#include "symbolize/confined/message.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace profiler::symbolize {
namespace {

// Room for one descriptor beside a message.
union OneDescriptor {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr alignment;
};

}  // namespace

absl::Status Send(int socket, const Message& message) {
  if (message.content.size() > kLargestMessage) {
    return absl::ResourceExhaustedError("a message is too long");
  }
  const MessageHeader header{message.kind, static_cast<uint32_t>(message.content.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += message.content;
  OneDescriptor beside = {};
  for (size_t sent = 0; sent < bytes.size();) {
    iovec part = {bytes.data() + sent, bytes.size() - sent};
    msghdr out = {};
    out.msg_iov = &part;
    out.msg_iovlen = 1;
    if (sent == 0 && message.fd.valid()) {
      out.msg_control = beside.bytes.data();
      out.msg_controllen = beside.bytes.size();
      cmsghdr* const control = CMSG_FIRSTHDR(&out);
      control->cmsg_level = SOL_SOCKET;
      control->cmsg_type = SCM_RIGHTS;
      control->cmsg_len = CMSG_LEN(sizeof(int));
      const int fd = message.fd.get();
      std::memcpy(CMSG_DATA(control), &fd, sizeof(fd));
    }
    const ssize_t written = sendmsg(socket, &out, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "sendmsg");
    sent += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReceiveSome(int socket, std::span<char> into, UniqueFd& fd) {
  OneDescriptor beside = {};
  iovec part = {into.data(), into.size()};
  msghdr in = {};
  in.msg_iov = &part;
  in.msg_iovlen = 1;
  in.msg_control = beside.bytes.data();
  in.msg_controllen = beside.bytes.size();
  const ssize_t received = recvmsg(socket, &in, MSG_CMSG_CLOEXEC);
  if (received < 0 && errno == EINTR) return size_t{0};
  if (received < 0) return ErrnoStatus(errno, "recvmsg");
  const cmsghdr* const control = CMSG_FIRSTHDR(&in);
  if (control != nullptr && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
      control->cmsg_len == CMSG_LEN(sizeof(int))) {
    int passed = -1;
    std::memcpy(&passed, CMSG_DATA(control), sizeof(passed));
    fd = UniqueFd(passed);
  }
  if (received == 0) return absl::DataLossError("the other end is gone");
  return static_cast<size_t>(received);
}

}  // namespace profiler::symbolize
