#include "src/fleet/comparison/host_run.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

std::string AsText(const diff::Run& run) {
  std::string text = absl::StrCat(run.name, " ", run.event, " ", run.measured.samples, " ",
                                  run.measured.period, "\n");
  for (size_t i = 0; i < run.names.size(); ++i) {
    const analysis::Measured& self = run.measured.self[i];
    const analysis::Measured& total = run.measured.total[i];
    absl::StrAppend(&text, run.names[i], " ", self.samples.count, " ", self.period, " ",
                    total.samples.count, " ", total.period, "\n");
  }
  return text;
}

TEST(RunOfHost, HasEachFunctionByItselfAndWithAllThatItCalls) {
  const Window window = WebAndDatabase().Finish();
  EXPECT_EQ(AsText(RunOfHost(window, "cpu-clock")),
            "h1 cpu-clock 6 600\n"
            "poll 3 300 3 300\n"
            "main 0 0 6 600\n"
            "parse 2 200 2 200\n"
            "inline 0 0 2 200\n"
            "do_syscall_64 1 100 1 100\n");
}

TEST(RunOfHost, TakesClonesForTheirFunctionAndRecursionOnce) {
  WindowBuilder builder;
  const uint32_t event = builder.Event("cycles");
  const uint32_t who = builder.Workload({.program = "app"});
  builder.Add({event, who, StackOf(builder, "walk app;walk.part.0 app;walk.cold app"), 2, 20});
  builder.Add({builder.Event("page-faults"), who, StackOf(builder, "walk app"), 7, 7});
  EXPECT_EQ(AsText(RunOfHost(std::move(builder).Finish(), "cycles")),
            " cycles 2 20\nwalk 2 20 2 20\n");
}

TEST(RunOfHost, OfAnEventThatTheHostDoesNotHaveIsEmpty) {
  EXPECT_EQ(RunOfHost(WebAndDatabase().Finish(), "cycles").measured.samples, 0u);
}

TEST(SumsByEvent, AddsUpAllWindows) {
  std::vector<Window> windows;
  windows.push_back(WebAndDatabase().Finish());
  windows.push_back(WebAndDatabase().Finish());
  const std::vector<Sum> sums = SumsByEvent(windows);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0], (Sum{.keys = {"cpu-clock"}, .samples = 12, .value = 1200}));
}

}  // namespace
}  // namespace profiler::fleet
