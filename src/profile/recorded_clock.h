// Converts the times of a recording's records to this machine's clock.

#pragma once

#include <cstdint>
#include <optional>

namespace profiler::profile {

// Times in ns of CLOCK_REALTIME. Unset if the recording does not say which clock it uses.
struct RecordedClock {
  std::optional<int64_t> to_real_time;  // ns to add to the time of a record
  std::optional<int64_t> began;         // begin of the recording, or slightly earlier
  std::optional<int64_t> ended;         // end of the recording, or any later time
};

}  // namespace profiler::profile
