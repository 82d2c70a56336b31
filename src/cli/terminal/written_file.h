// The note about a file that a view has written.

#pragma once

#include <string>
#include <string_view>

namespace profiler::cli {

// Returns how to open a file that a view wrote, by the ending of its name, as a phrase that begins
// with a verb: "open it in a browser". Empty if the file is plain text or its format is unknown.
std::string HowToOpen(std::string_view path);

// Prints "[ wrote PATH; HOW TO OPEN IT ]" if standard error is a terminal and `path` names a file.
// Pipes get no note, because programs already know the file's name. Pages (.html) get none, because
// they have a longer one.
void PrintWrittenFile(std::string_view path);

}  // namespace profiler::cli
