// Stacks of programs in an interpreted language, without what the interpreter itself does between
// their functions:
//
//   main ─ PyEval ─ py::work ─ PyEval ─ call ─ py::parse ─ PyEval ─ malloc
//   main ─ PyEval ─ py::work                 ─ py::parse          ─ malloc
//
// Functions of the language are code that was made at run time and has a name, from a map or a
// dump. Native functions are those in the image of an interpreter (interpreters.h). What stands
// above the outermost function of the language stays, as it is nobody's of the language; so does
// the code of other images, libraries that the language calls, and the kernel.

#pragma once

#include "src/profile/profile.h"

namespace profiler::query {

// Leaves these functions out. What ran in one counts as its caller's own that stays: a function of
// the language, or of a library that called back into the interpreter. So whatever stays keeps what
// it has with all that it calls. Rows keep their number and order. Linear in the profile's frames,
// stacks and rows.
void FoldNative(profile::Profile& profile);

}  // namespace profiler::query
