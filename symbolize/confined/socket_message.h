// Sends messages between two processes of one program, through a pair of connected sockets.
//
//   kind u32 │ size u32 │ size bytes │ and optionally a descriptor (SCM_RIGHTS)
//
// Both processes run the same program on one machine, so numbers have their layout in memory. A
// file may have taken over one of them, so the other one treats its messages as untrusted input.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "src/base/byte_reader.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::symbolize {

// The kinds of messages; facts_protocol.h describes senders and contents.
enum class MessageKind : uint32_t {
  // Messages to the confined process.
  kFind,
  kFindAt,
  kCodeAt,
  kJitCodes,
  kFileOf,
  kMissingFiles,
  kAreTrusted,
  kKernelReference,
  kKernelSymbol,
  kOpened,  // the answer to kOpen, kOpenOwn, kFileId, kLink and kNames
  // Messages from the confined process.
  kReady,
  kAnswer,
  kOpen,
  kOpenOwn,
  kFileId,
  kLink,
  kNames,
};

struct Message {
  MessageKind kind{};
  std::string content;
  UniqueFd fd;
};

// A writer of a message's content: appends numbers and texts.
class ContentWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> ContentWriter& Put(const T& value) {
    content_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  ContentWriter& PutText(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    content_ += text;
    return *this;
  }
  std::string Take() && { return std::move(content_); }

 private:
  std::string content_;
};

inline std::string_view ReadText(ByteReader& reader) {
  const auto size = reader.Read<uint32_t>();
  return TextOf(reader.ReadBytes(size));
}

// Largest content of a message in bytes. A larger message is an error.
inline constexpr size_t kLargestMessage = size_t{128} << 20;

// Sends a message; blocks until all is written. Errors: those of sendmsg(2). Causes no SIGPIPE if
// the other end is closed.
absl::Status Send(int socket, const Message& message);

// Receives a message; blocks until it is complete. Calls `wait`, if given, before each read that
// may block; an error from it ends the call. Errors: those of recvmsg(2); kDataLoss if the other
// end is closed or sends an invalid message.
template <class Wait>
absl::StatusOr<Message> Receive(int socket, Wait wait);

// MessageHeader and ReceiveSome are used by Receive.
struct MessageHeader {
  MessageKind kind{};
  uint32_t size = 0;
};
// Reads bytes that are available, at most `into.size()`. Returns their number. Stores a descriptor
// that comes with them in `fd`.
absl::StatusOr<size_t> ReceiveSome(int socket, std::span<char> into, UniqueFd& fd);

template <class Wait>
absl::StatusOr<Message> Receive(int socket, Wait wait) {
  constexpr size_t kAtOnce = 1 << 16;
  Message message;
  MessageHeader header;
  std::string bytes;
  size_t wanted = sizeof(header);
  while (bytes.size() < wanted) {
    PROFILER_RETURN_IF_ERROR(wait());
    const size_t done = bytes.size();
    bytes.resize(std::min(wanted, done + kAtOnce));
    PROFILER_ASSIGN_OR_RETURN(const size_t received,
                              ReceiveSome(socket, std::span(bytes).subspan(done), message.fd));
    bytes.resize(done + received);
    if (wanted != sizeof(header) || bytes.size() != wanted) continue;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.size > kLargestMessage) return absl::DataLossError("a message is too long");
    wanted += header.size;
  }
  message.kind = header.kind;
  message.content = bytes.substr(sizeof(header));
  return message;
}

inline absl::StatusOr<Message> Receive(int socket) {
  return Receive(socket, [] { return absl::OkStatus(); });
}

}  // namespace profiler::symbolize
