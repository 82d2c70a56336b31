#include "src/record/image_list.h"

#include <sys/mman.h>

#include "absl/strings/str_cat.h"
#include "src/perf_event/abi.h"
#include "src/sideband/user_image.h"

namespace profiler::record {

void ImageList::Add(const perf_event::Mmap2& mapping, uint16_t misc) {
  if ((mapping.prot & PROT_EXEC) == 0) return;
  const symbolize::ImageKind kind = sideband::KindOfUserImage(mapping.filename);
  const bool is_vdso = kind == symbolize::ImageKind::kVdso;
  if (!is_vdso && kind != symbolize::ImageKind::kUser) return;
  const absl::string_view name(mapping.filename.data(), mapping.filename.size());
  if (const auto known = by_name_.find(name); known != by_name_.end()) {
    images_[known->second].in_file = true;
    return;
  }
  Image image;
  image.name = std::string(name);
  if (is_vdso) {
    image.build_id = procfs::BuildIdOfVdso();
  } else if ((misc & perf_event::kMiscMmapBuildId) != 0) {
    image.build_id.assign(mapping.build_id.begin(), mapping.build_id.end());
  } else {
    // As the process sees it, and, when that is gone already, as we do.
    const std::string root = absl::StrCat("/proc/", mapping.pid, "/root");
    image.build_id = procfs::BuildIdOfFile(root + image.name, root);
    if (image.build_id.empty()) image.build_id = procfs::BuildIdOfFile(image.name);
  }
  by_name_.emplace(image.name, images_.size());
  images_.push_back(std::move(image));
}

void ImageList::BeginFile() {
  for (Image& image : images_) image.in_file = false;
}

std::vector<perf_data::BuildIdEntry> ImageList::Entries(const procfs::BuildId& kernel) const {
  std::vector<perf_data::BuildIdEntry> entries;
  if (!kernel.empty()) {
    entries.push_back({-1, perf_event::kMiscKernel, kernel, "[kernel.kallsyms]"});
  }
  for (const Image& image : images_) {
    if (image.build_id.empty() || !image.in_file) continue;
    entries.push_back({-1, perf_event::kMiscUser, image.build_id, image.name});
  }
  return entries;
}

}  // namespace profiler::record
