// Labels of a profile's frames in pictures: functions by name and image, inlined calls apart from
// calls of the same function, and code without a symbol by its image.

#pragma once

#include "src/profile/profile.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

// Returns the labels of every frame, and adds them to `table` as clean UTF-8. Takes time linear in
// frames and lines; each symbol is read once.
FrameLabels LabelFrames(const profile::Profile& profile, LabelTable& table);

}  // namespace profiler::exports
