// The instructions of the heaviest functions, for a page to carry.
//
//   [{"name": "parse", "image": "app", "path": "/usr/bin/app", "event": "cpu-clock",
//     "samples": 12, "period": 12000, "isCut": false,
//     "places": [["parse.c", 12, "", "  while (*at)"]],      file, line, inlined, text of the line
//     "instructions": [["1180", "mov %eax, %edx", 3000, 0]]  address, text, period, place or -1
//   }]
//
// The text of source lines is in it only where it is asked for: who passes a page on passes that
// on.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/annotate/annotation.h"
#include "src/annotate/listing.h"
#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::page {

struct CodeOptions {
  annotate::Syntax syntax = annotate::Syntax::kAtt;
  bool source = false;
  size_t most_functions = 50;
  size_t most_bytes = 2'000'000;  // of JSON; it packs to about a tenth
};

struct Code {
  std::string json = "[]";
  size_t functions = 0;     // that are in it
  size_t source_lines = 0;  // whose text is in it
  // Where these are from, in their order; and why others are not in it, a line a reason.
  std::vector<std::string> source_files;
  std::vector<std::string> refused_sources;
};

// Functions without code at hand are left out, and so are those beyond the bounds, the lightest
// first. `symbolizer` as for annotate::Annotate. Cost: a look-up an instruction, of its line.
Code FindCode(const profile::Profile& profile, profile::EventId event,
              symbolize::Symbolizer& symbolizer, const CodeOptions& options);

}  // namespace profiler::page
