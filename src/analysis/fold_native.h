// Removes an interpreter's own functions from between the functions of its language:
//
//   main ─ PyEval ─ py::work ─ PyEval ─ call ─ py::parse ─ PyEval ─ malloc
//   main ─ PyEval ─ py::work                 ─ py::parse          ─ malloc
//
// A function of the language is generated code that has a name, from a map or a dump. A native
// function is one in the image of an interpreter (interpreters.h). Frames above the outermost
// function of the language stay, because they do not belong to the language. Code of other images,
// libraries that the language calls, and the kernel also stay.

#pragma once

#include "src/profile/profile.h"

namespace profiler::analysis {

// Removes native functions from stacks. Their own samples count for the nearest remaining caller: a
// function of the language, or of a library that called back into the interpreter. So the total of
// each remaining frame does not change. Rows keep their number and order. Linear in the profile's
// frames, stacks and rows.
void FoldNative(profile::Profile& profile);

}  // namespace profiler::analysis
