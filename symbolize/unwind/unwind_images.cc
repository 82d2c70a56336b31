#include "symbolize/unwind/unwind_images.h"

#include <algorithm>
#include <utility>

namespace profiler::symbolize {
namespace {

// Returns the executable segment that contains the byte at `offset` of the file; null if there is
// none. The start of a mapping does not determine the segment: linkers let segments share pages, so
// the first bytes of a mapping may belong to the previous segment.
const ElfSegment* FindCodeSegment(const ElfImage& elf, FileOffset offset) {
  for (const ElfSegment& segment : elf.segments()) {
    const bool holds =
        offset >= segment.offset && offset.value - segment.offset.value < segment.file_size;
    if (segment.executable && holds) return &segment;
  }
  return nullptr;
}

}  // namespace

struct UnwindImages::Image {
  std::optional<UnwindImageFiles> files;  // the files that `table` reads
  std::unique_ptr<CfiTable> table;
  uint64_t pass = 0;  // pass (StartPass) in which the files were last checked for changes

  bool HasChanged() const {
    return files &&
           (files->image.file.HasChanged() || (files->debug && files->debug->file.HasChanged()));
  }
  bool IsOfOthers() const {
    return !files->image.file.IsOfUserOrRoot() ||
           (files->debug && !files->debug->file.IsOfUserOrRoot());
  }
  bool is_outdated() const {
    return files->image.file.has_lost_bytes() || (table != nullptr && table->is_outdated());
  }
};

UnwindImages::UnwindImages(Opener open) : open_(std::move(open)) {}
UnwindImages::~UnwindImages() = default;

UnwindImages::Image& UnwindImages::Open(uint32_t pid, const Mapping& mapping) {
  const auto index = static_cast<size_t>(mapping.image);
  if (index >= images_.size()) images_.resize(index + 1);
  std::unique_ptr<Image>& image = images_[index];
  if (image == nullptr) {
    image = std::make_unique<Image>();
    image->files = open_(mapping.image, pid, mapping);
    if (image->files) {
      const auto& debug = image->files->debug;
      // The image does not move, so the table may keep a pointer to it.
      auto table = CfiTable::Create(
          image->files->image.elf, debug ? &debug->elf : nullptr,
          [this, opened = image.get()] { return HasChangedInPass(*opened); },
          image->IsOfOthers() ? &of_others_ : nullptr);
      if (table.ok()) image->table = *std::move(table);
    }
  }
  return *image;
}

MappedCode UnwindImages::CodeAt(uint32_t pid, const Mapping& mapping, RuntimeAddress address) {
  MappedCode code{
      .start = mapping.start, .size = mapping.size, .image = static_cast<uint32_t>(mapping.image)};
  const Image& image = Open(pid, mapping);
  if (image.table == nullptr) return code;
  const uint64_t distance = address.value - mapping.start.value;
  const FileOffset offset = (mapping.place + distance).offset();
  const ElfSegment* const segment = FindCodeSegment(image.files->image.elf, offset);
  if (segment == nullptr) {
    code.start = address;
    code.size = 1;
    return code;
  }
  const uint64_t into_segment = offset.value - segment->offset.value;
  const uint64_t before = std::min(distance, into_segment);
  const uint64_t after = std::min(mapping.size - distance, segment->file_size - into_segment);
  code.start.value = address.value - before;
  code.size = before + after;
  code.cfi = image.table.get();
  code.bias = address.value - into_segment - segment->address.value;
  return code;
}

bool UnwindImages::HasChangedInPass(Image& image) const {
  if (pass_ != 0 && std::exchange(image.pass, pass_) == pass_) return false;
  return image.HasChanged();
}

bool UnwindImages::HasChanged(ImageId image) const {
  const Image* const opened = Find(image);
  return opened != nullptr && opened->HasChanged();
}

bool UnwindImages::CopyFileBytes(ImageId image, FileOffset offset,
                                 std::span<std::byte> bytes) const {
  const Image* const opened = Find(image);
  if (opened == nullptr || !opened->files) return false;
  const std::span<const std::byte> file = opened->files->image.elf.bytes();
  if (offset.value > file.size() || bytes.size() > file.size() - offset.value) return false;
  const auto found = file.subspan(offset.value, bytes.size());
  std::copy(found.begin(), found.end(), bytes.begin());
  return !opened->is_outdated();
}

void UnwindImages::Close(ImageId image) {
  const auto index = static_cast<size_t>(image);
  if (index < images_.size()) images_[index] = nullptr;
}

const CfiTable* UnwindImages::table(ImageId image) const {
  const Image* const opened = Find(image);
  return opened == nullptr ? nullptr : opened->table.get();
}

const UnwindImages::Image* UnwindImages::Find(ImageId image) const {
  const auto index = static_cast<size_t>(image);
  return index < images_.size() ? images_[index].get() : nullptr;
}

size_t UnwindImages::memory_used() const {
  size_t size = images_.capacity() * sizeof(images_[0]);
  for (const std::unique_ptr<Image>& image : images_) {
    if (image == nullptr) continue;
    size += sizeof(Image) + (image->table == nullptr ? 0 : image->table->memory_used());
  }
  return size;
}

bool MappedSpace::FindCode(RuntimeAddress address, MappedCode* code) {
  const Mapping* mapping = addresses_ == nullptr ? nullptr : addresses_->Find(address);
  if (mapping == nullptr) return false;
  *code = images_.CodeAt(pid_, *mapping, address);
  return true;
}

bool MappedSpace::ReadMemory(uint64_t address, std::span<std::byte> bytes) {
  const Mapping* mapping =
      addresses_ == nullptr ? nullptr : addresses_->Find(RuntimeAddress{address});
  if (mapping == nullptr) return false;
  const uint64_t distance = address - mapping->start.value;
  if (bytes.size() > mapping->size - distance) return false;
  const CodePlace place = mapping->place + distance;
  return place.in_file && images_.CopyFileBytes(mapping->image, place.offset(), bytes);
}

}  // namespace profiler::symbolize
