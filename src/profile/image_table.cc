#include "src/profile/image_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/format/perf_event/code_memory.h"
#include "src/profile/image_spec.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/symbols/module_name.h"

namespace profiler::profile {
namespace {

using symbolize::ImageKind;
using symbolize::Mapping;

constexpr std::string_view kKernelName = "[kernel.kallsyms]";
constexpr uint64_t kUpperHalf = 1ull << 63;
constexpr std::string_view kTooMany = "[too many files]";
// Memory budget in bytes for all images. Each image costs kImageCost plus kCopies copies of its
// name: in this table, in the profile and in the symbolizer.
constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr uint64_t kImageCost = 512;
constexpr uint64_t kCopies = 6;

// Our recorder puts the dump of an interpreter's functions into a folder with the name to show.
std::string NameOfDump(std::string_view path) {
  const std::string_view folder = BaseName(path.substr(0, path.rfind('/')));
  return std::string(folder.starts_with('[') ? folder : BaseName(path));
}

std::string ShortName(ImageKind kind, std::string_view path) {
  switch (kind) {
    case ImageKind::kJitDump:
      return NameOfDump(path);
    case ImageKind::kVdso:
      return "[vdso]";
    case ImageKind::kModule:
      return absl::StrCat("[", ModuleName(path), "]");
    case ImageKind::kJit:
      return std::string(path);
    default:
      return std::string(path.starts_with('[') ? path : BaseName(path));
  }
}

// Returns the mapping of an image that is not a file.
Mapping MappedMemory(uint64_t start, uint64_t size, symbolize::ImageId image) {
  return {RuntimeAddress{start}, size, RuntimeAddress{start}, image};
}

}  // namespace

ImageTable::ImageTable(Profile& profile, symbolize::Images& numbers, ProcessLives& lives)
    : profile_(profile), numbers_(numbers), lives_(lives), budget_(kBudget) {
  const StringId unknown = profile_.strings.Intern("[unknown]");
  profile_.images.push_back({.name = unknown, .long_name = unknown, .kind = ImageKind::kUnknown});
  in_symbolizer_.push_back({});
}

void ImageTable::AddBuildId(std::string_view filename, std::span<const std::byte> build_id) {
  build_ids_.try_emplace(std::string(filename), build_id.begin(), build_id.end());
}

ImageId ImageTable::InProfile(symbolize::ImageId image) const {
  return in_profile_[static_cast<uint32_t>(image)];
}

Mapping ImageTable::UserMapping(const perf_event::Mmap2& mmap, ImageKind kind, uint64_t time) {
  const auto mapping = [&](CodePlace place, std::string_view path, const FileIdentity& identity,
                           uint32_t process) {
    const symbolize::ImageId image = Intern(kind, path, identity, process);
    if (image == too_many_) return MappedMemory(mmap.addr, mmap.len, image);
    return Mapping{RuntimeAddress{mmap.addr}, mmap.len, place, image};
  };
  const RuntimeAddress start{mmap.addr};
  switch (kind) {
    case ImageKind::kJit:
      return mapping(start, perf_event::CodeMemoryName(mmap.pid), {},
                     lives_.OfProgram(mmap.pid, time));
    case ImageKind::kVdso:
      return mapping(FileOffset{0}, mmap.filename, {.build_id = mmap.build_id}, 0);
    case ImageKind::kAnonymous:
      return mapping(start, mmap.filename, {}, lives_.OfProgram(mmap.pid, time));
    default:
      return mapping(FileOffset{mmap.pgoff}, mmap.filename,
                     {mmap.build_id, mmap.maj, mmap.min, mmap.ino},
                     lives_.OfProcess(mmap.pid, time));
  }
}

symbolize::ImageId ImageTable::JitDump(std::string_view filename, uint32_t pid, uint64_t time,
                                       uint64_t mapped_at) {
  return Intern(ImageKind::kJitDump, filename, {.mapped_at = mapped_at},
                lives_.OfProgram(pid, time));
}

namespace {

// Returns the end of the kernel's image, or 0 if it is unknown. Recorders write only the end of the
// kernel's text. But boot code, which stays on the stacks of idle CPUs, lies behind the kernel's
// data. On x86-64 the image may fill the addresses from -2 GiB to -1 GiB. Source:
// Documentation/arch/x86/x86_64/mm.rst, Linux 6.18.
uint64_t KernelImageEnd(uint64_t address) {
  constexpr uint64_t kImageStart = 0xffffffff80000000, kImageEnd = 0xffffffffc0000000;
  return address >= kImageStart && address < kImageEnd ? kImageEnd : 0;
}

}  // namespace

Mapping ImageTable::KernelMapping(const perf_event::Mmap2& mmap) {
  if (!symbolize::IsKernelItself(mmap.filename)) {
    const FileIdentity identity{.build_id = mmap.build_id, .start = {mmap.addr}};
    return MappedMemory(mmap.addr, mmap.len,
                        Intern(ImageKind::kModule, mmap.filename, identity, 0));
  }
  // If the kernel hides its addresses, recorders write the address 0.
  if (mmap.addr == 0) return WholeKernel();
  const symbolize::ImageId image =
      Intern(ImageKind::kKernel, kKernelName, {.build_id = mmap.build_id}, 0);
  const uint64_t end = std::max(mmap.addr + mmap.len, KernelImageEnd(mmap.addr));
  return MappedMemory(mmap.addr, end - mmap.addr, image);
}

Mapping ImageTable::BpfMapping(const perf_event::Ksymbol& symbol) {
  return MappedMemory(symbol.addr, symbol.len, Intern(ImageKind::kBpf, symbol.name, {}, 0));
}

Mapping ImageTable::WholeKernel() {
  return MappedMemory(kUpperHalf, kUpperHalf, Intern(ImageKind::kKernel, kKernelName, {}, 0));
}

symbolize::ImageId ImageTable::Intern(ImageKind kind, std::string_view path,
                                      const FileIdentity& identity, uint32_t pid) {
  std::span<const std::byte> build_id = identity.build_id;
  if (build_id.empty()) {
    if (const auto it = build_ids_.find(path); it != build_ids_.end()) build_id = it->second;
  }
  // A build-id identifies a file. Without one, the inode distinguishes a replaced file, or a file
  // in another container. Memory without a file belongs to its process.
  const bool by_inode = build_id.empty();
  const bool by_process =
      kind == ImageKind::kJit || kind == ImageKind::kJitDump || kind == ImageKind::kAnonymous;
  Key key(kind, std::string(path), std::string(TextOf(build_id)), by_inode ? identity.maj : 0,
          by_inode ? identity.min : 0, by_inode ? identity.ino : 0, by_process ? pid : 0,
          identity.start.value);
  const auto known = ids_.find(key);
  if (known != ids_.end()) return known->second;

  if (!budget_.Take(symbolize::PidOf(pid), kImageCost + kCopies * path.size())) {
    return TooMany(symbolize::PidOf(pid));
  }
  // The file is looked for in the root directory of the first process that maps it.
  const symbolize::ImageId image = Add({.kind = kind,
                                        .path = std::string(path),
                                        .build_id = {build_id.begin(), build_id.end()},
                                        .pid = pid,
                                        .life = {},
                                        .maj = by_inode ? identity.maj : 0,
                                        .min = by_inode ? identity.min : 0,
                                        .ino = by_inode ? identity.ino : 0,
                                        .start = identity.start,
                                        .mapped_at = identity.mapped_at});
  ids_.emplace(std::move(key), image);
  return image;
}

symbolize::ImageId ImageTable::TooMany(uint32_t pid) {
  if (!too_many_) {
    profile_.losses.warnings.push_back(absl::StrCat(
        "process ", pid,
        " has more mapped files than are distinguished: code of the others is shown as ",
        View(kTooMany)));
    too_many_ = Add({.kind = ImageKind::kAnonymous, .path = std::string(kTooMany)});
  }
  return *too_many_;
}

symbolize::ImageId ImageTable::Add(const symbolize::ImageSpec& spec) {
  const symbolize::ImageId image = numbers_.AddImage(spec);
  const auto index = static_cast<uint32_t>(image);
  if (index < in_profile_.size() && in_profile_[index] != unknown_image()) return image;
  if (index >= in_profile_.size()) in_profile_.resize(index + 1, unknown_image());
  in_profile_[index] = ImageId(static_cast<uint32_t>(profile_.images.size()));
  in_symbolizer_.push_back(image);
  profile_.images.push_back({.name = profile_.strings.Intern(ShortName(spec.kind, spec.path)),
                             .long_name = profile_.strings.Intern(spec.path),
                             .kind = spec.kind,
                             .build_id = spec.build_id,
                             .pid = spec.pid});
  return image;
}

}  // namespace profiler::profile
