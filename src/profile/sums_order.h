// The order of the tables of sums.
//
//   frames   by image, those of none first, and by offset: neighbours are of one function
//   stacks   depth first, the callees of one by frame
//   rows     by event, thread, stack and interrupted frame
//
// So whoever makes a tree of them, or names them, reads each table from front to back, and most
// numbers are near to the ones before.
//
// Private to this package.

#pragma once

#include "src/base/sample_sums.h"

namespace profiler::profile {

// Changes nothing but numbers and places. Linear in the sums; memory: some 40 bytes an element of
// the largest table.
void PutInOrder(SampleSums& sums);

}  // namespace profiler::profile
