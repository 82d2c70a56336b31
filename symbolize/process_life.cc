#include "symbolize/process_life.h"

#include <time.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {

// Field 22 of /proc/PID/stat is in ticks since boot, including time spent suspended.
std::optional<int64_t> BeginOfProcess(const std::string& directory) {
  constexpr size_t kLongestText = 1 << 16;
  const auto stat = ReadTextFile(directory + "/stat", kLongestText);
  if (!stat.ok()) return std::nullopt;
  const std::string_view text = TextOf(*stat);
  const size_t name_end = text.rfind(") ");  // a name may contain brackets and spaces
  if (name_end == std::string_view::npos) return std::nullopt;
  constexpr size_t kThirdField = 3, kStartField = 22;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(View(text.substr(name_end + 2)), ' ');
  int64_t ticks = 0;
  if (fields.size() <= kStartField - kThirdField ||
      !absl::SimpleAtoi(fields[kStartField - kThirdField], &ticks)) {
    return std::nullopt;
  }
  return ReadClock(CLOCK_REALTIME) - ReadClock(CLOCK_BOOTTIME) + ClockTicks(ticks).count();
}

bool IsStillThere(const std::string& directory, const ProcessLife& life) {
  if (life.has_ended && life.over == ProcessLife::kUnknown) return false;
  if (life.seen == ProcessLife::kUnknown) return true;
  const std::optional<int64_t> begin = BeginOfProcess(directory);
  return begin && *begin - kTimeSlack <= life.seen;
}

}  // namespace profiler::symbolize
