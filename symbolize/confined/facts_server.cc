#include "symbolize/confined/facts_server.h"

#include <malloc.h>
#include <poll.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/file_access.h"
#include "src/base/mapped_file.h"
#include "symbolize/files/file_facts.h"

namespace profiler::symbolize {
namespace {

// File access through the other end of the socket.
class AccessThrough final : public FileAccess {
 public:
  explicit AccessThrough(int socket) : socket_(socket) {}

  absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                           const std::string& root) override {
    ContentWriter to;
    to.PutText(path).PutText(root);
    return Opened(Ask(MessageKind::kOpen, std::move(to)));
  }

  absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path) override {
    ContentWriter to;
    to.PutText(path);
    return Opened(Ask(MessageKind::kOpenOwn, std::move(to)));
  }

  std::optional<FileId> FileIdOf(const std::string& path) override {
    const auto reply = AskOf(MessageKind::kFileId, path);
    ByteReader from(BytesOfText(reply));
    const bool is_there = from.Read<uint8_t>() != 0;
    FileId id;
    id.device = from.Read<uint64_t>();
    id.inode = from.Read<uint64_t>();
    return is_there && from.ok() ? std::optional(id) : std::nullopt;
  }

  std::string LinkAt(const std::string& path) override {
    const auto reply = AskOf(MessageKind::kLink, path);
    ByteReader from(BytesOfText(reply));
    return std::string(ReadText(from));
  }

  // Refuses, because facts need no file that is read this way.
  absl::Status ReadStart(const std::string& path, size_t, std::string* text) override {
    text->clear();
    return absl::PermissionDeniedError(path);
  }

  std::vector<std::string> NamesIn(const std::string& directory) override {
    const auto reply = AskOf(MessageKind::kNames, directory);
    ByteReader from(BytesOfText(reply));
    std::vector<std::string> names;
    const auto count = from.Read<uint32_t>();
    for (uint32_t i = 0; i < count && from.ok(); ++i) names.emplace_back(ReadText(from));
    return names;
  }

 private:
  static absl::StatusOr<UniqueFd> Opened(absl::StatusOr<Message> reply) {
    PROFILER_RETURN_IF_ERROR(reply.status());
    ByteReader from(BytesOfText(reply->content));
    PROFILER_RETURN_IF_ERROR(ReadStatus(from));
    return std::move(reply->fd);
  }

  absl::StatusOr<Message> Ask(MessageKind kind, ContentWriter content) {
    PROFILER_RETURN_IF_ERROR(Send(socket_, {kind, std::move(content).Take(), {}}));
    return Receive(socket_);
  }
  // Returns the content of the reply; empty if the other end is closed.
  std::string AskOf(MessageKind kind, const std::string& path) {
    ContentWriter to;
    to.PutText(path);
    absl::StatusOr<Message> reply = Ask(kind, std::move(to));
    return reply.ok() ? std::move(reply->content) : std::string();
  }

  const int socket_;
};

}  // namespace

FactsServer::FactsServer(const SymbolizerOptions& options) : facts_(CreateFileFacts(options)) {}

std::optional<std::string> FactsServer::Answer(MessageKind kind, std::string_view question) {
  const std::optional<std::string> answer = Find(kind, question);
  if (!answer) return std::nullopt;
  const std::vector<std::string> warnings = facts_->TakeWarnings();
  ContentWriter to;
  to.Put(static_cast<uint32_t>(warnings.size()));
  for (const std::string& warning : warnings) to.PutText(warning);
  return std::move(to).Take() + *answer;
}

