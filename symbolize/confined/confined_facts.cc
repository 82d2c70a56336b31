#include "symbolize/confined/confined_facts.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "symbolize/confined/confined_process.h"
#include "symbolize/confined/facts_protocol.h"
#include "symbolize/confined/facts_server.h"
#include "symbolize/confined/file_rules.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/files/image_table.h"
#include "symbolize/image_file.h"
#include "symbolize/vdso.h"

namespace profiler::symbolize {
namespace {

// Give up after this many processes have ended, because each may have used its full budget.
constexpr int kMostEnded = 3;

// One of the two processes. It is started by the first question, and again after it has ended.
class Reader {
 public:
  Reader(const SymbolizerOptions& options, const ConfinementOptions& confinement,
         FileRules::Owners owners)
      : options_(options), confinement_(confinement), owners_(owners) {}

  // Sends a message about the kernel (functions, address) to the process and to its successors.
  void Tell(MessageKind kind, const std::string& content) {
    told_.emplace_back(kind, content);
    if (process_ != nullptr) (void)process_->Tell(kind, content);
    if (unconfined_) (void)unconfined_->Answer(kind, content);
  }

  struct Answer {
    std::string content;
    std::vector<std::string> warnings;
    bool refused_owner = false;  // the process asked for a file of another user
  };

  // Asks the process. If this returns an error, the process has ended.
  absl::StatusOr<Answer> Ask(MessageKind kind, std::string content) {
    PROFILER_RETURN_IF_ERROR(Start());
    if (unconfined_) return Split(unconfined_->Answer(kind, content).value_or(""));
    (void)rules_->TakeRefusedOwner();
    absl::StatusOr<std::string> answer = process_->Ask(kind, std::move(content));
    if (!answer.ok()) {
      End();
      return std::move(answer).status();
    }
    return Split(*std::move(answer), rules_->TakeRefusedOwner());
  }

  // Ends the process, for example after an invalid answer.
  void End() {
    process_.reset();
    ++ended_;
  }

  // Returns the reader of the current process's answers.
  FactsReader& facts() { return *facts_; }
  // Returns owner and size of the file that the process got for that path.
  std::optional<TrustedFile> GivenAt(const std::string& path) const {
    return unconfined_ ? std::nullopt : rules_->GivenAt(path);
  }

 private:
  absl::StatusOr<Answer> Split(const std::string& content, bool refused_owner = false) {
    ByteReader from(BytesOfText(content));
    Answer answer{.refused_owner = refused_owner};
    const auto count = from.Read<uint32_t>();
    for (uint32_t i = 0; i < count && from.ok(); ++i) answer.warnings.emplace_back(ReadText(from));
    answer.content = content.substr(from.offset());
    if (from.ok()) return answer;
    End();
    return absl::DataLossError("the process that read it made no sense");
  }

  absl::Status Start() {
    if (process_ != nullptr || unconfined_) return absl::OkStatus();
    if (ended_ >= kMostEnded) return absl::UnavailableError("too many images could not be read");
    facts_.emplace(strings_);
    rules_.emplace(options_, owners_);
    ConfinedBudget budget = kBudgetForOthers;
    if (owners_ == FileRules::Owners::kUserAndRoot) {
      budget = {};
      budget.time *= 10;
    }
    // Halves the budget each time, so that images that use up the budget cannot cost much in total.
    for (int i = 0; i < ended_; ++i) budget.time /= 2;
    auto process = ConfinedProcess::Start([this](int socket) { ServeFacts(socket, options_); },
                                          *rules_, budget);
    if (!process.ok()) return GoWithout(process.status());
    process_ = *std::move(process);
    for (const auto& [kind, content] : told_) {
      PROFILER_RETURN_IF_ERROR(process_->Tell(kind, content));
    }
    return absl::OkStatus();
  }

