#include "src/record/live_spaces.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/base/living_thread.h"
#include "src/format/perf_event/code_memory.h"
#include "symbolize/files/debug_files.h"

namespace profiler::record {
namespace {

using symbolize::ImageId;
using symbolize::ImageKind;

// Number of uses of a window of code before the window is read again, because JITs change their
// pages bit by bit.
constexpr uint32_t kMostUses = 1000;
// Number of exited processes whose mappings are kept, for samples that were taken before the end of
// the processes.
constexpr size_t kExitedKept = 256;
// Number of processes forgotten between two searches for unmapped images. A search looks at all
// mappings.
constexpr size_t kForgottenBetweenLooks = 256;
// Number of images opened between two searches for unmapped images; more if the last search found
// more mapped images.
constexpr size_t kOpenedBetweenLooks = 4096;
// Budget in bytes for all images, and the cost of an image besides its name. Half of the budget is
// common: one process with thousands of plugins may use it as long as no other process needs it.
// Each open image is also one of this process's mappings, of which it may have 65 530
// (vm.max_map_count). The budget allows at most half as many images.
constexpr uint64_t kBudget = uint64_t{64} << 20, kCommonBudget = kBudget / 2;
constexpr uint64_t kImageCost = 2048;

}  // namespace

// ---- memory

void LiveSpace::Window::Read(reader::Readers& readers, uint32_t of_pid, uint64_t address) {
  memory.resize(pages * kPage);
  const uint64_t page = address & ~(kPage - 1);
  if (pid != of_pid || start != page) size = 0;
  pid = of_pid;
  start = page;
  uses = 0;
  int64_t count = readers.ReadPages(pid, pid, start, memory);
  if (count == -ESRCH) {
    const uint32_t thread = LivingThreadOf("/proc", pid);
    if (thread != pid) count = readers.ReadPages(pid, thread, start, memory);
  }
  if (count > 0) size = static_cast<size_t>(count);
}

bool LiveSpace::Window::Copy(reader::Readers& readers, uint32_t of_pid, uint64_t address,
                             std::span<std::byte> bytes) {
  if (pid != of_pid || !Holds(address, bytes.size())) Read(readers, of_pid, address);
  if (!Holds(address, bytes.size())) return false;
  std::memcpy(bytes.data(), memory.data() + (address - start), bytes.size());
  ++uses;
  return true;
}

bool LiveSpace::ReadCode(RuntimeAddress address, std::span<std::byte> bytes) {
  if (MappedSpace::ReadMemory(address.value, bytes)) return true;
  if (bytes.size() > kPage) return false;
  Window& window = code_[address.value / kPage % kCodeWindows];
  if (window.uses > kMostUses) window.Read(readers_, pid(), address.value);
  if (!window.Copy(readers_, pid(), address.value, bytes)) return false;
  const bool is_unwritten =
      std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  if (!is_unwritten || window.uses == 1) return true;
  window.Read(readers_, pid(), address.value);
  return window.Copy(readers_, pid(), address.value, bytes);
}

// ---- mappings

LiveSpaces::LiveSpaces(const perf_event::RecordLayout& layout,
                       const perf_event::RecordLayout& written, const std::string& proc_path,
                       reader::Readers& readers)
    : layout_(layout),
      unwind_images_(
          [this](ImageId image, uint32_t, const symbolize::Mapping&) { return TakeFile(image); }),
      dumps_(written),
      readers_(readers),
      space_(unwind_images_, readers),
      budget_(kBudget, kCommonBudget) {
  files_.proc_path = proc_path;
  space_.SetMachines(&machines_);
}

symbolize::Mapping LiveSpaces::UserMapping(const perf_event::Mmap2& mmap, ImageKind kind) {
  machines_.Mapped(mmap, kind);
  if (kind == ImageKind::kUser) python_.Mapped(mmap);
  const uint64_t offset = kind == ImageKind::kUser ? mmap.pgoff : 0;
  return {RuntimeAddress{mmap.addr}, mmap.len, FileOffset{offset}, ImageOf(mmap, kind)};
}

ImageId LiveSpaces::ImageOf(const perf_event::Mmap2& mapping, ImageKind kind) {
  // All memory without a file is alike for the unwinder, so the name is the whole key.
  const bool is_file = kind == ImageKind::kUser;
  const std::span<const std::byte> build_id =
      is_file ? mapping.build_id : std::span<const std::byte>();
  const std::string path = kind == ImageKind::kJit ? perf_event::CodeMemoryName(mapping.pid)
                                                   : std::string(mapping.filename);
  const Key key = {path, std::string(TextOf(build_id)), is_file ? mapping.maj : 0,
                   is_file ? mapping.min : 0, is_file ? mapping.ino : 0};
  const auto known = ids_.find(key);
  if (known != ids_.end() && !HasChanged(known->second)) return known->second;
  Image image;
  image.spec = {.kind = kind,
                .path = path,
                .build_id = {build_id.begin(), build_id.end()},
                .pid = mapping.pid};
  if (++opened_ > std::max(kOpenedBetweenLooks, mapped_)) CloseUnmappedImages();
  bool has_room = budget_.Take(mapping.pid, image.cost());
  if (!has_room && opened_ > std::max(kForgottenBetweenLooks, mapped_)) {
    CloseUnmappedImages();
    has_room = budget_.Take(mapping.pid, image.cost());
  }
  if (!has_room) {
    if (!too_many_) {
      too_many_ = Add({.spec = {.kind = ImageKind::kAnonymous,
                                .path = "[image beyond the budget for images]"}});
    }
    return *too_many_;
  }
  if (is_file) {
    if (keep_) keep_(mapping);
    OpenUserImage(image);
  }
  if (kind == ImageKind::kVdso) image.file = symbolize::OpenVdso(image.spec, files_).file;
  // A changed file gets a new id, because it may be another program than the one that was opened
  // under the same name.
  return ids_[key] = Add(std::move(image));
}

uint64_t LiveSpaces::Image::cost() const { return kImageCost + 2 * spec.path.size(); }

ImageId LiveSpaces::Add(Image image) {
  if (!free_.empty()) {
    const ImageId id = free_.back();
    free_.pop_back();
    images_[static_cast<uint32_t>(id)] = std::make_unique<Image>(std::move(image));
    return id;
  }
  images_.push_back(std::make_unique<Image>(std::move(image)));
  return ImageId(static_cast<uint32_t>(images_.size() - 1));
}

void LiveSpaces::OpenUserImage(Image& image) {
  image.file = symbolize::OpenImage(image.spec, files_, kMostHeadersOfOne).file;
  if (!image.file || image.file->file.IsOfUserOrRoot()) return;
  const symbolize::ElfImage& elf = image.file->elf;
  const uid_t owner = image.file->file.owner().value_or(0);
  const size_t headers = elf.sections().size() + elf.segments().size();
  if (!header_budget_.Take(owner, headers)) {
    image.file.reset();
    return;
  }
  image.owner = owner;
  image.headers_of_others = headers;
}

bool LiveSpaces::HasChanged(ImageId id) const {
  const Image& image = *images_[static_cast<uint32_t>(id)];
  return image.file ? image.file->file.HasChanged() : unwind_images_.HasChanged(id);
}

std::optional<symbolize::UnwindImageFiles> LiveSpaces::TakeFile(ImageId id) {
  Image& image = *images_[static_cast<uint32_t>(id)];
  image.was_met = true;
  if (!image.file) return std::nullopt;
  symbolize::UnwindImageFiles files{*std::exchange(image.file, std::nullopt), std::nullopt};
  const symbolize::ElfImage& elf = files.image.elf;
  if (elf.FindSection(".eh_frame") == nullptr && elf.FindSection(".debug_frame") == nullptr) {
    files.debug = symbolize::OpenDebugFile(files.image, files_);
  }
  return files;
}

void LiveSpaces::Named(const perf_event::Comm& comm, bool by_exec) {
  if (!by_exec) return;
  machines_.Forget(comm.pid);
  python_.Forget(comm.pid);
}

void LiveSpaces::Forked(const perf_event::Task& task) {
  if (task.pid != task.tid) return;
  machines_.Forget(task.pid);
  python_.Forget(task.pid);
  readers_.Forget(task.pid);
  python_.Forked(task.ppid, task.pid);
}

void LiveSpaces::Ended(const perf_event::Task& task) {
  if (task.pid != task.tid) return;
  python_.Ended(task.pid);
  exited_.push_back(task.pid);
  if (exited_.size() <= kExitedKept) return;
  const uint32_t oldest = exited_.front();
  exited_.pop_front();
  // Only the first thread is known to have ended. Other threads may run on, or the pid may be in
  // use again.
  if (kill(static_cast<pid_t>(oldest), 0) != 0 && errno == ESRCH) {
    spaces_.Forget(oldest);
    machines_.Forget(oldest);
    python_.Forget(oldest);
    if (++forgotten_ >= kForgottenBetweenLooks) CloseUnmappedImages();
  } else {
    exited_.push_back(oldest);
  }
}

// An open image keeps the blocks of a removed file in use, and is one of the limited number of
// mappings (vm.max_map_count). Tests and package managers make, run and remove thousands of
// programs.
void LiveSpaces::CloseUnmappedImages() {
  forgotten_ = opened_ = mapped_ = 0;
  const std::vector<bool> mapped = spaces_.MappedImages(images_.size());
  for (size_t i = 0; i < images_.size(); ++i) {
    if (images_[i] == nullptr) continue;
    const ImageId id{static_cast<uint32_t>(i)};
    if (mapped[i] || id == too_many_) {
      ++mapped_;
      continue;
    }
    unwind_images_.Close(id);
    if (!std::exchange(images_[i]->is_closed, true)) {
      budget_.Return(images_[i]->spec.pid, images_[i]->cost());
    }
    images_[i]->file.reset();
    header_budget_.Return(images_[i]->owner, std::exchange(images_[i]->headers_of_others, 0));
    if (images_[i]->was_met) continue;
    images_[i].reset();
    free_.push_back(id);
  }
  // An image that is mapped again is opened anew.
  absl::erase_if(ids_,
                 [&](const auto& known) { return !mapped[static_cast<size_t>(known.second)]; });
}

}  // namespace profiler::record
