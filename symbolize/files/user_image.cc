#include "symbolize/files/user_image.h"

#include <utility>

#include "symbolize/elf/embedded_elf.h"
#include "symbolize/files/code_machine_of.h"

namespace profiler::symbolize {
namespace {

// Adds the offset of the ELF file in the archive. Each ELF file of an archive has addresses from 0,
// and the offset makes them unique within the image.
AddressFacts Moved(AddressFacts facts, uint64_t start) {
  if (facts.address) facts.address->value += start;
  if (facts.function) facts.function->start.value += start;
  if (facts.neighbour) facts.neighbour->start.value += start;
  return facts;
}

}  // namespace

OpenedImage UserImage::Open() const {
  if (spec_.kind != ImageKind::kVdso) return OpenImage(spec_, context_.options);
  SymbolizerOptions options = context_.options;
  options.running_kernel =
      kernel_.RunsRecordedKernel() ? RunningKernel::kIsRecorded : RunningKernel::kIsAnother;
  return OpenVdso(spec_, options);
}

ElfFacts& UserImage::Whole() {
  if (whole_ == nullptr) {
    OpenedImage opened = opened_ ? *std::move(opened_) : Open();
    opened_.reset();
    whole_ = std::make_unique<ElfFacts>(spec_, std::move(opened), context_);
  }
  return *whole_;
}

template <class HasIt>
UserImage::Part UserImage::PartAt(uint64_t offset, HasIt has_it) {
  constexpr int kMostTried = 256;
  ElfFacts& whole = Whole();
  if (spec_.kind != ImageKind::kUser || whole.reason() != Reason::kNotElf) return {whole};
  if (auto next = parts_.upper_bound(offset); next != parts_.begin()) {
    const auto& [start, part] = *--next;
    if (part->file() && has_it(part->file()->elf, offset - start)) return {*part, start};
  }
  if (parts_tried_++ >= kMostTried) return {whole};
  OpenedImage opened = OpenImage(spec_, context_.options, SIZE_MAX, FileOffset{offset});
  if (!opened.file || opened.file->start == 0) return {whole};
  const uint64_t start = opened.file->start;
  std::unique_ptr<ElfFacts>& part = parts_[start];
  if (part == nullptr) part = std::make_unique<ElfFacts>(spec_, std::move(opened), context_);
  return {*part, start};
}

UserImage::Part UserImage::PartAt(FileOffset offset) {
  return PartAt(offset.value, [](const ElfImage& elf, uint64_t its_offset) {
    return HasCodeAt(elf, {its_offset});
  });
}

UserImage::Part UserImage::PartAt(ElfAddress address) {
  return PartAt(address.value, [](const ElfImage& elf, uint64_t its_address) {
    return elf.OffsetOf({its_address}).has_value();
  });
}

AddressFacts UserImage::Find(FileOffset offset) {
  const auto [facts, start] = PartAt(offset);
  if (facts.reason() != Reason::kNamed) return Unnamed(facts.reason());
  const std::optional<ElfAddress> address = facts.file()->elf.AddressOf({offset.value - start});
  return address ? Moved(facts.Find(*address), start) : Unnamed(Reason::kNoSymbol);
}

AddressFacts UserImage::FindAt(ElfAddress address) {
  const auto [facts, start] = PartAt(address);
  if (facts.reason() != Reason::kNamed) return Unnamed(facts.reason());
  return Moved(facts.Find({address.value - start}), start);
}

CodeBytes UserImage::CodeAt(ElfAddress address, uint64_t size) {
  const auto [facts, start] = PartAt(address);
  if (facts.reason() != Reason::kNamed) return {facts.reason(), {}};
  if (!facts.file()) return {Reason::kNoImageFile, {}};
  const ElfImage& elf = facts.file()->elf;
  const ElfAddress in_part{address.value - start};
  const std::span<const std::byte> bytes = elf.BytesAt(in_part, size);
  if (bytes.empty()) return {Reason::kNoSymbol, {}};
  const FileOffset offset = elf.OffsetOf(in_part).value_or(FileOffset{});
  return {Reason::kNamed, bytes, FileOffset{offset.value + start}, CodeMachineOf(elf, in_part)};
}

std::optional<TrustedFile> UserImage::Trusted() {
  if (whole_ == nullptr && !opened_) opened_ = Open();
  const std::optional<ImageFile>& found = whole_ != nullptr ? whole_->file() : opened_->file;
  if (!found || !ProcessRootOf(*found, context_.options).empty()) return std::nullopt;
  if (!found->file.IsOfUserOrRoot()) return std::nullopt;
  return TrustedFile{*found->file.owner(), found->file.bytes().size(), found->path};
}

}  // namespace profiler::symbolize
