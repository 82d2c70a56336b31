#include "src/perf_data/rewrite/append_section.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/format/file_header.h"
#include "src/perf_data/write/write_pieces.h"

namespace profiler::perf_data {
namespace {

// Where the next entry of the feature table goes; an error where nothing may go there.
absl::StatusOr<uint64_t> SpareEntry(std::span<const std::byte> file, const FileHeader& header,
                                    int bit) {
  const uint64_t table = header.data.offset + header.data.size;
  uint64_t used_from = file.size();
  bool is_last = true;
  for (const FeatureSection& section : LocateFeatures(file, header, table)) {
    if (section.bit >= bit || !section.whole) is_last = false;
    used_from = std::min(used_from, section.place.offset);
  }
  const uint64_t entry = table + header.features.count() * sizeof(FileSection);
  const bool has_room = entry <= used_from && used_from - entry >= sizeof(FileSection);
  if (header.pipe || header.swapped || !is_last || !has_room) {
    return absl::FailedPreconditionError("the recording has no room for a further section");
  }
  return entry;
}

}  // namespace

absl::Status AppendSection(const std::string& path, int bit, std::string_view section) {
  PROFILER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  PROFILER_ASSIGN_OR_RETURN(FileHeader header, DecodeFileHeader(file.bytes()));
  PROFILER_ASSIGN_OR_RETURN(const uint64_t entry, SpareEntry(file.bytes(), header, bit));
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return WriteError(errno, path);

  const FileSection place = {file.bytes().size(), section.size()};
  const absl::Status written = WriteAt(fd.get(), place.offset, BytesOfText(section), path);
  if (!written.ok()) {
    // Its error is the second one; what is left behind the end does not count.
    (void)!ftruncate(fd.get(), static_cast<off_t>(place.offset));
    return written;
  }
  PROFILER_RETURN_IF_ERROR(WriteAt(fd.get(), entry, BytesOf(place), path));
  header.features.set(static_cast<size_t>(bit));
  return WriteAt(fd.get(), 0, EncodeFileHeader(header), path);
}

}  // namespace profiler::perf_data
