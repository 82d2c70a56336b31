// What two processes of one program say to each other, through a pair of connected sockets.
//
//   kind u32 │ size u32 │ size bytes │ and a descriptor beside it, where there is one (SCM_RIGHTS)
//
// Both run the same program on one machine, so numbers are as they lie in memory. But one of them
// may have been taken over by the file that it read: the other one reads its messages as it reads
// any file.
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

// From whom, and what is in it, is in facts_protocol.h.
enum class MessageKind : uint32_t {
  // to the confined process
  kFind,
  kFindAt,
  kCodeAt,
  kJitCodes,
  kFileOf,
  kMissingFiles,
  kAreTrusted,
  kKernelReference,
  kKernelSymbol,
  kOpened,  // the answer to the three below
  // from it
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

// Puts numbers and texts one behind the other.
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

// What a message may have in it. More is an error.
inline constexpr size_t kLargestMessage = size_t{128} << 20;

// Blocks until all is written. Errors: those of sendmsg(2); the other end's death is no signal.
absl::Status Send(int socket, const Message& message);

// Blocks until a whole message is there. `wait`, if given, is called before each read that might
// block, and its error ends it. Errors: those of recvmsg(2); kDataLoss where the other end is gone
// or sends what is no message.
template <class Wait>
absl::StatusOr<Message> Receive(int socket, Wait wait);

// Receive's parts.
struct MessageHeader {
  MessageKind kind{};
  uint32_t size = 0;
};
// Reads what is there, at most the bytes of `into`, and keeps a descriptor that comes with it.
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