  absl::Status GoWithout(const absl::Status& why) {
    if (confinement_.required) {
      ended_ = kMostEnded;
      return absl::UnavailableError(absl::StrCat(
          "files are read as root, or with capabilities, in a sandbox only, and here is none (",
          why.message(), "); --no-sandbox reads them all the same"));
    }
    if (confinement_.warn) {
      confinement_.warn(absl::StrCat("files are read without a sandbox: there is none here (",
                                     why.message(), ")"));
    }
    unconfined_.emplace(options_);
    for (const auto& [kind, content] : told_) (void)unconfined_->Answer(kind, content);
    return absl::OkStatus();
  }

  const SymbolizerOptions& options_;
  const ConfinementOptions& confinement_;
  const FileRules::Owners owners_;
  std::vector<std::pair<MessageKind, std::string>> told_;
  std::deque<std::string> strings_;  // strings in answers of this process and its predecessors
  std::optional<FactsReader> facts_;
  std::optional<FileRules> rules_;
  std::unique_ptr<ConfinedProcess> process_;  // null: none yet, or it has ended
  int ended_ = 0;
  std::optional<FactsServer> unconfined_;  // used if confinement is impossible
};

struct Image {
  bool is_of_others = false;          // true if the second process reads the image
  bool failed = false;                // true if no process is asked about the image any more
  std::optional<bool> may_have_file;  // empty: not checked yet
  // Answer to kJitCodes about a dump; empty: not asked yet.
  std::optional<absl::StatusOr<std::vector<JitCode>>> codes;
};

AddressFacts Unreadable() { return {.reason = Reason::kNotElf}; }

class ConfinedFacts final : public FactSource {
 public:
  ConfinedFacts(const SymbolizerOptions& options, const ConfinementOptions& confinement)
      : options_(options),
        confinement_(confinement),
        specs_(options_),
        own_(options_, confinement_, FileRules::Owners::kUserAndRoot),
        others_(options_, confinement_, FileRules::Owners::kAll) {}

  ImageId AddImage(const ImageSpec& spec) override {
    const ImageId id = specs_.Add(spec);
    // Reading the 32-bit vdso needs system calls that confined processes may not make.
    if (spec.path == kVdsoOf32Bit) VdsoOf32Bit();
    if (static_cast<uint32_t>(id) == images_.size()) images_.emplace_back();
    return id;
  }
  const ImageSpec& image(ImageId id) const override { return specs_[id]; }

  // The new life is sent with the next question about an image.
  void SetLife(uint32_t process, const ProcessLife& life) override {
    specs_.SetLife(process, life);
  }

  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    ContentWriter to;
    to.PutText(symbol).Put(address.value);
    TellAll(MessageKind::kKernelReference, std::move(to).Take());
  }

  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    ContentWriter to;
    to.Put(start.value).Put(size).PutText(name);
    TellAll(MessageKind::kKernelSymbol, std::move(to).Take());
  }

  std::vector<std::string> TakeWarnings() override { return std::exchange(warnings_, {}); }

  std::optional<TrustedFile> TrustedFileOf(ImageId id) override {
    if (specs_[id].kind != ImageKind::kUser) return std::nullopt;
    if (!MayHaveFile(id)) return std::nullopt;
    const std::optional<std::string> answer = Ask(id, MessageKind::kFileOf, {});
    if (!answer || At(id).is_of_others) return std::nullopt;
    ByteReader from(BytesOfText(*answer));
    // Owner and size come from this process's own records, not from the answer.
    return own_.GivenAt(std::string(ReadText(from)));
  }

  // The first process never gets files of other users, so no untrusted file can influence the
  // answer.
  bool AreFilesTrusted(ImageId id) override {
    const std::optional<std::string> answer = Ask(id, MessageKind::kAreTrusted, {});
    if (!answer || At(id).is_of_others) return false;
    ByteReader from(BytesOfText(*answer));
    return from.Read<uint8_t>() != 0 && from.ok();
  }

