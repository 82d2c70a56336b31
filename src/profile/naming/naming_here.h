// Tests how names can be found on this machine.

#pragma once

#include <string>

#include "src/base/status.h"

namespace profiler::naming {

struct NamingHere {
  absl::Status confinement;  // OK if a confined process can read foreign files
  bool has_landlock = false;
  std::string servers;    // $DEBUGINFOD_URLS; empty: files are not fetched
  absl::Status fetching;  // OK if servers can be asked; kUnimplemented without the library
};

// Tests naming: confines a process, and loads the fetching library if there are servers to ask.
NamingHere TryNaming();

}  // namespace profiler::naming
