#include "src/importers/import.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/gzip.h"
#include "src/base/mapped_file.h"
#include "src/base/spool.h"
#include "src/base/text.h"
#include "src/base/transfer.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/importers/format_table.h"
#include "src/importers/profile_maker.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

constexpr size_t kLooksAt = size_t{1} << 16;

absl::Status UnknownFormat() {
  return absl::InvalidArgumentError(
      absl::StrCat("the profile's format is unknown; these formats are read: ", FormatNames()));
}

// Maps the input. A pipe whose beginning is not recognised is not read further, because it may have
// no end.
absl::StatusOr<MappedFile> MapInput(const std::string& path, const std::string& name,
                                    bool is_known) {
  const UniqueFd fd(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!fd.valid() || fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, name);
  if (S_ISREG(status.st_mode)) return MappedFile::FromFd(fd.get(), name);
  std::vector<std::byte> start(kLooksAt);
  PROFILER_ASSIGN_OR_RETURN(const size_t size, ReadFully(fd.get(), start, name));
  start.resize(size);
  if (!is_known && !RecognizeFile(TextOf(start))) {
    return Prefixed(absl::StrCat(name, ": "), UnknownFormat());
  }
  return Spool(start, fd.get(), name);
}

}  // namespace

std::optional<Format> RecognizeFile(std::string_view start) {
  constexpr size_t kInflates = size_t{1} << 20;
  return IsGzip(start) ? Recognize(GunzipStart(start, kInflates)) : Recognize(start);
}

absl::StatusOr<ImportedProfile> Import(std::span<const std::byte> bytes,
                                       std::optional<Format> format, const std::string& path) {
  std::string_view text = TextOf(bytes);
  std::string inflated;
  if (IsGzip(text)) {
    PROFILER_ASSIGN_OR_RETURN(inflated, Gunzip(text));
    text = inflated;
  }
  text = WithoutByteOrderMark(text);
  if (!format) format = Recognize(text);
  if (!format) return UnknownFormat();
  ProfileMaker maker;
  const absl::Status read = TraitsOf(*format).read(text, path, maker);
  if (!read.ok()) {
    return absl::Status(read.code(), absl::StrCat(View(TitleOf(*format)), ": ", read.message()));
  }
  if (maker.rows() == 0) {
    return absl::DataLossError(
        absl::StrCat("it has no samples (read as ", View(TitleOf(*format)), ")"));
  }
  return ImportedProfile{std::move(maker).Finish(), *format, bytes.size()};
}

absl::StatusOr<ImportedProfile> ImportFile(const std::string& path, std::optional<Format> format) {
  const std::string name = path == "-" ? "standard input" : path;
  PROFILER_ASSIGN_OR_RETURN(const MappedFile file, MapInput(path, name, format.has_value()));
  auto imported = Import(file.bytes(), format, path == "-" ? std::string() : path);
  if (!imported.ok()) return Prefixed(absl::StrCat(name, ": "), imported.status());
  return imported;
}

void SetImported(std::string_view file, Format format, perf_data::Features* features) {
  perf_data::SetImported({std::string(file), std::string(TitleOf(format))}, features);
}

}  // namespace profiler::importers
