#include "symbolize/image_file.h"

#include <dirent.h>
#include <elf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "symbolize/elf_symbols.h"

namespace profiler::symbolize {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::string Hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text.push_back(kDigits[std::to_integer<unsigned>(b) >> 4]);
    text.push_back(kDigits[std::to_integer<unsigned>(b) & 15]);
  }
  return text;
}

std::string ReadLink(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<size_t>(size));
}

// Whether two paths lead to one file.
bool SameFile(const std::string& a, const std::string& b) {
  struct stat of_a;
  struct stat of_b;
  return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// The directory entry /proc/PID/map_files/START-END of a mapping of `recorded`; empty if none.
std::string FindMapFile(const std::string& process, std::string_view recorded) {
  const std::string directory = absl::StrCat(process, "/map_files");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return {};
  while (const dirent* entry = readdir(entries.get())) {
    std::string path = absl::StrCat(directory, "/", entry->d_name);
    if (ReadLink(path) == recorded) return path;
  }
  return {};
}

struct Candidate {
  std::string path;
  bool needs_build_id = false;  // may be another file of the same name
};

std::string Fetched(FileKind kind, std::span<const std::byte> build_id,
                    const SymbolizerOptions& options) {
  return options.fetched == nullptr ? "" : options.fetched->Find(kind, build_id);
}

std::vector<Candidate> CandidatesFor(const ImageSpec& spec, const SymbolizerOptions& options) {
  std::vector<Candidate> candidates;
  const std::string process = absl::StrCat(options.proc_path, "/", spec.pid);
  std::string_view path = spec.path;
  if (IsDeleted(path)) {
    if (spec.pid != 0) {
      if (ReadLink(process + "/exe") == path) candidates.push_back({process + "/exe"});
      if (std::string file = FindMapFile(process, path); !file.empty()) {
        candidates.push_back({std::move(file)});
      }
    }
    path.remove_suffix(kDeleted.size());
    candidates.push_back({std::string(path), true});
    return candidates;
  }
  // A process in a container has its own file of that name.
  const std::string root = process + "/root";
  const bool own_root = HasOwnRoot(spec.pid, options);
  if (own_root)
    candidates.push_back({absl::StrCat(root, absl::string_view(path.data(), path.size()))});
  candidates.push_back({std::string(path), own_root});
  return candidates;
}

absl::StatusOr<ImageFile> OpenElf(const std::string& path) {
  ImageFile image;
  image.path = path;
  PROFILER_ASSIGN_OR_RETURN(image.file, MappedFile::Open(path));
  PROFILER_ASSIGN_OR_RETURN(image.elf, ElfImage::Parse(image.file.bytes()));
  return image;
}

// CRC-32 of ISO 3309, reflected, as .gnu_debuglink has it.
uint32_t Crc32(std::span<const std::byte> bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320u : 0);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ std::to_integer<uint32_t>(b)) & 0xff];
  }
  return ~crc;
}

std::string DirectoryOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// `path` as a debug file of `image`, if it is one.
std::optional<ImageFile> TryDebugFile(const ImageFile& image, const std::string& path,
                                      const std::optional<DebugLink>& link) {
  absl::StatusOr<ImageFile> file = OpenElf(path);
  if (!file.ok() || !HasSymtab(file->elf) || SameFile(path, image.path)) return std::nullopt;
  const auto id = image.elf.build_id();
  const bool belongs = id.empty() ? link && Crc32(file->file.bytes()) == link->crc
                                  : SameBuildId(id, file->elf.build_id());
  if (!belongs) return std::nullopt;
  return *std::move(file);
}

}  // namespace

bool HasOwnRoot(uint32_t pid, const SymbolizerOptions& options) {
  const std::string root = absl::StrCat(options.proc_path, "/", pid, "/root");
  return pid != 0 && access(root.c_str(), F_OK) == 0 && !SameFile(root, "/");
}

bool IsDeleted(std::string_view path) { return path.ends_with(kDeleted); }

OpenedImage OpenImage(const ImageSpec& spec, const SymbolizerOptions& options) {
  OpenedImage opened;
  opened.reason = Reason::kNoImageFile;
  std::vector<Candidate> candidates = CandidatesFor(spec, options);
  candidates.push_back({Fetched(FileKind::kExecutable, spec.build_id, options), true});
  for (const Candidate& candidate : candidates) {
    absl::StatusOr<ImageFile> file = OpenElf(candidate.path);
    if (!file.ok()) {
      const bool not_elf = absl::IsDataLoss(file.status()) || absl::IsUnimplemented(file.status());
      if (not_elf && opened.reason == Reason::kNoImageFile) opened.reason = Reason::kNotElf;
      continue;
    }
    const bool matches = SameBuildId(spec.build_id, file->elf.build_id());
    if (spec.build_id.empty() ? candidate.needs_build_id : !matches) {
      opened.reason = Reason::kBuildIdMismatch;
      continue;
    }
    opened.reason = Reason::kNamed;
    opened.file = *std::move(file);
    return opened;
  }
  return opened;
}

OpenedImage OpenVdso(const ImageSpec& spec) {
  OpenedImage opened;
  opened.reason = Reason::kNoImageFile;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells the address as a number.
  const auto* base = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (base == nullptr) return opened;
  // The section headers are the last thing in the file.
  Elf64_Ehdr header;
  std::memcpy(&header, base, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return opened;
  }
  const size_t size = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  ImageFile image;
  image.path = "[vdso]";
  image.bytes.assign(base, base + size);
  absl::StatusOr<ElfImage> elf = ElfImage::Parse(image.bytes);
  if (!elf.ok()) return opened;
  image.elf = *std::move(elf);
  if (!spec.build_id.empty() && !SameBuildId(spec.build_id, image.elf.build_id())) {
    opened.reason = Reason::kBuildIdMismatch;
    return opened;
  }
  opened.reason = Reason::kNamed;
  opened.file = std::move(image);
  return opened;
}

std::optional<ImageFile> OpenDebugFile(const ImageFile& image, const SymbolizerOptions& options) {
  const std::optional<DebugLink> link = ReadDebugLink(image.elf);
  std::vector<std::string> paths;
  if (const std::string id = Hex(image.elf.build_id()); id.size() > 2) {
    for (const std::string& directory : options.debug_directories) {
      paths.push_back(
          absl::StrCat(directory, "/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
    }
  }
  if (link && image.path.find('/') != std::string::npos) {
    const std::string beside = DirectoryOf(image.path);
    const absl::string_view name(link->file.data(), link->file.size());
    paths.push_back(absl::StrCat(beside, "/", name));
    paths.push_back(absl::StrCat(beside, "/.debug/", name));
    for (const std::string& directory : options.debug_directories) {
      paths.push_back(absl::StrCat(directory, beside, "/", name));
    }
  }
  paths.push_back(Fetched(FileKind::kDebugInfo, image.elf.build_id(), options));
  for (const std::string& path : paths) {
    if (auto file = TryDebugFile(image, path, link)) return file;
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize
