// Function names as FlameGraph's stackcollapse-perf.pl (github.com/brendangregg/FlameGraph, 2024)
// leaves them when it reads `perf script`. Its rules, in its order:
//
//   (…                     a name that begins with a parenthesis is left out: "(anonymous
//                          namespace)::f" too
//   a->b                   is split into frames, for Java's inlined calls; all but the first get
//                          the ending "_[i]". "operator->" loses its arrow by that
//   [unknown]              is called "[BASENAME OF THE IMAGE]", or "[unknown]" without an image
//   ;                      becomes :
//   f(int)                 loses all from the first parenthesis that does not open "(anonymous
//                          namespace)", unless it looks like Go's "pkg.(*Type).method"
//   " '                    are removed
//   Ljava/util/…           loses its L where there is a slash and the process is called java…
//
// Newlines, which it cannot meet, become spaces.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profiler::exports {

// The frames that a name stands for, the outermost first; none if it is left out.
std::vector<std::string> StackcollapseNames(std::string_view name, bool java);

// What a process is called: spaces become underscores.
std::string StackcollapseProcess(std::string_view comm);

// Replaces what has a meaning in the folded form: ';' by ':', and line breaks by spaces.
std::string FoldedName(std::string_view name);

// A name for code that has none: "[" + the image's base name + "]".
std::string UnnamedIn(std::string_view image);

}  // namespace profiler::exports
