#include "src/perf_data/read/opened_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::perf_data {
namespace {

// The number N of a file data.N, -1 for other names.
int DataFileNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "data.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return -1;
  name.remove_prefix(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// DIR/data and DIR/data.N, in this order (perf record --threads).
absl::StatusOr<std::vector<MappedFile>> MapDirectory(const std::string& path) {
  std::vector<int> numbers;
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) return ErrnoStatus(errno, path);
  while (const dirent* entry = readdir(directory)) {
    if (const int number = DataFileNumber(entry->d_name); number >= 0) numbers.push_back(number);
  }
  closedir(directory);
  std::sort(numbers.begin(), numbers.end());
  std::vector<MappedFile> files;
  PROFILER_ASSIGN_OR_RETURN(MappedFile header_file, MappedFile::Open(path + "/data"));
  files.push_back(std::move(header_file));
  for (int number : numbers) {
    PROFILER_ASSIGN_OR_RETURN(MappedFile file,
                              MappedFile::Open(absl::StrCat(path, "/data.", number)));
    files.push_back(std::move(file));
  }
  return files;
}

// The number of bytes that read(2) gives until `size` or the end.
absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name) {
  size_t have = 0;
  while (have < buffer.size()) {
    const ssize_t count = read(fd, buffer.data() + have, buffer.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) break;
    have += count;
  }
  return have;
}

// Puts what comes through a pipe into a file without a name.
absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd,
                                 const std::string& name) {
  const char* directory = std::getenv("TMPDIR");
  if (directory == nullptr || *directory == '\0') directory = "/tmp";
  UniqueFd spool(open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!spool.valid()) spool = UniqueFd(memfd_create("perf.data", MFD_CLOEXEC));
  if (!spool.valid()) return ErrnoStatus(errno, absl::StrCat("no temporary file in ", directory));
  std::vector<std::byte> buffer(1 << 20);
  size_t have = start.size();
  std::copy(start.begin(), start.end(), buffer.begin());
  while (have > 0) {
    for (size_t done = 0; done < have;) {
      const ssize_t count = write(spool.get(), buffer.data() + done, have - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoStatus(errno, absl::StrCat("cannot write to ", directory));
      done += count;
    }
    PROFILER_ASSIGN_OR_RETURN(have, ReadFully(fd, buffer, name));
  }
  return MappedFile::FromFd(spool.get(), name);
}

absl::StatusOr<FileHeader> DecodeNamedHeader(std::span<const std::byte> bytes,
                                             const std::string& name) {
  absl::StatusOr<FileHeader> header = DecodeFileHeader(bytes);
  if (header.ok()) return header;
  return absl::DataLossError(absl::StrCat(name, ": ", header.status().message()));
}

absl::Status OpenPipe(UniqueFd fd, PipeUse use, OpenedFiles* opened) {
  std::byte start[kPipeHeaderSize];
  PROFILER_ASSIGN_OR_RETURN(const size_t size, ReadFully(fd.get(), start, opened->name));
  const std::span<const std::byte> bytes = std::span(start).first(size);
  // What is no recording may have no end.
  if (!HasMagic(bytes)) return DecodeNamedHeader(bytes, opened->name).status();
  const absl::StatusOr<FileHeader> header = DecodeFileHeader(bytes);
  if (header.ok() && header->pipe && use == PipeUse::kStream) {
    opened->header = *header;
    opened->stream = std::move(fd);
    return absl::OkStatus();
  }
  PROFILER_ASSIGN_OR_RETURN(MappedFile file, Spool(bytes, fd.get(), opened->name));
  opened->files.push_back(std::move(file));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedFiles> OpenFiles(const std::string& path, PipeUse use) {
  const bool standard_input = path == "-";
  OpenedFiles opened;
  opened.name = standard_input ? "standard input" : path;
  UniqueFd fd(standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, opened.name);
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, opened.name);
  if (S_ISDIR(status.st_mode)) {
    PROFILER_ASSIGN_OR_RETURN(opened.files, MapDirectory(path));
  } else if (S_ISREG(status.st_mode)) {
    PROFILER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromFd(fd.get(), opened.name));
    opened.files.push_back(std::move(file));
  } else {
    PROFILER_RETURN_IF_ERROR(OpenPipe(std::move(fd), use, &opened));
  }
  if (opened.files.empty()) return opened;
  PROFILER_ASSIGN_OR_RETURN(opened.header,
                            DecodeNamedHeader(opened.files.front().bytes(), opened.name));
  return opened;
}

}  // namespace profiler::perf_data
