#include "symbolize/files/image_table.h"

#include <utility>

#include "src/base/byte_reader.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {

ImageId ImageTable::Add(const ImageSpec& spec) {
  Key key(spec.kind, spec.path, std::string(TextOf(spec.build_id)),
          IsOfItsProcess(spec) ? spec.pid : 0);
  const auto [it, is_new] = ids_.try_emplace(std::move(key), ImageId(images_.size()));
  if (is_new) {
    images_.push_back({spec});
  } else if (Image& image = images_[static_cast<uint32_t>(it->second)]; !image.is_settled) {
    image.spec.pid = spec.pid;  // the latest process is the likeliest to live
  }
  return it->second;
}

// The process says where to look, and tells files apart only if it sees other ones than we do.
bool ImageTable::IsOfItsProcess(const ImageSpec& spec) {
  if (spec.kind == ImageKind::kJit || spec.kind == ImageKind::kJitDump ||
      spec.kind == ImageKind::kAnonymous) {
    return true;
  }
  if (spec.kind != ImageKind::kUser || !spec.build_id.empty()) return false;
  return IsDeleted(spec.path) || HasItsOwnRoot(spec.pid);
}

bool ImageTable::HasItsOwnRoot(uint32_t pid) {
  const auto [it, is_new] = has_own_root_.try_emplace(pid, false);
  if (is_new) it->second = HasOwnRoot(pid, options_);
  return it->second;
}

}  // namespace profiler::symbolize
