// Answers questions in the confined process, from files (facts_protocol.h).
//
// Private to this package.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/byte_reader.h"
#include "symbolize/confined/facts_protocol.h"
#include "symbolize/confined/socket_message.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// The side of the confined process that answers questions about images. Not thread-safe.
class FactsServer {
 public:
  explicit FactsServer(const SymbolizerOptions& options);

  // Returns the content of the answer, which begins with warnings about files. Empty if the message
  // has no answer.
  std::optional<std::string> Answer(MessageKind kind, std::string_view question);

 private:
  std::optional<std::string> Find(MessageKind kind, std::string_view question);
  ImageId ReadImage(ByteReader& from);
  template <class FindOne>
  std::string Find(ByteReader& from, FindOne find_one);
  std::string CodeAt(ByteReader& from);
  std::string JitCodes(ByteReader& from);
  std::string FileOf(ByteReader& from);
  std::string AreFilesTrusted(ByteReader& from);
  std::string MissingFilesOf(ByteReader& from);

  const std::unique_ptr<FactSource> facts_;
  FactsWriter written_;
};

// Answers questions until the other end closes the socket. From then on, this process accesses
// files through the other end (src/base/file_access.h).
void ServeFacts(int socket, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
