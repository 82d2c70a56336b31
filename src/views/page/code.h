// The instructions of the heaviest functions, which a page contains as JSON:
//
//   [{"name": "parse", "image": "app", "path": "/usr/bin/app", "event": "cpu-clock",
//     "samples": 12, "period": 12000, "isCut": false,
//     "places": [["parse.c", 12, "", "  while (*at)"]],      file, line, inlined, text of the line
//     "instructions": [["1180", "mov %eax, %edx", 3000, 0]]  address, text, period, place or -1
//   }]
//
// The text of source lines is included only on request, because everybody who gets the page can
// read it.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/listing.h"
#include "symbolize/symbolizer.h"

namespace profiler::page {

struct CodeOptions {
  annotate::Syntax syntax = annotate::Syntax::kAtt;
  bool source = false;
  size_t most_functions = 50;
  size_t most_bytes = 2'000'000;  // limit of `json`, which compresses to about a tenth
};

struct Code {
  std::string json = "[]";
  size_t functions = 0;     // number of functions in `json`
  size_t source_lines = 0;  // number of source lines whose text is in `json`
  // source_files has the files of these source lines, sorted. refused_sources has one message for
  // each reason why other files were left out.
  std::vector<std::string> source_files;
  std::vector<std::string> refused_sources;
};

// Returns the code. Leaves out functions whose code is unavailable, and the lightest functions
// beyond the bounds. `symbolizer`: see annotate::Annotate. Cost: one look-up of a source line per
// instruction.
Code FindCode(const profile::Profile& profile, profile::EventId event,
              symbolize::Symbolizer& symbolizer, const CodeOptions& options);

}  // namespace profiler::page
