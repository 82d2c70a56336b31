// The two forms of `top`: tables one after the other, and a screen.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/live/top_options.h"
#include "src/live/live_recording.h"
#include "src/machine/target/blocked_signals.h"

namespace profiler::cli {

// Writes the samples of `range` to a new recording at `path`, mode 0600. Warnings and the number of
// samples become lines for `say`.
absl::Status WriteShown(live::History& history, const live::Range& range, const TopPlan& plan,
                        const std::string& path, const std::function<void(std::string_view)>& say);

// Prints tables, or JSON documents, until a signal, --iterations or the end of the targets. Returns
// an error of standard output.
absl::Status RunTopText(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live,
                        target::BlockedSignals& signals);

// Shows the screen until the user quits, or the targets end. Errors: those of OpenScreen.
absl::Status RunTopScreen(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live);

}  // namespace profiler::cli
