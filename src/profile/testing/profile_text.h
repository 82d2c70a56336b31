// Prints profiles as text, for expectations.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::profile {

// Returns the functions at a frame, innermost first: "f<g"; without any, offset and image:
// "0x12@libc.so".
std::string FrameText(const Profile& profile, const Frame& frame);

// Returns the frames of a stack, root first: "main;f;g". Unless the leaf is user code, its mode
// follows, such as "[k]".
std::string StackText(const Profile& profile, StackId stack);

// Returns one line per row, sorted: "comm pid/tid: main;f;g  count period". Adds " self h" if the
// interrupted frame is not the leaf, " cpu N" if CPUs are kept, and the event's name in front if
// the profile has several events.
std::string RowsText(const Profile& profile);

}  // namespace profiler::profile
