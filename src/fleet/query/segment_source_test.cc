#include "src/fleet/query/segment_source.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/fleet/query/event_rule.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr UnixTime kSecond = 1'000'000'000;
constexpr UnixTime kBegin = 1'764'115'200 * kSecond;

// A fixture with a spool, to which tests add windows; times are 10 s apart.
class SegmentSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = absl::StrCat(testing::TempDir(), "/", test->name());
    std::filesystem::remove_all(path_);
    auto spool = SegmentSpool::Open(path_, {});
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_.emplace(*std::move(spool));
  }

  void Add(WindowBuilder builder, std::string_view host, int64_t number) {
    Window window = std::move(builder).Finish();
    window.host = host;
    window.begin = kBegin + number * 10 * kSecond;
    ASSERT_TRUE(spool_->Add(window).ok());
  }

  void AddTimes(std::string_view host, int64_t count) {
    for (int64_t i = 0; i < count; ++i) Add(WebAndDatabase(), host, i);
  }

  SegmentSource Source(unsigned threads = 1) {
    return SegmentSource(*SegmentDirectory::Open(path_), threads);
  }

  std::string path_;
  std::optional<SegmentSpool> spool_;
  std::vector<std::string> notes_;
};

Selection Where(std::initializer_list<std::string_view> conditions) {
  Selection selection;
  for (const std::string_view text : conditions) {
    selection.conditions.push_back(*ParseCondition(text));
  }
  return selection;
}

std::vector<FieldName> By(std::initializer_list<std::string_view> names) {
  std::vector<FieldName> by;
  for (const std::string_view name : names) by.push_back(*ParseField(name));
  return by;
}

std::string AsText(const Sums& sums) {
  std::string text = absl::StrCat("all ", sums.samples, " ", sums.value, "\n");
  for (const Sum& line : sums.lines) {
    absl::StrAppend(&text, absl::StrJoin(line.keys, ","), " ", line.samples, " ", line.value, "\n");
  }
  return text;
}