  // Build-ids are sent to servers. The length limit prevents a process that was taken over from
  // sending other data through them.
  std::optional<MissingFiles> MissingFilesOf(ImageId id) override {
    constexpr size_t kLongestBuildId = 64;
    if (specs_[id].kind != ImageKind::kUser) return std::nullopt;
    const std::optional<std::string> answer = Ask(id, MessageKind::kMissingFiles, {});
    if (!answer || answer->empty()) return std::nullopt;
    ByteReader from(BytesOfText(*answer));
    MissingFiles missing{.path = specs_[id].path};
    missing.executable = from.Read<uint8_t>() != 0;
    missing.debug_info = from.Read<uint8_t>() != 0;
    const std::span<const std::byte> build_id = BytesOfText(ReadText(from));
    const ImageSpec& spec = specs_[id];
    const bool is_sound = from.ok() && !build_id.empty() && build_id.size() <= kLongestBuildId &&
                          (spec.build_id.empty() || SameBuildId(spec.build_id, build_id));
    if (!is_sound) {
      GiveUp(id, absl::DataLossError("the process that read it made no sense"));
      return std::nullopt;
    }
    missing.build_id.assign(build_id.begin(), build_id.end());
    return missing;
  }

  void WillFind(ImageId id, std::span<const CodePlace> places) override {
    announced_.clear();
    next_ = 0;
    if (places.empty()) return;
    announced_image_ = id;
    ContentWriter to;
    to.Put(static_cast<uint32_t>(places.size()));
    for (const CodePlace place : places) PutPlace(place, to);
    std::vector<AddressFacts> facts =
        AskForFacts(id, MessageKind::kFind, std::move(to), places.size());
    for (size_t i = 0; i < facts.size(); ++i) announced_.emplace_back(places[i], facts[i]);
  }

  AddressFacts Find(ImageId id, CodePlace place) override {
    if (id == announced_image_) {
      for (size_t i = next_; i < announced_.size(); ++i) {
        if (announced_[i].first != place) continue;
        next_ = i;
        return announced_[i].second;
      }
    }
    const CodePlace only[] = {place};
    WillFind(id, only);
    return announced_.empty() ? Unreadable() : announced_[0].second;
  }

  AddressFacts FindAt(ImageId id, ElfAddress address) override {
    announced_.clear();  // invalidates its inlined calls, but not its strings
    ContentWriter to;
    to.Put(uint32_t{1}).Put(address.value);
    const std::vector<AddressFacts> facts = AskForFacts(id, MessageKind::kFindAt, std::move(to), 1);
    return facts.empty() ? Unreadable() : facts[0];
  }

