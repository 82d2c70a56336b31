#include "symbolize/confined/socket_message.h"

#include <cerrno>

#include "src/base/passed_descriptor.h"

namespace profiler::symbolize {

absl::Status Send(int socket, const Message& message) {
  if (message.content.size() > kLargestMessage) {
    return absl::ResourceExhaustedError("a message is too long");
  }
  const MessageHeader header{message.kind, static_cast<uint32_t>(message.content.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += message.content;
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t written = SendBeside(socket, std::span(bytes).subspan(sent),
                                       sent == 0 && message.fd.valid() ? message.fd.get() : -1);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "sendmsg");
    sent += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReceiveSome(int socket, std::span<char> into, UniqueFd& fd) {
  const ssize_t received = ReceiveBeside(socket, into, &fd);
  if (received < 0 && errno == EINTR) return size_t{0};
  if (received < 0) return ErrnoStatus(errno, "recvmsg");
  if (received == 0) return absl::DataLossError("the other end is gone");
  return static_cast<size_t>(received);
}

}  // namespace profiler::symbolize
