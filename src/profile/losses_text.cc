#include "src/profile/losses_text.h"

#include "absl/strings/str_cat.h"

namespace profiler::profile {

std::string LossesText(const Losses& losses) {
  std::string text;
  const auto add = [&](uint64_t count, absl::string_view what) {
    if (count != 0) absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", what);
  };
  // Each LOST record is one gap in the recording.
  const uint64_t gaps = losses.lost_events;
  const std::string in_gaps =
      gaps == 0 ? "" : absl::StrCat(" in ", gaps, gaps == 1 ? " gap" : " gaps");
  add(losses.lost_records, absl::StrCat("records lost", in_gaps));
  add(losses.lost_samples, "samples lost");
  add(losses.throttled, "times throttled");
  add(losses.undecodable, "records undecodable");
  add(losses.unknown_records, "records of unknown types");
  add(losses.corrupt_chains, "call chains corrupt and left out");
  return text;
}

}  // namespace profiler::profile
