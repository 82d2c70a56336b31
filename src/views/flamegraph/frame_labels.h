// Labels of a profile's frames in pictures. The label of a function consists of its name, image and
// kind; an inlined call has a kind of its own. The label of code without a symbol is its image.

#pragma once

#include "src/profile/profile.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

// Returns the labels of every frame, and adds them to `table` as clean UTF-8. Takes time linear in
// frames and lines, and reads each symbol once.
FrameLabels LabelFrames(const profile::Profile& profile, LabelTable& table);

}  // namespace profiler::exports
