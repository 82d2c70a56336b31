#include "src/machine/procfs/build_id.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/build_id.h"
#include "src/base/byte_reader.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"

namespace profiler::procfs {
namespace {

constexpr size_t kMaxBuildId = 20;             // bytes; an MMAP2 record has no room for more
constexpr size_t kMaxProgramHeaders = 256;     // real images have about 12
constexpr size_t kMaxNoteSegment = 64 * 1024;  // bytes; real notes take some hundred

using Identity = std::array<unsigned char, EI_NIDENT>;

bool IsNativeElf(const Identity& identity) {
  return std::memcmp(identity.data(), ELFMAG, SELFMAG) == 0 && identity[EI_DATA] == ELFDATA2LSB;
}

bool ReadAt(int fd, uint64_t offset, void* out, size_t size) {
  return pread(fd, out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// Returns the build-id; empty if it is too long for an MMAP2 record.
BuildId BuildIdOf(std::span<const std::byte> notes) {
  const std::span<const std::byte> id = BuildIdInNotes(notes);
  return id.size() <= kMaxBuildId ? BuildId(id.begin(), id.end()) : BuildId();
}

template <class Header, class Segment>
BuildId BuildIdOfElf(int fd) {
  Header header;
  if (!ReadAt(fd, 0, &header, sizeof(header)) || header.e_phentsize != sizeof(Segment) ||
      header.e_phnum > kMaxProgramHeaders) {
    return {};
  }
  std::vector<Segment> segments(header.e_phnum);
  if (!ReadAt(fd, header.e_phoff, segments.data(), segments.size() * sizeof(Segment))) return {};
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteSegment) continue;
    std::vector<std::byte> notes(segment.p_filesz);
    if (!ReadAt(fd, segment.p_offset, notes.data(), notes.size())) continue;
    if (BuildId id = BuildIdOf(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace

BuildId BuildIdOfFd(int fd) {
  Identity identity;
  if (!ReadAt(fd, 0, identity.data(), identity.size()) || !IsNativeElf(identity)) return {};
  switch (identity[EI_CLASS]) {
    case ELFCLASS32:
      return BuildIdOfElf<Elf32_Ehdr, Elf32_Phdr>(fd);
    case ELFCLASS64:
      return BuildIdOfElf<Elf64_Ehdr, Elf64_Phdr>(fd);
    default:
      return {};
  }
}

BuildId BuildIdOfFile(const std::string& path, const std::string& root,
                      std::optional<uint64_t> inode) {
  const absl::StatusOr<UniqueFd> fd = OpenRegularFile(path, root);
  if (!fd.ok()) return {};
  struct stat file;
  if (inode && (fstat(fd->get(), &file) != 0 || file.st_ino != *inode)) return {};
  return BuildIdOfFd(fd->get());
}

BuildId BuildIdOfKernel(const Roots& roots) {
  std::string notes;
  if (!ReadFile(absl::StrCat(roots.sys, "/kernel/notes"), &notes).ok()) return {};
  return BuildIdOf(BytesOfText(notes));
}

}  // namespace profiler::procfs
