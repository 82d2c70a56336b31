#include "src/base/passed_descriptor.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>

namespace profiler {
namespace {

// A control message with one descriptor.
union OneDescriptor {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr alignment;
};

}  // namespace

ssize_t SendBeside(int socket, std::span<const char> bytes, int fd, int flags) {
  // sendmsg(2) does not write to the bytes.
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  OneDescriptor beside = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = beside.bytes.data();
    message.msg_controllen = beside.bytes.size();
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(control), &fd, sizeof(fd));
  }
  return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

ssize_t ReceiveBeside(int socket, std::span<char> bytes, UniqueFd* fd, int flags) {
  iovec part = {bytes.data(), bytes.size()};
  OneDescriptor beside = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside.bytes.data();
  message.msg_controllen = beside.bytes.size();
  const ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  const cmsghdr* const control = CMSG_FIRSTHDR(&message);
  if (control != nullptr && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
      control->cmsg_len == CMSG_LEN(sizeof(int))) {
    int passed = -1;
    std::memcpy(&passed, CMSG_DATA(control), sizeof(passed));
    *fd = UniqueFd(passed);
  }
  return received;
}

}  // namespace profiler