std::optional<std::string> FactsServer::Find(MessageKind kind, std::string_view question) {
  ByteReader from(BytesOfText(question));
  switch (kind) {
    case MessageKind::kFind:
      return Find(from, [&](ImageId image) { return facts_->Find(image, ReadPlace(from)); });
    case MessageKind::kFindAt:
      return Find(from, [&](ImageId image) {
        return facts_->FindAt(image, ElfAddress{from.Read<uint64_t>()});
      });
    case MessageKind::kCodeAt:
      return CodeAt(from);
    case MessageKind::kJitCodes:
      return JitCodes(from);
    case MessageKind::kFileOf:
      return FileOf(from);
    case MessageKind::kAreTrusted:
      return AreFilesTrusted(from);
    case MessageKind::kMissingFiles:
      return MissingFilesOf(from);
    case MessageKind::kKernelReference: {
      const std::string symbol(ReadText(from));
      facts_->SetKernelReference(symbol, RuntimeAddress{from.Read<uint64_t>()});
      return std::nullopt;
    }
    case MessageKind::kKernelSymbol: {
      const RuntimeAddress start{from.Read<uint64_t>()};
      const auto size = from.Read<uint64_t>();
      facts_->AddKernelSymbol(start, size, ReadText(from));
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

ImageId FactsServer::ReadImage(ByteReader& from) {
  const ImageSpec spec = ReadSpec(from);
  facts_->SetLife(spec.pid, spec.life);
  return facts_->AddImage(spec);
}

template <class FindOne>
std::string FactsServer::Find(ByteReader& from, FindOne find_one) {
  const ImageId image = ReadImage(from);
  const auto count = from.Read<uint32_t>();
  for (uint32_t i = 0; i < count && from.ok(); ++i) written_.Add(find_one(image));
  return written_.Take();
}

std::string FactsServer::CodeAt(ByteReader& from) {
  const ImageId image = ReadImage(from);
  const ElfAddress address{from.Read<uint64_t>()};
  const CodeBytes code = facts_->CodeAt(image, address, from.Read<uint64_t>());
  ContentWriter to;
  to.Put(code.reason).Put(code.machine);
  PutPlace(code.place, to);
  to.PutText(TextOf(code.bytes));
  return std::move(to).Take();
}

std::string FactsServer::JitCodes(ByteReader& from) {
  const auto codes = facts_->JitCodes(ReadImage(from));
  ContentWriter to;
  PutStatus(codes.status(), to);
  to.Put(static_cast<uint32_t>(codes.ok() ? codes->size() : 0));
  if (codes.ok()) {
    for (const JitCode& code : *codes) to.Put(code);
  }
  return std::move(to).Take();
}

std::string FactsServer::FileOf(ByteReader& from) {
  const std::optional<TrustedFile> file = facts_->TrustedFileOf(ReadImage(from));
  ContentWriter to;
  to.PutText(file ? file->path : "");
  return std::move(to).Take();
}

std::string FactsServer::AreFilesTrusted(ByteReader& from) {
  ContentWriter to;
  to.Put(static_cast<uint8_t>(facts_->AreFilesTrusted(ReadImage(from))));
  return std::move(to).Take();
}

std::string FactsServer::MissingFilesOf(ByteReader& from) {
  const std::optional<MissingFiles> missing = facts_->MissingFilesOf(ReadImage(from));
  ContentWriter to;
  if (missing) {
    to.Put(static_cast<uint8_t>(missing->executable));
    to.Put(static_cast<uint8_t>(missing->debug_info)).PutText(TextOf(missing->build_id));
  }
  return std::move(to).Take();
}

namespace {

// Frees memory if no question comes soon. An endless recording asks only every ten seconds.
void AwaitQuestion(int socket) {
  constexpr int kSoon = 100;  // milliseconds
  pollfd ready = {socket, POLLIN, 0};
  if (poll(&ready, 1, kSoon) != 0) return;
  MappedFile::ForgetAll();
  malloc_trim(0);
}

}  // namespace

void ServeFacts(int socket, const SymbolizerOptions& options) {
  AccessThrough access(socket);
  AccessFilesThrough(&access);
  FactsServer server(options);
  while (true) {
    AwaitQuestion(socket);
    const absl::StatusOr<Message> question = Receive(socket);
    if (!question.ok()) return;
    std::optional<std::string> answer = server.Answer(question->kind, question->content);
    if (answer && !Send(socket, {MessageKind::kAnswer, *std::move(answer), {}}).ok()) return;
  }
}

}  // namespace profiler::symbolize