TEST_F(SegmentSourceTest, AddsWindowsUpToOne) {
  AddTimes("h1", 3);
  AddTimes("h2", 2);
  const auto windows = Source().Stacks({}, &notes_);
  ASSERT_TRUE(windows.ok()) << windows.status();
  ASSERT_EQ(windows->size(), 1u);
  const Window& all = windows->front();
  EXPECT_EQ(RowsAsText(all),
            "cpu-clock db c0ffee p-1 postgres | main<postgres> do_syscall_64<[kernel.kallsyms]> 5 "
            "500\n"
            "cpu-clock web nginx ab12 | main<nginx> inline parse<nginx> 10 1000\n"
            "cpu-clock web nginx ab12 | main<nginx> poll<libc.so.6> 15 1500\n");
  EXPECT_EQ(all.host, "");
  EXPECT_EQ(all.cpus, 0u);
  EXPECT_EQ(all.begin, kBegin);
  EXPECT_EQ(all.length, 30u * kSecond);
  EXPECT_EQ(all.frequency, 49);
  EXPECT_EQ(all.losses.lost_samples, 15u);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(SegmentSourceTest, TellsHostsAndTimesApart) {
  AddTimes("h2", 2);
  AddTimes("h1", 1);
  const auto said = [&](const StacksQuestion& question) {
    std::string text;
    const auto windows = Source().Stacks(question, &notes_);
    for (const Window& window : *windows) {
      uint64_t samples = 0;
      for (const Row& row : window.rows) samples += row.samples;
      absl::StrAppend(&text, window.host, "@", (window.begin - kBegin) / kSecond, "+",
                      window.length / kSecond, " ", samples, "\n");
    }
    return text;
  };
  EXPECT_EQ(said({.tells_hosts_apart = true}), "h1@0+10 6\nh2@0+20 12\n");
  EXPECT_EQ(said({.tells_times_apart = true}), "@0+10 12\nh2@10+10 6\n");
  EXPECT_EQ(said({.tells_hosts_apart = true, .tells_times_apart = true}),
            "h1@0+10 6\nh2@0+10 6\nh2@10+10 6\n");
}

TEST_F(SegmentSourceTest, SelectsByTimeHostLabelAndWorkload) {
  AddTimes("h1", 3);
  AddTimes("h2", 1);
  WindowBuilder other = WebAndDatabase();
  other.window().labels = {{"release", "1.3"}};
  Add(std::move(other), "h3", 0);
  const auto samples = [&](const Selection& selection) -> uint64_t {
    const auto sums = Source().Sums({.selection = selection, .by = {}}, &notes_);
    return sums.ok() ? sums->samples : 0;
  };
  EXPECT_EQ(samples({}), 30u);
  EXPECT_EQ(samples({.since = kBegin + 10 * kSecond}), 12u);
  EXPECT_EQ(samples({.since = kBegin, .until = kBegin + 10 * kSecond}), 18u);
  EXPECT_EQ(samples(Where({"host=h1"})), 18u);
  EXPECT_EQ(samples(Where({"host~h*", "host!=h1"})), 12u);
  EXPECT_EQ(samples(Where({"release=1.3"})), 6u);
  EXPECT_EQ(samples(Where({"release=1.2", "service=db"})), 4u);
  EXPECT_EQ(samples(Where({"host=h1", "host=h2"})), 0u);
  EXPECT_EQ(samples(Where({"event=cycles"})), 0u);
}

TEST_F(SegmentSourceTest, SumsUpByAnyCombinationTheHeaviestFirst) {
  AddTimes("h1", 2);
  AddTimes("h2", 1);
  const auto text = [&](SumsQuestion question) {
    const auto sums = Source().Sums(question, &notes_);
    return sums.ok() ? AsText(*sums) : std::string(sums.status().message());
  };
  EXPECT_EQ(text({.by = By({"service"})}), "all 18 1800\nweb 15 1500\ndb 3 300\n");
  EXPECT_EQ(text({.by = By({"host", "service"})}),
            "all 18 1800\nh1,web 10 1000\nh2,web 5 500\nh1,db 2 200\nh2,db 1 100\n");
  EXPECT_EQ(text({.by = By({"region", "rack"})}), "all 18 1800\neu, 18 1800\n");
  EXPECT_EQ(text({.functions = true}),
            "all 18 1800\npoll 9 900\nparse 6 600\ndo_syscall_64 3 300\n");
  EXPECT_EQ(text({.by = By({"service"}), .functions = true, .total = true, .most = 3}),
            "all 18 1800\nweb,main 15 1500\nweb,poll 9 900\nweb,inline 6 600\n");
}

TEST_F(SegmentSourceTest, AFunctionThatCallsItselfHasASampleOnce) {
  WindowBuilder builder;
  const uint32_t event = builder.Event("cpu-clock");
  const uint32_t who = builder.Workload({.program = "app"});
  builder.Add({event, who, StackOf(builder, "main app;walk app;walk app;walk app"), 2, 20});
  builder.Add({event, who, StackOf(builder, "main app;walk libother.so"), 1, 10});
  Add(std::move(builder), "h1", 0);
  const auto sums = Source().Sums({.functions = true, .total = true}, &notes_);
  EXPECT_EQ(AsText(*sums), "all 3 30\nmain 3 30\nwalk 3 30\n");
}

TEST_F(SegmentSourceTest, AnswersTheSameFromAnyNumberOfThreads) {
  for (const char* host : {"h1", "h2", "h3"}) AddTimes(host, 40);
  const SumsQuestion question = {.by = By({"host"}), .functions = true, .total = true, .most = 99};
  const std::string alone = AsText(*Source(1).Sums(question, &notes_));
  EXPECT_EQ(AsText(*Source(5).Sums(question, &notes_)), alone);
  const auto one = Source(1).Stacks({.tells_hosts_apart = true}, &notes_);
  const auto several = Source(5).Stacks({.tells_hosts_apart = true}, &notes_);
  ASSERT_EQ(one->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(RowsAsText((*one)[i]), RowsAsText((*several)[i]));
    EXPECT_EQ((*one)[i].host, (*several)[i].host);
    EXPECT_EQ((*one)[i].length, (*several)[i].length);
    EXPECT_EQ((*one)[i].losses, (*several)[i].losses);
  }
}

TEST_F(SegmentSourceTest, PassesOverWhatIsDamagedAndSaysSo) {
  AddTimes("h1", 3);
  const std::string damaged = absl::StrCat(path_, "/", SegmentName("h1", kBegin + 10 * kSecond));
  std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) - 1);
  const auto sums = Source().Sums({}, &notes_);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->samples, 12u);
  EXPECT_THAT(notes_, ElementsAre(testing::AllOf(HasSubstr(damaged), HasSubstr("is left out"))));
}

TEST_F(SegmentSourceTest, CountsDamagedSegmentsWhereTheyAreMany) {
  AddTimes("h1", 8);
  for (int64_t i = 0; i < 7; ++i) {
    std::ofstream(absl::StrCat(path_, "/", SegmentName("h1", kBegin + i * 10 * kSecond))) << "no";
  }
  ASSERT_TRUE(Source().Sums({}, &notes_).ok());
  EXPECT_EQ(notes_.size(), 6u);
  EXPECT_THAT(notes_.back(), HasSubstr("2 more segments are damaged"));
}

