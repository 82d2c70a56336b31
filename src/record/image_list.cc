#include "src/record/image_list.h"

#include <sys/mman.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/format/perf_event/abi.h"
#include "src/machine/sideband/user_image.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/vdso.h"

namespace profiler::record {
namespace {

procfs::BuildId BuildIdOfVdso(std::string_view name) {
  const auto image = symbolize::ElfImage::Parse(
      name == symbolize::kVdsoOf32Bit ? symbolize::VdsoOf32Bit() : symbolize::OwnVdso());
  if (!image.ok()) return {};
  return {image->build_id().begin(), image->build_id().end()};
}

}  // namespace

void ImageList::Add(const perf_event::Mmap2& mapping, uint16_t misc) {
  if ((mapping.prot & PROT_EXEC) == 0) return;
  const symbolize::ImageKind kind =
      sideband::KindOfUserImage(mapping.filename, !mapping.build_id.empty());
  const bool is_vdso = kind == symbolize::ImageKind::kVdso;
  if (!is_vdso && kind != symbolize::ImageKind::kUser) return;
  const std::string_view named = sideband::NameOfUserImage(mapping.filename, mapping.addr);
  const absl::string_view name(named.data(), named.size());
  if (const auto known = images_.find(name); known != images_.end()) {
    known->second.in_file = true;
    return;
  }
  if (!budget_.Take(mapping.pid, sizeof(Images::value_type) + name.size())) return;
  Image image;
  if (is_vdso) {
    image.build_id = BuildIdOfVdso(named);
  } else if ((misc & perf_event::kMiscMmapBuildId) != 0) {
    image.build_id.assign(mapping.build_id.begin(), mapping.build_id.end());
  } else {
    // Read the file at this path below the process's root directory; if it is gone there, below our
    // own.
    const std::string path(name);
    const std::string root = absl::StrCat("/proc/", LivingThreadOf("/proc", mapping.pid), "/root");
    {
      const RaisedCapabilities raised(kToOpenImages);
      image.build_id = procfs::BuildIdOfFile(root + path, root, mapping.ino);
    }
    if (image.build_id.empty()) image.build_id = procfs::BuildIdOfFile(path, {}, mapping.ino);
  }
  order_.push_back(&*images_.emplace(std::string(name), std::move(image)).first);
}

void ImageList::BeginFile() {
  for (auto& [name, image] : images_) image.in_file = false;
}

std::vector<perf_data::BuildIdEntry> ImageList::Entries(const procfs::BuildId& kernel) const {
  std::vector<perf_data::BuildIdEntry> entries;
  if (!kernel.empty()) {
    entries.push_back({-1, perf_event::kMiscKernel, kernel, "[kernel.kallsyms]"});
  }
  for (const auto* known : order_) {
    const auto& [name, image] = *known;
    if (image.build_id.empty() || !image.in_file) continue;
    entries.push_back({-1, perf_event::kMiscUser, image.build_id, name});
  }
  return entries;
}

}  // namespace profiler::record
