// A profile as one self-contained HTML file, which needs no network, no server and no other file.
//
// The reader chooses the view: flame graph, callers and callees of a function, table or heat map,
// for any threads and any part of the time (docs/page.md). So the file contains call paths by
// thread and time slice (call_paths.h), not a picture.
//
//   page.html, page.css, *.js    the files in this folder, joined when this program is built
//   data                         page_data.h as base64, so that no name can act as markup
//
// A page has at most PageOptions::most_bytes, even if the recordings are very large. To keep this
// limit, light parts are merged (bounds.h). The page reports this, and also the losses of the
// recordings.
//
// Functions without side effects; thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/profile/profile.h"
#include "src/views/page/call_paths.h"

namespace profiler::page {

// The view that is open at first.
enum class OpenedView : uint8_t { kFlameGraph, kTable, kCode };

struct PageOptions {
  std::string title;    // title of the page; empty: the names of the recordings
  std::string program;  // name and version of this program
  OpenedView view = OpenedView::kFlameGraph;
  // The event that is shown first. Unset: the first event with samples.
  std::optional<profile::EventId> event;
  bool reverse = false;            // True to start with the graph merged from the leaf.
  bool inverted = false;           // True to start with the root on top.
  std::vector<std::string> notes;  // additional lines for the page's notes
  std::string code = "[]";         // Code::json (code.h)
  std::string function;            // name of the function that is shown first; used for kCode
  // Limit of the page's size, without `code`, which has its own limit.
  size_t most_bytes = 5'000'000;
};

// Returns the page of one recording, or of two recordings to compare: before and after. Each
// profile must distinguish threads, and must keep Dimension::kSlice if the page is to show time.
//
// Takes time linear in rows and stacks. If the page is too large, merges more (bounds.h) and
// compresses again; the data is compressed at most six times.
std::string Page(std::span<const Side> sides, const PageOptions& options = {});

}  // namespace profiler::page
