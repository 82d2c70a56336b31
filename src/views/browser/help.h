// The help of the browser's keys.

#pragma once

#include <string>
#include <vector>

namespace profiler::browser {

// Returns one line per key. docs/browser.md has the same keys; a test compares them.
std::vector<std::string> HelpLines();

}  // namespace profiler::browser
