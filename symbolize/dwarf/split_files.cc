#include "symbolize/dwarf/split_files.h"

#include <dwarf.h>

#include <optional>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/elf/file_holes.h"

namespace profiler::symbolize::dwarf {
namespace {

std::unique_ptr<OpenedFile> OpenDwarf(const std::string& path, const std::string& root,
                                      bool split) {
  auto opened = std::make_unique<OpenedFile>();
  const absl::StatusOr<UniqueFd> fd = OpenRegularFile(path, root);
  if (!fd.ok()) return nullptr;
  absl::StatusOr<MappedFile> file = MappedFile::FromFd(fd->get(), path);
  if (!file.ok()) return nullptr;
  opened->file = *std::move(file);
  absl::StatusOr<ElfImage> image = ElfImage::Parse(opened->file.bytes(), HolesOf(fd->get()));
  if (!image.ok()) return nullptr;
  opened->image = *std::move(image);
  opened->dwarf = std::make_unique<DwarfFile>(opened->image, split);
  return opened;
}

// Opens a file that another file named. It must belong to the user or root.
std::unique_ptr<OpenedFile> OpenNamed(const std::string& path, const std::string& root,
                                      bool split) {
  auto opened = OpenDwarf(path, root, split);
  return opened != nullptr && opened->file.IsOfUserOrRoot() ? std::move(opened) : nullptr;
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string PathIn(std::string_view directory, std::string_view name) {
  if (name.starts_with('/') || directory.empty()) return std::string(name);
  std::string path(directory);
  path += '/';
  return path += name;
}

// Returns the root below which the files named in `files.debug` are looked for: files.root if the
// debug file lies below it, else empty.
std::string RootOfNames(const DebugInfoFiles& files) {
  return files.debug_path.starts_with(files.root) ? files.root : "";
}

// Returns the path of the file `name`; a relative name is relative to `directory`.
std::string PathOf(const std::string& root, std::string_view directory, std::string_view name) {
  std::string path = PathIn(directory, name);
  return path.starts_with('/') && !path.starts_with(root) ? root + path : path;
}

struct AlternateLink {
  std::string_view name;
  std::span<const std::byte> build_id;
};

// Reads .gnu_debugaltlink: a path, NUL, the build-id.
std::optional<AlternateLink> ReadAlternateLink(const ElfImage& image) {
  const ElfSection* link = image.FindSection(".gnu_debugaltlink");
  if (link == nullptr) return std::nullopt;
  ByteReader reader(link->contents);
  const std::string_view name = reader.ReadCString();
  const auto id = reader.ReadBytes(reader.remaining());
  if (!reader.ok() || name.empty() || id.size() < 2) return std::nullopt;
  return AlternateLink{name, id};
}

}  // namespace

std::unique_ptr<OpenedFile> OpenAlternate(const DebugInfoFiles& files) {
  const auto link = ReadAlternateLink(*files.debug);
  if (!link) return nullptr;
  const auto [name, id] = *link;
  std::vector<std::string> paths;
  for (const std::string& directory : files.debug_directories) {
    paths.push_back(BuildIdPath(directory, id) + ".debug");
  }
  if (files.fetched != nullptr) paths.push_back(files.fetched->Find(FileKind::kDebugInfo, id));
  for (const std::string& candidate : paths) {
    auto file = OpenDwarf(candidate, files.root, /*split=*/false);
    if (file != nullptr && SameBuildId(file->image.build_id(), id)) return file;
  }
  if (!files.follow_names) return nullptr;
  auto file = OpenNamed(PathOf(RootOfNames(files), DirectoryOf(files.debug_path), name), files.root,
                        /*split=*/false);
  return file != nullptr && SameBuildId(file->image.build_id(), id) ? std::move(file) : nullptr;
}

std::vector<std::byte> MissingAlternate(const DebugInfoFiles& files) {
  const auto link = ReadAlternateLink(*files.debug);
  if (!link || OpenAlternate(files) != nullptr) return {};
  return {link->build_id.begin(), link->build_id.end()};
}

namespace {

// Returns the name of the split file of a skeleton.
std::string_view SplitName(DwarfFile& file, const OpenUnit& skeleton) {
  const std::string_view name = file.StringOf(skeleton, skeleton.RootAttribute(DW_AT_dwo_name));
  return name.empty() ? file.StringOf(skeleton, skeleton.RootAttribute(DW_AT_GNU_dwo_name)) : name;
}

// Returns the value of the root attribute `name`, or of `gnu_name`, its name in split DWARF 4; 0 if
// the unit has neither.
uint64_t BaseOf(const OpenUnit& unit, unsigned name, unsigned gnu_name) {
  return unit.RootNumber(name).value_or(unit.RootNumber(gnu_name).value_or(0));
}

SkeletonPart PartOf(const OpenUnit& skeleton) {
  SkeletonPart part;
  part.addresses = BytesFrom(skeleton.sections()[SectionId::kAddr],
                             BaseOf(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
  part.ranges = BytesFrom(skeleton.sections()[SectionId::kRanges],
                          skeleton.RootNumber(DW_AT_GNU_ranges_base).value_or(0));
  part.base_address = skeleton.base_address();
  return part;
}

}  // namespace

bool IsSkeleton(const OpenUnit& unit) {
  return unit.type() == DW_UT_skeleton || unit.RootAttribute(DW_AT_GNU_dwo_name) ||
         unit.RootAttribute(DW_AT_dwo_name);
}

SplitFiles::SplitFiles(const DebugInfoFiles& files)
    : paths_({files.image_path, files.debug_path}),
      root_(files.root),
      root_of_names_(RootOfNames(files)),
      follow_names_(files.follow_names) {}

std::unique_ptr<OpenedFile> SplitFiles::Open(const std::string& path) const {
  return OpenNamed(path, root_, /*split=*/true);
}

SplitFiles::Found SplitFiles::Find(DwarfFile& file, const OpenUnit& skeleton) {
  if (!follow_names_) return {};
  const uint64_t id = skeleton.id();
  Found found = FindInPackage(id);
  const std::string_view name = SplitName(file, skeleton);
  if (found.unit == nullptr && !name.empty()) {
    const std::string_view directory =
        file.StringOf(skeleton, skeleton.RootAttribute(DW_AT_comp_dir));
    found = FindInFile(id, PathOf(root_of_names_, directory, name));
    const std::string_view base = name.substr(name.rfind('/') + 1);
    for (size_t i = 0; found.unit == nullptr && i < paths_.size(); ++i) {
      found = FindInFile(id, PathIn(DirectoryOf(paths_[i]), base));
    }
  }
  if (found.unit == nullptr || found.unit->skeleton) return {};
  found.file->Bind(*found.unit, PartOf(skeleton));
  return found;
}

SplitFiles::Found SplitFiles::FindInFile(uint64_t id, const std::string& path) {
  const auto [it, is_new] = files_.try_emplace(path);
  if (is_new) it->second = Open(path);
  if (it->second == nullptr) return {};
  DwarfFile& split = *it->second->dwarf;
  for (const auto& unit : split.units()) {
    const std::shared_ptr<OpenUnit> open = split.Open(*unit);
    if (open == nullptr || open->type() == DW_UT_split_type || open->type() == DW_UT_type) continue;
    if (open->id() == id) return {&split, unit.get()};
  }
  return {};
}

SplitFiles::Found SplitFiles::FindInPackage(uint64_t id) {
  if (!looked_for_package_) OpenPackage();
  const auto it = contributions_.find(id);
  if (it == contributions_.end()) return {};
  return {package_->dwarf.get(), package_->dwarf->AddUnit(it->second)};
}

// .debug_cu_index:
//
//   version (u32 2, or u16 5 and padding), columns, units, slots u32
//   slots × id u64          a hash table
//   slots × row u32         counted from 1; 0: an empty slot
//   columns × section u32   DW_SECT_…
//   units × columns × offset u32
//   units × columns × size u32
//
// Source: DWARF 5, 7.3.5.3; https://gcc.gnu.org/wiki/DebugFissionDWP for version 2.
void SplitFiles::OpenPackage() {
  looked_for_package_ = true;
  for (const std::string& path : paths_) {
    package_ = Open(path + ".dwp");
    if (package_ != nullptr) break;
  }
  if (package_ == nullptr) return;
  const Bytes index = package_->dwarf->section(SectionId::kCuIndex);
  ByteReader header(index);
  const auto version = header.Read<uint16_t>();
  header.Skip(2);
  const uint64_t columns = header.Read<uint32_t>();
  const uint64_t units = header.Read<uint32_t>();
  const uint64_t slots = header.Read<uint32_t>();
  const bool known_version = version == 2 || version == 5;
  if (!header.ok() || !known_version || columns > 16 || slots > header.remaining() / 12) return;
  ByteReader ids(BytesFrom(index, 16));
  ByteReader rows(BytesFrom(index, 16 + slots * 8));
  const uint64_t names_at = 16 + slots * 12;
  for (uint64_t slot = 0; slot < slots; ++slot) {
    const auto id = ids.Read<uint64_t>();
    const uint64_t row = rows.Read<uint32_t>();
    if (row == 0 || row > units) continue;
    ByteReader names(BytesFrom(index, names_at));
    ByteReader offsets(BytesFrom(index, names_at + row * columns * 4));
    Contribution contribution;
    for (uint64_t column = 0; column < columns; ++column) {
      const auto name = names.Read<uint32_t>();
      const uint64_t offset = offsets.Read<uint32_t>();
      switch (name) {
        case DW_SECT_INFO:
          contribution.info = offset;
          break;
        case DW_SECT_ABBREV:
          contribution.abbreviations = offset;
          break;
        case DW_SECT_LINE:
          contribution.lines = offset;
          break;
        case DW_SECT_STR_OFFSETS:
          contribution.string_offsets = offset;
          break;
        case DW_SECT_RNGLISTS:
          // In version 2 of the index, this number stands for another section.
          if (version == 5) contribution.range_lists = offset;
          break;
        default:
          break;
      }
    }
    if (names.ok() && offsets.ok()) contributions_.emplace(id, contribution);
  }
}

}  // namespace profiler::symbolize::dwarf
