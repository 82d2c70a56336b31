#include "src/profile/losses_text.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::profile {

std::string LossesText(const Losses& losses) {
  std::string text;
  const auto add = [&](uint64_t count, std::string_view one, std::string_view plural,
                       std::string_view rest) {
    if (count == 0) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", View(count == 1 ? one : plural),
                    " ", View(rest));
  };
  // Each LOST record is one gap in the recording.
  const uint64_t gaps = losses.lost_events;
  const std::string in_gaps =
      gaps == 0 ? "" : absl::StrCat(" in ", gaps, gaps == 1 ? " gap" : " gaps");
  add(losses.lost_records, "record", "records", absl::StrCat("lost", in_gaps));
  add(losses.lost_samples, "sample", "samples", "lost");
  add(losses.throttled, "time", "times", "throttled");
  add(losses.undecodable, "record", "records", "undecodable");
  add(losses.unknown_records, "record", "records", "of unknown types");
  add(losses.corrupt_chains, "call chain", "call chains", "corrupt and left out");
  if (losses.is_incomplete) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "the end of the recording");
  }
  return text;
}

}  // namespace profiler::profile
