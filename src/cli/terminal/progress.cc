#include "src/cli/terminal/progress.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {

Progress::Progress(bool wanted)
    : Progress(Clock::now, wanted && ErrorsAreShownLive()
                               ? std::function<void(std::string_view)>(ShowLiveLine)
                               : nullptr) {}

Progress::Progress(std::function<Clock::time_point()> now,
                   std::function<void(std::string_view)> put)
    : now_(std::move(now)), put_(std::move(put)), next_(now_() + kDelay) {}

void Progress::Show(absl::FunctionRef<std::string()> describe) {
  if (put_ == nullptr) return;
  const Clock::time_point now = now_();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  put_(describe());
}

void Progress::Clear() {
  if (std::exchange(shown_, false)) put_("");
}

std::string ReadingText(std::string_view path, uint64_t done, uint64_t all) {
  constexpr double kMegabyte = 1e6;
  std::string text =
      absl::StrFormat("Reading %s: %.0f", path, static_cast<double>(done) / kMegabyte);
  if (all != 0) absl::StrAppendFormat(&text, " of %.0f", static_cast<double>(all) / kMegabyte);
  return text + " MB";
}

}  // namespace profiler::cli