  CodeBytes CodeAt(ImageId id, ElfAddress address, uint64_t size) override {
    ContentWriter to;
    to.Put(address.value).Put(size);
    const std::optional<std::string> answer = Ask(id, MessageKind::kCodeAt, std::move(to));
    if (!answer) return {.reason = Reason::kNotElf};
    ByteReader from(BytesOfText(*answer));
    CodeBytes code;
    code.reason = from.Read<Reason>();
    code.machine = from.Read<uint16_t>();
    code.place = ReadPlace(from);
    const std::string_view bytes = ReadText(from);
    const bool is_sound = from.ok() && code.reason <= Reason::kRestricted &&
                          bytes.empty() == (code.reason != Reason::kNamed) && bytes.size() <= size;
    if (!is_sound) {
      GiveUp(id, absl::DataLossError("the process that read it made no sense"));
      return {.reason = Reason::kNotElf};
    }
    code.bytes = BytesOfText(code_.emplace_back(bytes));
    return code;
  }

  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId id) override {
    auto& codes = At(id).codes;
    if (!codes) codes = AskForCodes(id);
    if (!codes->ok()) return codes->status();
    return std::span<const JitCode>(**codes);
  }

 private:
  Image& At(ImageId id) { return images_[static_cast<uint32_t>(id)]; }
  Reader& ReaderOf(ImageId id) { return At(id).is_of_others ? others_ : own_; }

  void TellAll(MessageKind kind, const std::string& content) {
    own_.Tell(kind, content);
    others_.Tell(kind, content);
  }

  // A recording from another machine, or from an attacker, may name thousands of missing files.
  // Checking here is ten times as fast as asking the process.
  bool MayHaveFile(ImageId id) {
    if (specs_[id].kind != ImageKind::kUser) return true;
    std::optional<bool>& known = At(id).may_have_file;
    if (!known) {
      specs_.Settle(id);
      known = MayFindImage(specs_[id], options_);
    }
    return *known;
  }

  // Asks the process that may read the image. Empty: the image cannot be read.
  std::optional<std::string> Ask(ImageId id, MessageKind kind, ContentWriter question) {
    Image& image = At(id);
    if (image.failed) return std::nullopt;
    specs_.Settle(id);
    ContentWriter whole;
    PutSpec(specs_[id], whole);
    const std::string content = std::move(whole).Take() + std::move(question).Take();
    absl::StatusOr<Reader::Answer> answer = ReaderOf(id).Ask(kind, content);
    if (answer.ok() && answer->refused_owner) {
      image.is_of_others = true;
      answer = others_.Ask(kind, content);
    }
    if (answer.ok()) {
      std::ranges::move(answer->warnings, std::back_inserter(warnings_));
      return std::move(answer->content);
    }
    Fail(id, answer.status());
    return std::nullopt;
  }

  std::vector<AddressFacts> AskForFacts(ImageId id, MessageKind kind, ContentWriter question,
                                        size_t count) {
    if (!MayHaveFile(id)) {
      return std::vector<AddressFacts>(count, AddressFacts{.reason = Reason::kNoImageFile});
    }
    const std::optional<std::string> answer = Ask(id, kind, std::move(question));
    if (!answer) return {};
    auto facts = ReaderOf(id).facts().Read(*answer, count);
    if (facts.ok()) return *std::move(facts);
    GiveUp(id, facts.status());
    return {};
  }

  absl::StatusOr<std::vector<JitCode>> AskForCodes(ImageId id) {
    const absl::Status unreadable =
        absl::DataLossError(absl::StrCat(specs_[id].path, " could not be read"));
    const std::optional<std::string> answer = Ask(id, MessageKind::kJitCodes, {});
    if (!answer) return unreadable;
    ByteReader from(BytesOfText(*answer));
    PROFILER_RETURN_IF_ERROR(ReadStatus(from));
    std::vector<JitCode> codes;
    const auto count = from.Read<uint32_t>();
    for (uint32_t i = 0; i < count && from.ok(); ++i) codes.push_back(from.Read<JitCode>());
    if (from.ok() && from.remaining() == 0) return codes;
    GiveUp(id, absl::DataLossError("the process that read it made no sense"));
    return unreadable;
  }

  // Marks the image as unreadable and ends the process, which may have been taken over.
  void GiveUp(ImageId id, const absl::Status& why) {
    ReaderOf(id).End();
    Fail(id, why);
  }

  void Fail(ImageId id, const absl::Status& why) {
    At(id).failed = true;
    if (!confinement_.warn) return;
    // One warning for all images, if no process is available.
    if (absl::IsUnavailable(why) && std::exchange(said_unavailable_, true)) return;
    confinement_.warn(absl::StrCat(specs_[id].path, " has no names: ", why.message()));
  }

  const SymbolizerOptions options_;
  const ConfinementOptions confinement_;
  ImageTable specs_;
  std::deque<Image> images_;
  Reader own_;
  Reader others_;
  // The answers to WillFind, and the index of the answer to return next.
  ImageId announced_image_{};
  std::vector<std::pair<CodePlace, AddressFacts>> announced_;
  size_t next_ = 0;
  std::deque<std::string> code_;  // bytes returned by CodeAt
  bool said_unavailable_ = false;
  std::vector<std::string> warnings_;  // about files, for TakeWarnings
};

}  // namespace

std::unique_ptr<FactSource> CreateConfinedFacts(const SymbolizerOptions& options,
                                                const ConfinementOptions& confinement) {
  return std::make_unique<ConfinedFacts>(options, confinement);
}

}  // namespace profiler::symbolize
