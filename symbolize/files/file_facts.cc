#include "symbolize/files/file_facts.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/files/image_table.h"
#include "symbolize/files/jit_facts.h"
#include "symbolize/files/kernel_facts.h"
#include "symbolize/files/missing_files.h"
#include "symbolize/files/user_image.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {
namespace {

// The state of an image. The first look-up sets the member for its kind.
struct Image {
  bool is_settled = false;              // kJit, kAnonymous: true after the first look-up
  std::unique_ptr<UserImage> user;      // kUser, kVdso
  std::unique_ptr<JitDumpFacts> dump;   // kJitDump
  std::unique_ptr<KernelImage> kernel;  // kKernel, kModule
};

// Leaves each kind of image to its own source of facts.
class FileFacts final : public FactSource {
 public:
  explicit FileFacts(const SymbolizerOptions& options)
      : context_{options}, specs_(context_.options), kernel_(context_), maps_(context_) {}

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override { return specs_[id]; }
  std::optional<TrustedFile> TrustedFileOf(ImageId id) override;
  bool AreFilesTrusted(ImageId id) override;
  std::optional<MissingFiles> MissingFilesOf(ImageId id) override {
    specs_.Settle(id);
    return symbolize::MissingFilesOf(specs_[id], context_.options);
  }
  AddressFacts Find(ImageId image, CodePlace place) override;
  AddressFacts FindAt(ImageId image, ElfAddress address) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  std::vector<std::string> TakeWarnings() override { return std::exchange(context_.warnings, {}); }
  CodeBytes CodeAt(ImageId image, ElfAddress address, uint64_t size) override;
  void SetLife(uint32_t process, const ProcessLife& life) override {
    specs_.SetLife(process, life);
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    kernel_.SetReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    kernel_.AddSymbol(start, size, name);
  }

 private:
  UserImage& User(ImageId id);
  absl::Status OpenDump(ImageId id);
  JitDumpFacts& Dump(ImageId id);
  KernelImage& Kernel(ImageId id);
  AddressFacts FindInKernel(ImageId id, RuntimeAddress address);
  Image& At(ImageId id) { return images_[static_cast<uint32_t>(id)]; }

  FactsContext context_;
  ImageTable specs_;
  std::deque<Image> images_;  // indexed by ImageId
  KernelFacts kernel_;
  PerfMaps maps_;
};

ImageId FileFacts::AddImage(const ImageSpec& spec) {
  const ImageId id = specs_.Add(spec);
  if (static_cast<uint32_t>(id) == images_.size()) images_.emplace_back();
  return id;
}

UserImage& FileFacts::User(ImageId id) {
  std::unique_ptr<UserImage>& user = At(id).user;
  if (user == nullptr) {
    specs_.Settle(id);
    user = std::make_unique<UserImage>(specs_[id], kernel_, context_);
  }
  return *user;
}

// Opens the dump, unless that was tried before. Returns the error of this try.
absl::Status FileFacts::OpenDump(ImageId id) {
  std::unique_ptr<JitDumpFacts>& dump = At(id).dump;
  if (dump != nullptr) return absl::OkStatus();
  specs_.Settle(id);
  dump = std::make_unique<JitDumpFacts>(context_);
  return dump->Open(specs_[id]);
}

JitDumpFacts& FileFacts::Dump(ImageId id) {
  OpenDump(id).IgnoreError();  // JitCodes reports the error
  return *At(id).dump;
}

KernelImage& FileFacts::Kernel(ImageId id) {
  std::unique_ptr<KernelImage>& kernel = At(id).kernel;
  if (kernel == nullptr) {
    specs_.Settle(id);
    kernel = std::make_unique<KernelImage>(specs_[id], kernel_, context_);
  }
  return *kernel;
}

AddressFacts FileFacts::Find(ImageId id, CodePlace place) {
  switch (specs_[id].kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso:
      return User(id).Find(place.offset());
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      if (!std::exchange(At(id).is_settled, true)) specs_.Settle(id);
      return maps_.Find(specs_[id], place.address());
    case ImageKind::kJitDump:
      return Dump(id).Find(place.offset());
    case ImageKind::kKernel:
    case ImageKind::kModule:
      return FindInKernel(id, place.address());
    case ImageKind::kBpf:
      return kernel_.FindBpf(specs_[id].path, place.address());
    case ImageKind::kUnknown:
    case ImageKind::kNoCode:
      break;
  }
  return {};
}

AddressFacts FileFacts::FindAt(ImageId id, ElfAddress address) {
  switch (specs_[id].kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso:
      return User(id).FindAt(address);
    case ImageKind::kJitDump:
      return Dump(id).Find({address.value});
    case ImageKind::kKernel:
      return FindInKernel(id, {address.value});
    default:
      return {};
  }
}

// Opens no file for an address in a function that the kernel announced.
AddressFacts FileFacts::FindInKernel(ImageId id, RuntimeAddress address) {
  if (const auto announced = kernel_.FindAnnounced(address)) return *announced;
  return Kernel(id).Find(address);
}

CodeBytes FileFacts::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  switch (specs_[id].kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso:
      return User(id).CodeAt(address, size);
    case ImageKind::kJitDump:
      return Dump(id).CodeAt({address.value}, size);
    case ImageKind::kKernel:
      return Kernel(id).CodeAt({address.value}, size);
    default:
      return {};
  }
}

std::optional<TrustedFile> FileFacts::TrustedFileOf(ImageId id) {
  return specs_[id].kind == ImageKind::kUser ? User(id).Trusted() : std::nullopt;
}

bool FileFacts::AreFilesTrusted(ImageId id) {
  const Image& image = At(id);
  switch (specs_[id].kind) {
    case ImageKind::kUser:
      return TrustedFileOf(id).has_value();
    case ImageKind::kKernel:
      return image.kernel != nullptr && image.kernel->is_trusted();
    case ImageKind::kJitDump:
      return image.dump != nullptr && image.dump->dump() && image.dump->dump()->IsOfUserOrRoot() &&
             !HasOwnRoot(specs_[id], context_.options);
    default:
      return false;
  }
}

absl::StatusOr<std::span<const JitCode>> FileFacts::JitCodes(ImageId id) {
  if (specs_[id].kind == ImageKind::kJitDump) PROFILER_RETURN_IF_ERROR(OpenDump(id));
  const JitDumpFacts* const dump = At(id).dump.get();
  if (dump == nullptr || !dump->dump()) {
    return absl::NotFoundError(absl::StrCat(specs_[id].path, ": no dump"));
  }
  return dump->dump()->codes();
}

}  // namespace

std::unique_ptr<FactSource> CreateFileFacts(const SymbolizerOptions& options) {
  return std::make_unique<FileFacts>(options);
}

}  // namespace profiler::symbolize
