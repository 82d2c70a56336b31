#include "src/cli/terminal/progress.h"

#include <utility>

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

}  // namespace profiler::cli
