#include "src/record/output_files.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/format/perf_data/write/rename_file.h"

namespace profiler::record {
namespace {

using std::chrono::system_clock;

// Returns the time in the form of perf's file names (fetch_current_timestamp in
// tools/perf/util/util.c).
std::string Timestamp(system_clock::time_point when) {
  const time_t seconds = system_clock::to_time_t(when);
  const auto rest = when - system_clock::from_time_t(seconds);
  tm local{};
  localtime_r(&seconds, &local);
  char date[sizeof("YYYYYYMMDDhhmmss")];
  strftime(date, sizeof(date), "%Y%m%d%H%M%S", &local);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(rest).count();
  return absl::StrFormat("%s%02d", date, milliseconds / 10);
}

}  // namespace

absl::StatusOr<std::string> OutputFiles::PutAside(system_clock::time_point now) {
  constexpr std::chrono::milliseconds kHundredth{10};
  // Names stay in the order of the files, even if some files are already removed.
  now = std::max(now, latest_ + kHundredth);
  std::string name = absl::StrCat(path_, ".", Timestamp(now));
  while (access(name.c_str(), F_OK) == 0) {
    now += kHundredth;
    name = absl::StrCat(path_, ".", Timestamp(now));
  }
  PROFILER_RETURN_IF_ERROR(perf_data::RenameInDirectory(written_, name));
  latest_ = now;
  complete_.push_back(name);
  return name;
}

absl::Status OutputFiles::RemoveOldest() {
  absl::Status status;
  while (most_ != 0 && complete_.size() > most_) {
    if (unlink(complete_.front().c_str()) != 0 && errno != ENOENT) {
      status.Update(ErrnoStatus(errno, absl::StrCat("cannot remove ", complete_.front())));
    }
    complete_.pop_front();
  }
  return status;
}

}  // namespace profiler::record
