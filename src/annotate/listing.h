// An annotated function as text, in the manner of `perf annotate --stdio`:
//
//    Percent |      Source code & Disassembly of prog for cpu-clock (1109 samples, percent: local
//    period)
//   ----------------------------------------------------------------------------------------------------
//            :      hot  /usr/bin/prog 0x1170
//            :      prog.c:6  mix (inlined)
//            :          x ^= x << 13;
//       0.00 :   1180:  mov %eax, %edx
//      11.90 :   1182:  shl $0xd, %edx

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/annotate/annotation.h"

namespace profiler::annotate {

// The text of a source line without its line break; none if there is none to show
// (source_files.h).
using SourceText =
    std::function<std::optional<std::string_view>(std::string_view file, uint32_t line)>;

struct ListingOptions {
  bool source = true;          // else instructions alone
  bool sample_counts = false;  // in the first column, instead of percentages
  bool line_numbers =
      false;  // " // prog.c:6" behind instructions that weigh at least half a percent
};

// Above the listing, where lines are known: those that weigh at least half a percent.
std::string FormatListing(const AnnotatedFunction& function, const ListingOptions& options,
                          const SourceText& text_of);

}  // namespace profiler::annotate
