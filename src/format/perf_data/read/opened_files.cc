#include "src/format/perf_data/read/opened_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/spool.h"
#include "src/base/text.h"
#include "src/base/transfer.h"

namespace profiler::perf_data {
namespace {

// Returns N for the name data.N; -1 for other names.
int DataFileNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "data.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return -1;
  name.remove_prefix(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// Maps DIR/data and DIR/data.N, in this order (perf record --threads).
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
  PROFILER_ASSIGN_OR_RETURN(MappedFile header_file, MappedFile::OpenOwn(path + "/data"));
  files.push_back(std::move(header_file));
  for (int number : numbers) {
    PROFILER_ASSIGN_OR_RETURN(MappedFile file,
                              MappedFile::OpenOwn(absl::StrCat(path, "/data.", number)));
    files.push_back(std::move(file));
  }
  return files;
}

absl::StatusOr<FileHeader> DecodeNamedHeader(std::span<const std::byte> bytes,
                                             const std::string& name) {
  absl::StatusOr<FileHeader> header = DecodeFileHeader(bytes);
  if (header.ok()) return header;
  return absl::DataLossError(absl::StrCat(name, ": ", header.status().message()));
}

// Returns the error, in one line, for input that is neither a recording nor another program's
// profile.
absl::Status Unreadable(std::span<const std::byte> bytes, const std::string& name,
                        const ForeignReader& foreign) {
  const absl::Status no_recording = DecodeNamedHeader(bytes, name).status();
  if (bytes.empty()) return no_recording;
  std::string begins;
  constexpr size_t kShown = 16;
  AppendPrintable(TextOf(bytes.first(std::min(bytes.size(), kShown))), begins);
  std::replace_if(
      begins.begin(), begins.end(), [](char c) { return !absl::ascii_isascii(c); }, '?');
  return absl::DataLossError(absl::StrCat(no_recording.message(), "; nor is it a profile of ",
                                          foreign.FormatNames(), ": it begins with \"", begins,
                                          "\""));
}

absl::Status OpenForeign(std::span<const std::byte> bytes, ForeignReader& foreign,
                         OpenedFiles* opened) {
  PROFILER_ASSIGN_OR_RETURN(ForeignReader::Imported imported, foreign.Read(bytes, opened->name));
  opened->warnings = std::move(imported.warnings);
  PROFILER_ASSIGN_OR_RETURN(MappedFile file,
                            MappedFile::FromFd(imported.recording.get(), opened->name));
  opened->files.push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status OpenForeignPipe(std::span<const std::byte> header, UniqueFd fd, ForeignReader& foreign,
                             OpenedFiles* opened) {
  constexpr size_t kLooksAt = size_t{1} << 16;
  std::vector<std::byte> start(kLooksAt);
  std::copy(header.begin(), header.end(), start.begin());
  PROFILER_ASSIGN_OR_RETURN(
      const size_t more,
      ReadFully(fd.get(), std::span(start).subspan(header.size()), opened->name));
  start.resize(header.size() + more);
  // Input that is neither a recording nor a readable profile may be endless, so do not spool it.
  if (!foreign.MayRead(start)) return Unreadable(start, opened->name, foreign);
  PROFILER_ASSIGN_OR_RETURN(const MappedFile file, Spool(start, fd.get(), opened->name));
  return OpenForeign(file.bytes(), foreign, opened);
}

absl::Status OpenPipe(UniqueFd fd, PipeUse use, ForeignReader* foreign, OpenedFiles* opened) {
  std::byte start[kPipeHeaderSize];
  PROFILER_ASSIGN_OR_RETURN(const size_t size, ReadFully(fd.get(), start, opened->name));
  const std::span<const std::byte> bytes = std::span(start).first(size);
  if (!HasMagic(bytes) && foreign != nullptr) {
    return OpenForeignPipe(bytes, std::move(fd), *foreign, opened);
  }
  // Input that is no recording may be endless, so do not spool it.
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

absl::StatusOr<OpenedFiles> OpenFile(int fd, const std::string& name) {
  OpenedFiles opened;
  opened.name = name;
  PROFILER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromFd(fd, name));
  PROFILER_ASSIGN_OR_RETURN(opened.header, DecodeNamedHeader(file.bytes(), name));
  opened.files.push_back(std::move(file));
  return opened;
}

absl::StatusOr<OpenedFiles> OpenFiles(const std::string& path, PipeUse use,
                                      ForeignReader* foreign) {
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
    if (foreign != nullptr && !HasMagic(file.bytes())) {
      if (!foreign->MayRead(file.bytes())) return Unreadable(file.bytes(), opened.name, *foreign);
      PROFILER_RETURN_IF_ERROR(OpenForeign(file.bytes(), *foreign, &opened));
    } else {
      opened.files.push_back(std::move(file));
      opened.file = std::move(fd);
    }
  } else {
    PROFILER_RETURN_IF_ERROR(OpenPipe(std::move(fd), use, foreign, &opened));
  }
  if (opened.files.empty()) return opened;
  PROFILER_ASSIGN_OR_RETURN(opened.header,
                            DecodeNamedHeader(opened.files.front().bytes(), opened.name));
  return opened;
}

}  // namespace profiler::perf_data
