// Profiles as text, for expectations.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::profile {

// "f<g": the functions at a frame, innermost first; "0x12@libc.so" (offset and DSO) without any.
std::string FrameText(const Profile& profile, const Frame& frame);

// Its frames, root first: "main;f;g". The leaf's own mode shows as "[k]" behind it where that is
// not user code.
std::string StackText(const Profile& profile, StackId stack);

// One line a row, sorted: "comm pid/tid: main;f;g  count period", with " self h" where the sample's
// own frame is not the leaf, " cpu N" and " at TIME" where they are kept, and the event's name in
// front where there are several.
std::string RowsText(const Profile& profile);

}  // namespace profiler::profile
