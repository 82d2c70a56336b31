#include "src/views/flamegraph/folded.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/views/flamegraph/function_names.h"
#include "src/views/flamegraph/testing/profile_for_test.h"

namespace profiler::exports {
namespace {

using profile::EventId;
using profile::Mode;
using symbolize::ImageKind;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Folded, IsEmptyWithoutSamples) { EXPECT_EQ(Folded(ProfileForTest().profile()), ""); }

TEST(Folded, SumsPeriodsOfEqualStacksAndSortsLines) {
  ProfileForTest test;
  test.Add("app", "main g", 1, 10).Add("app", "main f", 2, 30).Add("app", "main g", 1, 5);
  test.Add("aaa", "main", 1, 7);
  EXPECT_EQ(Folded(test.profile()),
            "aaa;main 7\n"
            "app;main;f 30\n"
            "app;main;g 15\n");
}

TEST(Folded, CountsSamplesWhenAsked) {
  ProfileForTest test;
  test.Add("app", "main f", 2, 30).Add("app", "main", 3, 5);
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "app;main 3\n"
            "app;main;f 2\n");
}

TEST(Folded, CountsSamplesThatHaveNoPeriodOnceEach) {
  ProfileForTest test;
  test.Add("app", "main", 3);
  test.profile().rows[0].period = 0;
  EXPECT_EQ(Folded(test.profile()), "app;main 3\n");
}

TEST(Folded, OrdersByTheBytesOfTheLineEvenIfANameBeginsAnother) {
  ProfileForTest test;
  test.Add("p", "a x")
      .Add("p", "a")
      .Add("p", "a-b")
      .Add("p", "a-b c")
      .Add("p", "ab")
      .Add("p", "a=");
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "p;a 1\n"
            "p;a-b 1\n"
            "p;a-b;c 1\n"
            "p;a;x 1\n"
            "p;a= 1\n"
            "p;ab 1\n");
}

TEST(Folded, MergesAddressesOfAFunctionAndThreadsOfAName) {
  ProfileForTest test;
  test.Define("main1", {.name = "main"}).Define("main2", {.name = "main", .mode = Mode::kUnknown});
  test.Add("a b", "main1 f").Add("a_b", "main2 f").Add("a b", "main2 g");
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "a_b;main;f 2\n"
            "a_b;main;g 1\n");
}

TEST(Folded, NamesCodeWithoutSymbolAfterItsImage) {
  ProfileForTest test;
  test.AddFrames("app", {{.name = "", .image = "/usr/lib/libfoo.so.1"},
                         {.name = "", .image = "[unknown]", .kind = ImageKind::kUnknown},
                         {.name = "", .image = "[vdso]", .kind = ImageKind::kVdso},
                         {.name = "", .image = "//anon", .kind = ImageKind::kAnonymous},
                         {.name = "", .image = "[kernel.kallsyms]", .kind = ImageKind::kKernel}});
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "app;[libfoo.so.1];[unknown];[[vdso]];[anon];[[kernel.kallsyms]] 1\n");
}

TEST(Folded, ShowsInlinedFunctionsAsFrames) {
  ProfileForTest test;
  test.AddFrames("app", {{.name = "main"}, {.name = "f", .inlined = {"g", "h"}}});
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}), "app;main;f;g;h 1\n");
}

TEST(Folded, LeavesOutFramesThatBeginWithAParenthesis) {
  ProfileForTest test;
  test.AddFrames("app", {{.name = "main"},
                         {.name = "(anonymous namespace)::f"},
                         {.name = "(anonymous namespace)::g"},
                         {.name = "h"}});
  test.AddFrames("app", {{.name = "main"}, {.name = "(anonymous namespace)::f"}});
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "app;main 1\n"
            "app;main;h 1\n");
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples, .names = NameStyle::kFull}),
            "app;main;(anonymous namespace)::f 1\n"
            "app;main;(anonymous namespace)::f;(anonymous namespace)::g;h 1\n");
}

