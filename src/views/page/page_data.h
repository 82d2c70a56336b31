// Encodes call paths as the bytes that a page contains:
//
//   base64 of raw deflate (RFC 1951) of
//
//     version    1
//     about      text: small JSON about the recordings, events and bounds (page.h)
//     code       text: JSON, instructions of functions; "[]" if there are none (code.h)
//     strings    n, then n texts
//     labels     n, then columns: name, image (strings), kind (exports::CodeKind)
//     threads    n, then columns: ±pid, ±tid, name (string), side, number of merged threads
//     nodes      n, then columns: climb, label + 1 (0: the root)
//     rows       n, then columns: ±event, ±thread, ±path, ±slice, samples, ±period
//
//   text     its size in bytes, then the bytes, in UTF-8
//   number   seven bits per byte, low ones first; a set high bit means that more bytes follow
//   ±        the difference to the previous number in the column, with its sign in the lowest bit
//   climb    number of levels from the previous node up to this node's parent: 0 if the node is a
//            callee of the previous node, 1 if it is its next sibling
//   ±period  a row's difference to its samples × the event's usual period (in `about`)
//
// Names occur only in this data, so no name can act as markup. Each page contains its own reader,
// so both change together; the version guards against a mismatch. docs/page.md describes the format
// for other programs.
//
// Functions without side effects; thread-safe.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/views/page/call_paths.h"

namespace profiler::page {

inline constexpr uint64_t kPageDataVersion = 1;

// Returns each event's most common period per sample. Rows store their difference to that period.
std::vector<uint64_t> UsualPeriods(const CallPaths& paths);

// Returns false if rows and nodes certainly need more than `bytes`, even with the best compression
// ever seen.
bool MayFit(const CallPaths& paths, size_t bytes);

// Returns the data. `about` and `code` are JSON. Takes linear time, most of it in deflate.
std::string EncodePageData(const CallPaths& paths, std::string_view about, std::string_view code);

}  // namespace profiler::page
