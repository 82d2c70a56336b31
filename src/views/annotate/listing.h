// Formats an annotated function as text, like `perf annotate --stdio`:
//
//    Percent |      Source code & Disassembly of ls for cycles (950 samples, percent: local period)
//   -----------------------------------------------------------------------------------------------
//            :      hot  /usr/bin/ls 0x1180
//            :      hash.c:6  mix (inlined)
//            :          x ^= x << 13;
//       0.00 :   1180:  mov %eax, %edx
//      11.90 :   1182:  shl $0xd, %edx

// If callees count, two columns, `Children` and `Self`, take the place of `Percent`, as in the
// report. `Children` is the weight of all samples whose call chain contains the instruction.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/weight.h"
#include "src/views/annotate/annotation.h"

namespace profiler::annotate {

// Returns the text of a source line without its line break; nothing if it may not be shown
// (source_files.h).
using SourceText =
    std::function<std::optional<std::string_view>(std::string_view file, uint32_t line)>;

// The 100 % of percentages: periods or samples of the function, or of the whole event.
enum class PercentType : uint8_t { kLocalPeriod, kLocalHits, kGlobalPeriod, kGlobalHits };

struct ListingOptions {
  bool source = true;          // false: only instructions
  bool sample_counts = false;  // first column: counts instead of percentages
  // Adds " // prog.c:6" to instructions with at least half a percent.
  bool line_numbers = false;
  PercentType percent = PercentType::kLocalPeriod;
  // 100 % of the global types: of the event, then of each of AnnotatedFunction::members.
  std::vector<analysis::Weight> totals;
};

// Formats a listing. If source lines are known, a table of lines with at least half a percent
// precedes the instructions.
std::string FormatListing(const AnnotatedFunction& function, const ListingOptions& options,
                          const SourceText& text_of);

}  // namespace profiler::annotate
