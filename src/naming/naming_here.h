// How names come about on this machine.

#pragma once

#include <string>

#include "src/base/status.h"

namespace profiler::naming {

struct NamingHere {
  absl::Status confinement;  // OK: a process without rights reads the files of others
  bool has_landlock = false;
  std::string servers;    // $DEBUGINFOD_URLS; empty: files are not asked for
  absl::Status fetching;  // OK: there is what asks servers; kUnimplemented where not
};

// Tries it: confines a process, and loads what fetches files if there are servers to ask.
NamingHere TryNaming();

}  // namespace profiler::naming
