// What a picture calls the frames of a profile: functions by name and image, calls that were
// inlined apart from calls of the same function, and code without a symbol by its image.

#pragma once

#include "src/export/labels.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// The labels of every frame, which are added to `table` as clean UTF-8. Linear in frames and lines;
// each symbol is looked at once.
FrameLabels LabelFrames(const profile::Profile& profile, LabelTable& table);

}  // namespace profiler::exports
