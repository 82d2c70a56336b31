// The order in which a profile's tables are stored.
//
//   frames   by image, those of none first, and by offset: neighbours are of one function
//   stacks   depth first, the callees of one by frame
//   rows     by event, name of the thread, stack, interrupted frame, thread, slice and CPU
//
// Whoever names the frames or makes a tree of the stacks then reads each table from front to back,
// and most numbers are near to the ones before, so that they compress well.
//
// Private to this package.

#pragma once

#include "src/profile/profile.h"

namespace profiler::profile {

// By thread: the first one of the same name.
std::vector<ThreadId> FirstOfSameName(const Profile& profile);

// Changes the numbers of frames and stacks and the places of rows, and no figure. For profiles that
// are not named yet. Linear in the profile; memory: some 40 bytes an element of the largest table.
void PutInOrder(Profile& profile);

}  // namespace profiler::profile