TEST(Folded, TidiesJavaOnlyInProcessesCalledJava) {
  ProfileForTest test;
  const std::vector<ProfileForTest::Function> stack = {{.name = "Ljava/io/PrintStream;::print"}};
  test.AddFrames("java", stack).AddFrames("app", stack);
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "app;Ljava/io/PrintStream:::print 1\n"
            "java;java/io/PrintStream:::print 1\n");
}

TEST(Folded, EscapesWhatHasAMeaning) {
  ProfileForTest test;
  test.AddFrames("evil;\ncomm", {{.name = "a;b\nc d"}, {.name = "\xff<&>"}});
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples}),
            "evil:_comm;a:b c d;\xff<&> 1\n");
  EXPECT_EQ(Folded(test.profile(), {.weight = WeightBy::kSamples, .names = NameStyle::kFull}),
            "evil: comm;a:b c d;\xff<&> 1\n");
}

TEST(Folded, TakesTheFirstEventThatHasSamplesOrTheOneWanted) {
  ProfileForTest test;
  const EventId faults = test.AddEvent("page-faults");
  const EventId switches = test.AddEvent("context-switches");
  test.Add("app", "s", 1, 1, switches).Add("app", "f", 1, 1, faults);
  EXPECT_EQ(Folded(test.profile()), "app;f 1\n");
  EXPECT_EQ(Folded(test.profile(), {.event = switches}), "app;s 1\n");
  EXPECT_EQ(Folded(test.profile(), {.event = EventId{0}}), "");
}

TEST(Folded, WritesDeepAndManyStacksInPiecesOfWholeLines) {
  ProfileForTest test;
  std::vector<ProfileForTest::Function> deep(8000, {.name = "recursive"});
  for (int i = 0; i < 30; ++i) {
    deep.back().name = "leaf" + std::to_string(i);
    test.AddFrames("app", deep);
  }
  size_t pieces = 0, lines = 0;
  WriteFolded(test.profile(), {}, [&](std::string_view text) {
    ++pieces;
    EXPECT_EQ(text.back(), '\n');
    for (char c : text) lines += c == '\n';
  });
  EXPECT_EQ(lines, 30u);
  EXPECT_GT(pieces, 1u);
}

TEST(StackcollapseNames, CutsParametersButKeepsAnonymousNamespacesAndGo) {
  EXPECT_THAT(StackcollapseNames("ns::f(int, char*) const", false), ElementsAre("ns::f"));
  EXPECT_THAT(StackcollapseNames("ns::(anonymous namespace)::f(int)", false),
              ElementsAre("ns::(anonymous namespace)::f"));
  EXPECT_THAT(StackcollapseNames("std::function<void (int)>::operator()", false),
              ElementsAre("std::function<void "));
  EXPECT_THAT(StackcollapseNames("net/http.(*Client).Do", false),
              ElementsAre("net/http.(*Client).Do"));
}

TEST(StackcollapseNames, SplitsArrowsAndMarksWhatFollows) {
  EXPECT_THAT(StackcollapseNames("A.a->B.b->C.c_[i]", false),
              ElementsAre("A.a", "B.b_[i]", "C.c_[i]"));
  EXPECT_THAT(StackcollapseNames("Ptr::operator->", false), ElementsAre("Ptr::operator"));
  EXPECT_THAT(StackcollapseNames("", false), IsEmpty());
}

TEST(StackcollapseNames, RemovesQuotesAndJavasLeadingL) {
  EXPECT_THAT(StackcollapseNames("RegExp:[&<>\"']", false), ElementsAre("RegExp:[&<>]"));
  EXPECT_THAT(StackcollapseNames("Lorg/a/B;.<init>(I)V", true), ElementsAre("org/a/B:.<init>"));
  EXPECT_THAT(StackcollapseNames("Logger::log", true), ElementsAre("Logger::log"));
}

}  // namespace
}  // namespace profiler::exports