TEST_F(SegmentSourceTest, SaysWhatThereIsWhereNothingIsSelected) {
  EXPECT_THAT(std::string(Source().Sums({}, &notes_).status().message()),
              HasSubstr("has no segments"));
  AddTimes("h1", 3);
  const auto later = Source().Stacks({.selection = {.since = kBegin + 60 * kSecond}}, &notes_);
  EXPECT_TRUE(absl::IsNotFound(later.status()));
  EXPECT_THAT(std::string(later.status().message()),
              HasSubstr("from 2025-11-26T00:00:00Z to 2025-11-26T00:00:20Z"));
  const auto other = Source().Sums({.selection = Where({"service=mail"})}, &notes_);
  EXPECT_TRUE(absl::IsNotFound(other.status()));
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("leave out a condition"));
}

// Builds a window with a CPU clock, cycles and off-CPU time.
WindowBuilder ThreeEvents() {
  WindowBuilder builder;
  const uint32_t who = builder.Workload({.program = "app"});
  const uint32_t stack = StackOf(builder, "main app");
  builder.Add({builder.Event("cycles"), who, stack, 9, 9'000'000});
  builder.Add({builder.Event("cpu-clock"), who, stack, 5, 500});
  builder.Add({builder.Event("offcpu-time"), who, stack, 1, 900});
  return builder;
}

TEST_F(SegmentSourceTest, NeverAddsEventsOfDifferentUnitsUp) {
  Add(ThreeEvents(), "h1", 0);
  const auto answer = Source().SumsOfOneEvent({.by = By({"program"})}, &notes_);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->event, "cpu-clock");
  EXPECT_EQ(AsText(answer->sums), "all 5 500\napp 5 500\n");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("only cpu-clock is counted, not cycles, offcpu-time")));
  notes_.clear();
  const auto chosen = Source().SumsOfOneEvent({.selection = Where({"event=cycles"})}, &notes_);
  EXPECT_EQ(chosen->event, "cycles");
  EXPECT_EQ(chosen->sums.value, 9'000'000u);
  EXPECT_THAT(notes_, IsEmpty());
  const auto all = Source().SumsOfOneEvent({.by = By({"event"})}, &notes_);
  EXPECT_EQ(all->event, "");
  EXPECT_EQ(AsText(all->sums),
            "all 15 9001400\ncycles 9 9000000\noffcpu-time 1 900\ncpu-clock 5 "
            "500\n");
  EXPECT_THAT(notes_, IsEmpty());
}

// A source that answers in two steps, as a server does: first the events, then the sums of one
// event.
class TwoQuestions final : public Source {
 public:
  explicit TwoQuestions(Source& source) : source_(source) {}
  absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                             std::vector<std::string>* notes) override {
    return source_.Stacks(question, notes);
  }
  absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                   std::vector<std::string>* notes) override {
    return source_.Sums(question, notes);
  }
  std::string StatementOf(const StacksQuestion&) override { return {}; }
  std::string StatementOf(const SumsQuestion&) override { return {}; }

 private:
  Source& source_;
};

TEST_F(SegmentSourceTest, ChoosesTheEventThatSourcesWithTwoQuestionsChoose) {
  Add(ThreeEvents(), "h1", 0);
  const SumsQuestion question = {.by = By({"host"}), .functions = true};
  SegmentSource segments = Source();
  std::vector<std::string> others;
  const auto one = segments.SumsOfOneEvent(question, &notes_);
  const auto two = TwoQuestions(segments).SumsOfOneEvent(question, &others);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(one->event, two->event);
  EXPECT_EQ(AsText(one->sums), AsText(two->sums));
  EXPECT_EQ(notes_, others);
}

Sum OfEvent(std::string name, uint64_t samples, uint64_t value) {
  return {.keys = {std::move(name)}, .samples = samples, .value = value};
}

TEST(ChooseEvent, PrefersTimesThenSamplesThenNames) {
  EXPECT_EQ(
      ChooseEvent(std::vector{OfEvent("cycles", 9, 900), OfEvent("task-clock:u", 1, 1)}).keys[0],
      "task-clock:u");
  EXPECT_EQ(
      ChooseEvent(std::vector{OfEvent("cycles", 9, 900), OfEvent("page-faults", 10, 10)}).keys[0],
      "page-faults");
  EXPECT_EQ(ChooseEvent(std::vector{OfEvent("b", 1, 1), OfEvent("a", 1, 1)}).keys[0], "a");
}

}  // namespace
}  // namespace profiler::fleet
