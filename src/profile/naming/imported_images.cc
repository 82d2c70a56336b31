#include "src/profile/naming/imported_images.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace profiler::naming {
namespace {

using symbolize::AddressFacts;
using symbolize::CodeBytes;
using symbolize::ImageId;
using symbolize::ImageSpec;

class FilesWithBuildId final : public symbolize::FactSource {
 public:
  explicit FilesWithBuildId(std::unique_ptr<symbolize::FactSource> files)
      : files_(std::move(files)) {}

  ImageId AddImage(const ImageSpec& spec) override {
    // User images that differ only in their process are one image.
    const uint32_t pid = symbolize::IsInFile(spec.kind) ? 0 : spec.pid;
    const auto [known, is_new] = ids_.try_emplace({spec.kind, spec.path, spec.build_id, pid},
                                                  ImageId{static_cast<uint32_t>(images_.size())});
    if (is_new) {
      Image& image = images_.emplace_back(Image{spec, std::nullopt});
      if (!spec.build_id.empty()) image.in_files = files_->AddImage(spec);
    }
    return known->second;
  }

  const ImageSpec& image(ImageId id) const override { return At(id).spec; }

  void SetLife(uint32_t process, const symbolize::ProcessLife& life) override {
    files_->SetLife(process, life);
  }

  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(ImageId dump) override {
    if (At(dump).in_files) return files_->JitCodes(*At(dump).in_files);
    return absl::NotFoundError("imported profiles contain no code");
  }

  std::vector<std::string> TakeWarnings() override { return files_->TakeWarnings(); }

  CodeBytes CodeAt(ImageId id, ElfAddress address, uint64_t size) override {
    if (At(id).in_files) return files_->CodeAt(*At(id).in_files, address, size);
    return {.reason = symbolize::Reason::kNoImageFile};
  }

  bool AreFilesTrusted(ImageId id) override {
    return At(id).in_files && files_->AreFilesTrusted(*At(id).in_files);
  }

  // Ignored: for the kernel, only the names in the profile count.
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

  void WillFind(ImageId id, std::span<const CodePlace> places) override {
    if (At(id).in_files) files_->WillFind(*At(id).in_files, places);
  }

  AddressFacts Find(ImageId id, CodePlace place) override {
    if (At(id).in_files) return files_->Find(*At(id).in_files, place);
    return {.reason = symbolize::Reason::kNoImageFile};
  }

  AddressFacts FindAt(ImageId id, ElfAddress address) override {
    if (At(id).in_files) return files_->FindAt(*At(id).in_files, address);
    return {.reason = symbolize::Reason::kNoImageFile};
  }

 private:
  struct Image {
    ImageSpec spec;
    std::optional<ImageId> in_files;  // set if the image has a build-id
  };

  const Image& At(ImageId id) const { return images_[static_cast<size_t>(id)]; }

  const std::unique_ptr<symbolize::FactSource> files_;
  std::vector<Image> images_;
  std::map<std::tuple<symbolize::ImageKind, std::string, std::vector<std::byte>, uint32_t>, ImageId>
      ids_;
};

}  // namespace

std::unique_ptr<symbolize::FactSource> OnlyFilesWithBuildId(
    std::unique_ptr<symbolize::FactSource> files) {
  return std::make_unique<FilesWithBuildId>(std::move(files));
}

}  // namespace profiler::naming
