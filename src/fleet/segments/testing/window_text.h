// Windows for tests, and windows as text.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/segments/window_builder.h"

namespace profiler::fleet {

// Builds a stack from "main nginx;epoll_wait libc.so.6": function and image, outermost first.
inline uint32_t StackOf(WindowBuilder& builder, std::string_view text) {
  uint32_t stack = kNoCaller;
  while (!text.empty()) {
    const std::string_view frame = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(frame.size() + 1, text.size()));
    const size_t space = std::min(frame.find(' '), frame.size());
    stack = builder.Stack(stack, frame.substr(0, space),
                          frame.substr(std::min(space + 1, frame.size())));
  }
  return stack;
}

// Builds a window of a machine that runs nginx (a web service) and postgres (a database).
inline WindowBuilder WebAndDatabase() {
  WindowBuilder builder;
  Window& window = builder.window();
  window.host = "h1";
  window.labels = {{"region", "eu"}, {"release", "1.2"}};
  window.begin = 1'764'115'200'000'000'000;
  window.length = 10'000'000'000;
  window.frequency = 49;
  window.cpus = 2;
  window.version = "profiler 1.0.0";
  window.losses = {.lost_samples = 3, .chains = 10, .cut_chains = 1};
  const uint32_t event = builder.Event("cpu-clock");
  const uint32_t web = builder.Workload({.service = "web", .program = "nginx", .build_id = "ab12"});
  const uint32_t database = builder.Workload(
      {.service = "db", .container = "c0ffee", .pod = "p-1", .program = "postgres"});
  builder.Add({event, web, StackOf(builder, "main nginx;poll libc.so.6"), 3, 300});
  builder.Add({event, web, StackOf(builder, "main nginx;inline ;parse nginx"), 2, 200});
  builder.Add(
      {event, database, StackOf(builder, "main postgres;do_syscall_64 [kernel.kallsyms]"), 1, 100});
  return builder;
}

// Returns a sorted line per row: "cpu-clock web nginx | main<nginx> poll<libc.so.6> 3 300".
inline std::string RowsAsText(const Window& window) {
  std::vector<std::string> lines;
  for (const Row& row : window.rows) {
    std::string stack;
    for (uint32_t at = row.stack; at != kNoCaller; at = window.stacks[at].caller) {
      const Frame& frame = window.frames[window.stacks[at].frame];
      const std::string_view image = window.strings[frame.image];
      stack = absl::StrCat(View(window.strings[frame.function]),
                           image.empty() ? "" : absl::StrCat("<", View(image), ">"), " ", stack);
    }
    const Workload& workload = window.workloads[row.workload];
    std::string who;
    for (const StringId name : {workload.service, workload.container, workload.pod,
                                workload.program, workload.build_id}) {
      if (name != StringId::kEmpty) absl::StrAppend(&who, View(window.strings[name]), " ");
    }
    lines.push_back(absl::StrCat(View(window.strings[window.events[row.event].name]), " ", who,
                                 "| ", stack, row.samples, " ", row.value, "\n"));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace profiler::fleet
