// Sorts a profile's tables for storing.
//
//   frames   by image, those without one first, then by offset: neighbours share a function
//   stacks   depth first, the callees of one caller by frame
//   rows     by event, name of the thread, stack, interrupted frame, thread, slice and CPU
//
// Naming the frames and building a tree of the stacks then read each table from front to back. Most
// ids are close to the id before them, so they compress well.
//
// Private to this package.

#pragma once

#include "src/profile/profile.h"

namespace profiler::profile {

// Returns an id as the index that it is.
template <class Id>
uint32_t NumberOf(Id id) {
  return static_cast<uint32_t>(id);
}

// Returns for each thread the first thread with the same name.
std::vector<ThreadId> FirstOfSameName(const Profile& profile);

// Sorts the tables. Changes ids of frames and stacks and the order of rows, but no counts. The
// profile must be unnamed. Linear in the profile; uses about 40 bytes per element of the largest
// table.
void PutInOrder(Profile& profile);

}  // namespace profiler::profile
