// Function names as FlameGraph's stackcollapse-perf.pl (github.com/brendangregg/FlameGraph, 2024)
// shortens them in the output of `perf script`. Its rules, in order:
//
//   (…                     a name that begins with a parenthesis is dropped, even "(anonymous
//                          namespace)::f"
//   a->b                   is split into frames, for Java's inlined calls; all but the first get
//                          the suffix "_[i]". This also removes the arrow of "operator->"
//   [unknown]              becomes "[BASENAME OF THE IMAGE]", or stays without an image
//   ;                      becomes :
//   f(int)                 ends before the first parenthesis that does not begin "(anonymous
//                          namespace)", unless it looks like Go's "pkg.(*Type).method"
//   " '                    are removed
//   Ljava/util/…           loses its L if it contains a slash and the process's name begins with
//                          java
//
// Newlines, which that script never sees, become spaces.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profiler::exports {

// Returns the frames that a name stands for, the outermost first; none if it is dropped.
std::vector<std::string> StackcollapseNames(std::string_view name, bool java);

// Returns the name of a process: spaces become underscores.
std::string StackcollapseProcess(std::string_view comm);

// Replaces characters with a meaning in the folded format: ';' by ':', and line breaks by spaces.
std::string FoldedName(std::string_view name);

// Returns a name for code without a symbol: "[" + the image's base name + "]".
std::string UnnamedIn(std::string_view image);

}  // namespace profiler::exports
