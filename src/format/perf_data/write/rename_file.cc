#include "src/format/perf_data/write/rename_file.h"

#include <stdio.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "src/base/own_directory.h"
#include "src/base/uninterrupted.h"

namespace profiler::perf_data {

absl::Status RenameInDirectory(const std::string& from, const std::string& to) {
  PROFILER_ASSIGN_OR_RETURN(const PlaceOfFile place, FindPlace(from));
  const int directory = place.directory.get();
  const std::string name = to.substr(to.rfind('/') + 1);
  if (Uninterrupted(
          [&] { return renameat(directory, place.name.c_str(), directory, name.c_str()); }) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, absl::StrCat("cannot rename ", from, " to ", to));
}

absl::StatusOr<std::string> KeepOldFile(const std::string& path) {
  std::string kept = path + ".old";
  PROFILER_RETURN_IF_ERROR(RenameInDirectory(path, kept));
  return kept;
}

}  // namespace profiler::perf_data
