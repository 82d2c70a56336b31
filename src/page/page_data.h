// Call paths as the bytes that a page carries.
//
//   base64 of raw deflate (RFC 1951) of
//
//     version    1
//     about      text: JSON, small (page.h: what is said of the recordings, events and bounds)
//     code       text: JSON, instructions of functions; "[]" where there are none (code.h)
//     strings    n, then n texts
//     labels     n, then columns: name, image (strings), kind (exports::CodeKind)
//     threads    n, then columns: ±pid, ±tid, name (string), side, how many are one
//     nodes      n, then columns: climb, label + 1 (0: the root)
//     rows       n, then columns: ±event, ±thread, ±path, ±slice, samples, ±period
//
//   text     its size in bytes, then as many of UTF-8
//   number   seven bits a byte, low ones first; the high bit says that more follow
//   ±        the difference to the number before it in the column, with its sign in the lowest bit
//   climb    how many levels the node lies above the place of a callee of the node before it: 0 for
//            its callee, 1 for its next sibling
//   ±period  of a row the difference to its samples × the event's usual period (`about` has that)
//
// What is a name stands nowhere but here, so no name can be taken for markup. A page has its own
// reader: both change together, and the version says whether they fit. docs/page.md draws it for
// others.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/page/call_paths.h"

namespace profiler::page {

inline constexpr uint64_t kPageDataVersion = 1;

// By event: the period that most of its rows have a sample, and so what a row's is told from.
std::vector<uint64_t> UsualPeriods(const CallPaths& paths);

// False where the rows and nodes alone are sure to take more than `bytes`: that deflate packs them
// so well has not been seen.
bool MayFit(const CallPaths& paths, size_t bytes);

// `about` and `code` are JSON. Linear; most of the time is deflate's.
std::string EncodePageData(const CallPaths& paths, std::string_view about, std::string_view code);

}  // namespace profiler::page
