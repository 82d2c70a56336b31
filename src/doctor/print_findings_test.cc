#include "src/doctor/print_findings.h"

#include "gtest/gtest.h"

namespace profiler::doctor {
namespace {

std::vector<FindingGroup> Example() {
  return {{"Recording",
           {{"own-programs", "own programs", State::kWorks, "", {}},
            {"kernel-code",
             "kernel code",
             State::kMissing,
             "kernel.perf_event_paranoid forbids it (now 2)",
             {{"run as root", "sudo profiler …", ""},
              {"`sudo sysctl x=1`", "sudo sysctl x=1", "All users may see it."}}}}}};
}

TEST(FindingsTextTest, LongLinesAreBrokenBetweenWords) {
  EXPECT_EQ(FindingsText(Example(), 50),
            "Recording\n"
            "  yes      own programs\n"
            "  no       kernel code: kernel.perf_event_paranoid\n"
            "           forbids it (now 2)\n"
            "           - run as root: `sudo profiler …`\n"
            "           - `sudo sysctl x=1`. Risk: All users\n"
            "             may see it.\n");
}

TEST(FindingsTextTest, NamesCannotAddLines) {
  const std::vector<FindingGroup> groups = {
      {"Process 1 (a\nb)", {{"image", "/x\n  yes evil", State::kMissing, "", {}}}}};
  EXPECT_EQ(FindingsText(groups, 80), "Process 1 (a?b)\n  no       /x? yes evil\n");
}

TEST(CommandsTextTest, EachCommandStandsOnceBelowItsReasonAndRisk) {
  std::vector<FindingGroup> groups = Example();
  groups.push_back(groups[0]);
  EXPECT_EQ(CommandsText(groups),
            "# kernel code: kernel.perf_event_paranoid forbids it (now 2)\n"
            "sudo profiler …\n"
            "# kernel code: kernel.perf_event_paranoid forbids it (now 2)\n"
            "# Risk: All users may see it.\n"
            "# Or: sudo sysctl x=1\n");
}

TEST(FindingsJsonTest, StatesAndRemediesAreMembers) {
  std::vector<FindingGroup> groups = Example();
  groups[0].findings.erase(groups[0].findings.begin());
  groups[0].findings[0].remedies.pop_back();
  EXPECT_EQ(FindingsJson(groups), R"json({
  "groups": [
    {
      "title": "Recording",
      "findings": [
        {
          "id": "kernel-code",
          "name": "kernel code",
          "state": "no",
          "text": "kernel.perf_event_paranoid forbids it (now 2)",
          "remedies": [
            {
              "text": "run as root",
              "command": "sudo profiler …",
              "risk": ""
            }
          ]
        }
      ]
    }
  ]
}
)json");
}

}  // namespace
}  // namespace profiler::doctor
