// Writes the page of a made-up profile to standard output, for tests in a browser. Argument:
//
//   (none)      a server with special characters in its names, two events and a waiting thread
//   diff        two such recordings; the second one is faster
//   flight      such a recording of a flight recorder, with its moment in the 151st of 200 slices
//   large       a million samples, all different in thread, time or stack
//   functions   a program of 20,000 functions
//   threads     a program of 5,000 threads
//   figures FIRST LAST [TID]
//               no page: for cpu-clock in the first profile, these slices and that thread, one line
//               per function with its self and total period, added up stack by stack

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/flamegraph/xml_text.h"
#include "src/views/page/page.h"
#include "src/views/page/testing/many_samples.h"

namespace {

using profiler::exports::CleanUtf8;
using profiler::exports::ProfileForTest;
using profiler::profile::EventId;
using profiler::profile::Mode;
using profiler::profile::Profile;
using profiler::symbolize::ImageKind;

using profiler::page::kSlices;

void DefineFunctions(ProfileForTest& test) {
  for (const char* name : {"entry_SYSCALL_64", "do_syscall_64", "ksys_read", "vfs_read"}) {
    test.Define(name, {.name = name,
                       .image = "[kernel.kallsyms]",
                       .kind = ImageKind::kKernel,
                       .mode = Mode::kKernel});
  }
  test.Define("map",
              {.name = "std::map<std::string, int, std::less<void> >::find(std::string_view) const",
               .image = "/usr/bin/server",
               .inlined = {"std::_Rb_tree<std::string>::_M_lower_bound", "operator<"}});
  test.Define("evil", {.name = "evil</script><img src=x onerror=alert(1)>&amp;\"'\\];]]>\n"
                               "\xff\xed\xa0\x80\u202e"});
  test.Define("unnamed", {.name = "", .image = "/usr/lib/libstripped.so.6"});
  test.Define("jit", {.name = "LazyCompile:~handleRequest app.js:17",
                      .image = "perf-17.map",
                      .kind = ImageKind::kJit});
}

// Adds the server. `speed` is that of Compress, so that two recordings differ.
void AddServer(ProfileForTest& test, uint64_t speed) {
  DefineFunctions(test);
  const EventId blocked = test.AddEvent("offcpu-time");
  const EventId faults = test.AddEvent("page-faults");
  constexpr uint64_t kPeriod = 1'000'000;
  for (uint32_t slice = 0; slice < kSlices; ++slice) {
    const auto add = [&](uint32_t tid, const char* comm, const char* stack, uint64_t count) {
      if (count != 0) test.In(tid, slice, kSlices).Add(comm, stack, count, count * kPeriod);
    };
    add(101, "server", "_start main ServeForever HandleRequest ParseHeaders map", slice % 4);
    add(101, "server", "_start main ServeForever HandleRequest ParseHeaders", slice % 2);
    add(101, "server", "_start main ServeForever HandleRequest Compress deflate longest_match",
        slice < 100 ? 6 / speed : 1);
    add(101, "server", "_start main ServeForever HandleRequest evil", slice % 3 == 0 ? 1 : 0);
    add(102, "server", "_start main ServeForever unnamed", slice % 5 == 0 ? 3 : 0);
    add(102, "server",
        "_start main ServeForever read entry_SYSCALL_64 do_syscall_64 ksys_read vfs_read",
        slice > 150 ? 5 : 1);
    add(103, "node", "_start main uv_run jit Recurse Recurse Recurse unnamed", slice % 7);
    if (slice % 20 == 19) {
      test.In(103, slice, kSlices)
          .Add("node", "_start main uv_run epoll_wait", 1, 120'000'000, blocked);
    }
    if (slice % 10 == 0) {
      test.In(101, slice, kSlices).Add("server", "_start main ReadConfig", 2, 2, faults);
    }
  }
  test.profile().losses.lost_samples = 12;
}

constexpr const char* kCode = R"json([
  {"name": "longest_match", "image": "app", "path": "/usr/bin/app", "event": "cpu-clock", "samples": 700,
   "period": 700000000, "isCut": false,
   "places": [["deflate.c", 12, "", "  while (*a < *b && a++);</script>"], ["deflate.h", 7, "min"]],
   "instructions": [["11a0", "mov %rdi, %rax", 0, 0], ["11a3", "cmp %rdx, (%rax)", 525000000, 0],
                    ["11a6", "cmovb %rdx, %rax", 175000000, 1], ["11aa", "ret", 0, -1]]
},
  {"name": "ParseHeaders", "image": "app", "path": "/usr/bin/app", "event": "cpu-clock", "samples": 100,
   "period": 100000000, "isCut": true, "places": [],
   "instructions": [["1000", "push %rbp", 100000000, -1]]}])json";

// Returns the names of a frame's functions, the innermost first.
std::vector<std::string> NamesOf(const Profile& profile, const profiler::profile::Frame& frame) {
  std::vector<std::string> names;
  for (const profiler::profile::Line& line : profile.LinesOf(frame)) {
    names.push_back(CleanUtf8(profile.text(profile[line.symbol].name)));
  }
  if (names.empty())
    names.push_back("[" + CleanUtf8(profile.text(profile[frame.image].name)) + "]");
  return names;
}

struct Chosen {
  uint32_t first = 0, last = 0, tid = 0;  // 0: any thread
};

void PrintFigures(const Profile& profile, const Chosen& chosen) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> figures;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const profiler::profile::Row& row = profile.rows[i];
    const uint32_t slice = profile.column(profiler::profile::Dimension::kSlice)[i];
    if (row.event != EventId{} || slice < chosen.first || slice > chosen.last) continue;
    if (chosen.tid != 0 && profile[row.thread].tid != chosen.tid) continue;
    std::set<std::string> seen;
    for (auto stack = row.stack; stack != profiler::profile::kNoStack;
         stack = profile[stack].parent) {
      for (const std::string& name : NamesOf(profile, profile[profile[stack].frame])) {
        if (seen.empty()) figures[name].first += row.period;
        if (seen.insert(name).second) figures[name].second += row.period;
      }
    }
  }
  for (const auto& [name, figure] : figures) {
    std::printf("%s\t%lu\t%lu\n", name.c_str(), figure.first, figure.second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  ProfileForTest test, faster;
  std::vector<profiler::page::Side> sides = {{.profile = &test.profile(), .name = "before.data"}};
  profiler::page::PageOptions options{.title = "A made-up server <&> its </title>worker"};
  if (kind == "large") {
    profiler::page::AddManySamples(profiler::page::kMillionSamples, test);
  } else if (kind == "functions") {
    profiler::page::AddManySamples(profiler::page::kManyFunctions, test);
  } else if (kind == "threads") {
    profiler::page::AddManySamples(profiler::page::kManyThreads, test);
  } else {
    AddServer(test, 1);
    options.code = kCode;
  }
  if (kind == "figures") {
    const auto number = [&](int i) {
      return i < argc ? static_cast<uint32_t>(std::stoul(argv[i])) : 0;
    };
    PrintFigures(test.profile(), {.first = number(2), .last = number(3), .tid = number(4)});
    return 0;
  }
  if (kind == "flight") {
    const auto& slices = test.profile().slices;
    sides[0].moment = {.time = slices.begin + 150 * slices.length,
                       .reason = "the signal </script>9"};
  }
  if (kind == "diff") {
    AddServer(faster, 3);
    sides.push_back({.profile = &faster.profile(), .name = "after.data"});
    options.title.clear();
    options.view = profiler::page::OpenedView::kTable;
  }
  const std::string text = profiler::page::Page(sides, options);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
