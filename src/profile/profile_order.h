// Sorts a profile's tables, for storing and for views that make many tables.
//
//   frames   by image, those without one first, then by offset: neighbours share a function
//   stacks   depth first, the callees of one caller by frame
//   rows     by event, name of the thread, stack, interrupted frame, thread, slice and CPU
//
// Naming the frames and building a tree of the stacks then read each table from front to back. Most
// ids are close to the id before them, so they compress well.
//
// Measured with a recording of 1.47 million samples and 1.06 million stacks: a table of the browser
// takes 60 ms of CPU instead of 170 ms, and loading becomes 0.2 s faster, because naming has fewer
// cache misses.

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

// True if nothing but stacks and rows refers to frames and rows: the profile has no branches, no
// data of accesses to memory, no functions of tracepoints, and no order of samples.
bool CanPutInOrder(const Profile& profile);

// Sorts the tables, if CanPutInOrder. Changes ids of frames and stacks and the order of rows, but
// no counts. The profile must be unnamed. Linear in the profile; uses about 40 bytes per element of
// the largest table.
void PutInOrder(Profile& profile);

}  // namespace profiler::profile
