// How the times of a recording's records become those of this machine's clock.

#pragma once

#include <cstdint>
#include <optional>

namespace profiler::profile {

// Unknown where the recording does not say which clock it has. In nanoseconds of CLOCK_REALTIME.
struct RecordedClock {
  std::optional<int64_t> to_real_time;  // what is to be added to the time of a record
  std::optional<int64_t> began;         // when the recording began, or a little earlier
  std::optional<int64_t> ended;         // when it ended, or any time later
};

}  // namespace profiler::profile
