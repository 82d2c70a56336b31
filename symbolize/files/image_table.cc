#include "symbolize/files/image_table.h"

#include <utility>

#include "src/base/byte_reader.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {

ImageId ImageTable::Add(const ImageSpec& spec) {
  const bool by_inode = spec.build_id.empty();
  Key key(spec.kind, spec.path, std::string(TextOf(spec.build_id)),
          IsOfItsProcess(spec) ? spec.pid : 0, by_inode ? spec.maj : 0, by_inode ? spec.min : 0,
          by_inode ? spec.ino : 0, spec.start.value);
  Key first = key;
  std::get<kMajor>(first) = std::get<kMinor>(first) = 0;
  std::get<kInode>(first) = std::get<kStart>(first) = 0;
  const bool says_all = key != first;
  if (const auto known = firsts_.find(first); known != firsts_.end() && !says_all) {
    return Known(known->second, spec);
  }
  const auto [it, is_new] = ids_.try_emplace(std::move(key), ImageId(images_.size()));
  if (!is_new) return Known(it->second, spec);
  firsts_.try_emplace(std::move(first), it->second);
  images_.push_back({spec});
  images_.back().spec.life = LifeOf(spec.pid);
  return it->second;
}

ImageId ImageTable::Known(ImageId id, const ImageSpec& spec) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (image.is_settled) return id;
  image.spec.pid = spec.pid;  // the latest process is the most likely to live
  image.spec.life = LifeOf(spec.pid);
  return id;
}

// Returns true if the process is part of the image's identity, because it sees other files than we
// do.
bool ImageTable::IsOfItsProcess(const ImageSpec& spec) {
  if (spec.kind == ImageKind::kJit || spec.kind == ImageKind::kJitDump ||
      spec.kind == ImageKind::kAnonymous) {
    return true;
  }
  if (spec.kind != ImageKind::kUser || !spec.build_id.empty()) return false;
  return IsDeleted(spec.path) || HasItsOwnRoot(spec);
}

bool ImageTable::HasItsOwnRoot(const ImageSpec& spec) {
  const auto [it, is_new] = has_own_root_.try_emplace(spec.pid, false);
  if (is_new) {
    it->second = HasOwnRoot({.pid = spec.pid, .life = LifeOf(spec.pid)}, options_);
  }
  return it->second;
}

ProcessLife ImageTable::LifeOf(uint32_t process) const {
  const auto known = lives_.find(process);
  return known == lives_.end() ? ProcessLife() : known->second;
}

void ImageTable::Settle(ImageId id) {
  Image& image = images_[static_cast<uint32_t>(id)];
  image.is_settled = true;
  image.spec.life = LifeOf(image.spec.pid);
}

}  // namespace profiler::symbolize
