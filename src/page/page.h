// A profile as one HTML file that needs nothing else: no network, no server, no other file.
//
// It shows what the reader asks it for: flame graph, callers and callees of one function, a table,
// a heat map, for any threads and any part of the time (docs/page.md). So it carries call paths by
// thread and slice of time (call_paths.h), not a picture.
//
//   page.html, page.css, *.js    as they are in this folder, joined when this program is built
//   data                         page_data.h, as base64: whatever a name is made of stays a name
//
// A page has at most PageOptions::most_bytes, whatever the recordings have: what is lightest is
// shown together (bounds.h), and the page says so, as it says what recordings lost.
//
// Pure functions; thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/page/call_paths.h"
#include "src/profile/profile.h"

namespace profiler::page {

// What is shown first.
enum class OpenedView : uint8_t { kFlameGraph, kTable, kCode };

struct PageOptions {
  std::string title;    // empty: the recordings' names
  std::string program;  // that makes the page, with its version
  OpenedView view = OpenedView::kFlameGraph;
  std::optional<profile::EventId> event;  // that is shown first; else the first with samples
  bool reverse = false;                   // merged from the leaf, at first
  bool inverted = false;                  // the root on top, at first
  std::vector<std::string> notes;         // lines that stand among the page's own
  std::string code = "[]";                // CodeAsJson (code.h)
  std::string function;                   // that is shown first, for kCode
  // Without the code's, which has a bound of its own.
  size_t most_bytes = 5'000'000;
};

// One side, or two that are compared: before and after. Each profile has threads apart and
// Dimension::kSlice; without that, the page has no time.
//
// Cost: linear in rows and stacks, and deflate, of what does not fit up to six times.
std::string Page(std::span<const Side> sides, const PageOptions& options = {});

}  // namespace profiler::page
