#include "src/fleet/clickhouse/clickhouse_source.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/stacks_answer.h"
#include "src/fleet/clickhouse/statements.h"
#include "src/fleet/clickhouse/testing/fake_clickhouse.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet::clickhouse {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr UnixTime kSecond = 1'000'000'000;
constexpr UnixTime kBegin = 1'764'115'200 * kSecond;

Selection Where(std::initializer_list<std::string_view> conditions) {
  Selection selection;
  for (const std::string_view text : conditions) {
    selection.conditions.push_back(*ParseCondition(text));
  }
  return selection;
}

std::string AllStatement(const Selection& selection) {
  return StatementOf(SumsQuestion{.selection = selection, .by = {}});
}

TEST(StatementsTest, ChoosesDaysSecondsAndNanoseconds) {
  EXPECT_EQ(
      AllStatement({.since = kBegin, .until = kBegin + 60 * kSecond}),
      "SELECT sum(samples) AS sum_samples, sum(value) AS sum_value\nFROM samples\n"
      "WHERE day >= toDate(20418) AND day <= toDate(20418) AND ts >= toDateTime(1764115200) "
      "AND ts < toDateTime(1764115260)\nHAVING count() > 0\nORDER BY sum_value DESC\nLIMIT 20");
  EXPECT_THAT(AllStatement({.since = kBegin + 5, .until = kBegin + kSecond + 7}),
              AllOf(HasSubstr("(ts > toDateTime(1764115200) OR nanosecond >= 5)"),
                    HasSubstr("ts <= toDateTime(1764115201) AND (ts < toDateTime(1764115201) OR "
                              "nanosecond < 7)")));
  EXPECT_THAT(AllStatement({}), HasSubstr("WHERE 1"));
  EXPECT_THAT(AllStatement({.since = INT64_MIN, .until = 0}), HasSubstr("WHERE 0"));
  EXPECT_THAT(AllStatement({.since = INT64_MAX, .until = INT64_MAX}), HasSubstr("WHERE 0"));
}

TEST(StatementsTest, WritesConditionsSoThatTheyStayTexts) {
  EXPECT_THAT(AllStatement(Where({"service=it's", "host~db*", "build-id!=ab", "rele'ase!~1.*"})),
              HasSubstr(R"(WHERE service = 'it\'s' AND host LIKE 'db%' AND build_id != 'ab' AND )"
                        R"(label_values[indexOf(label_keys, 'rele\'ase')] NOT LIKE '1.%')"));
}

TEST(StatementsTest, AddsUpByStackBeforeItLooksUpNames) {
  EXPECT_EQ(StatementOf(SumsQuestion{.selection = Where({"service=web"}),
                                     .by = {{.field = Field::kHost, .label = {}}},
                                     .functions = true,
                                     .most = 5}),
            "SELECT key0, if(known = 0, '[unknown]', name) AS function_name, sum(stack_samples) AS "
            "sum_samples, sum(stack_value) AS sum_value\n"
            "FROM\n(\n"
            "  SELECT host AS key0, stack_hash, sum(samples) AS stack_samples, sum(value) AS "
            "stack_value\n"
            "  FROM samples\n"
            "  WHERE service = 'web'\n"
            "  GROUP BY key0, stack_hash\n"
            ") AS sums\n"
            "ANY LEFT JOIN\n(\n"
            "  SELECT stack_hash, toUInt8(1) AS known, function AS name\n"
            "  FROM stacks\n"
            "  WHERE stack_hash GLOBAL IN (SELECT stack_hash FROM samples WHERE service = 'web')\n"
            ") AS functions\n"
            "USING (stack_hash)\n"
            "GROUP BY key0, function_name\n"
            "ORDER BY sum_value DESC, key0, function_name\n"
            "LIMIT 5");
}

TEST(StatementsTest, TakesAllStacksOfTheDaysWhereNothingIsLeftOut) {
  const std::string lines = StatementOf(SumsQuestion{
      .selection = {.since = kBegin, .until = kBegin + kSecond}, .by = {}, .functions = true});
  EXPECT_THAT(lines, HasSubstr("FROM stacks\n  WHERE day >= toDate(20418) AND day <= "
                               "toDate(20418)\n"));
  EXPECT_THAT(lines, testing::Not(HasSubstr("GLOBAL IN")));
}

// The answers of a server for windows of one machine that are merged into one window.
struct Answers {
  std::string rows, stacks, windows;
};
Answers AnswersOf(const std::vector<Window>& windows) {
  Answers answers;
  RowWriter rows(answers.rows), stacks(answers.stacks), facts(answers.windows);
  for (const Window& window : windows) {
    const std::vector<uint64_t> hashes = StackHashes(window);
    for (const Row& row : window.rows) {
      const Workload& workload = window.workloads[row.workload];
      rows.Text(window.strings[window.events[row.event].name]);
      for (const StringId name : {workload.service, workload.program, workload.container,
                                  workload.pod, workload.build_id}) {
        rows.Text(window.strings[name]);
      }
      rows.Number(hashes[row.stack]);
      rows.Number(row.samples);
      rows.Number(row.value);
      std::vector<const Frame*> path;
      for (uint32_t at = row.stack; at != kNoCaller; at = window.stacks[at].caller) {
        path.insert(path.begin(), &window.frames[window.stacks[at].frame]);
      }
      stacks.Number(hashes[row.stack]);
      stacks.Size(path.size());
      for (const Frame* frame : path) stacks.Text(window.strings[frame->function]);
      stacks.Size(path.size());
      for (const Frame* frame : path) stacks.Text(window.strings[frame->image]);
    }
    facts.Text(window.host);
    facts.Size(window.labels.size());
    for (const auto& [key, value] : window.labels) facts.Text(key);
    facts.Size(window.labels.size());
    for (const auto& [key, value] : window.labels) facts.Text(value);
    facts.Number(window.frequency);
    facts.Number(window.cpus);
    facts.Text(window.version);
    facts.Number(window.begin);
    facts.Number(window.begin + static_cast<UnixTime>(window.length));
    facts.Number(window.losses.lost_samples);
    facts.Number(window.losses.chains);
    facts.Number(window.losses.cut_chains);
  }
  return answers;
}

StacksAnswer ViewOf(const Answers& answers) {
  return {.rows = answers.rows, .stacks = answers.stacks, .windows = answers.windows};
}

TEST(StacksAnswerTest, BecomesTheWindowThatItWas) {
  const std::vector<Window> sent = [] {
    std::vector<Window> windows;
    windows.push_back(WebAndDatabase().Finish());
    return windows;
  }();
  std::vector<std::string> notes;
  const Answers answers = AnswersOf(sent);
  const auto windows = WindowsOf(ViewOf(answers), {}, &notes);
  ASSERT_TRUE(windows.ok()) << windows.status();
  ASSERT_EQ(windows->size(), 1u);
  const Window& window = windows->front();
  EXPECT_EQ(RowsAsText(window), RowsAsText(sent.front()));
  EXPECT_EQ(window.host, "h1");
  EXPECT_EQ(window.labels, sent.front().labels);
  EXPECT_EQ(window.begin, sent.front().begin);
  EXPECT_EQ(window.length, sent.front().length);
  EXPECT_EQ(window.frequency, 49);
  EXPECT_EQ(window.cpus, 2u);
  EXPECT_EQ(window.losses, sent.front().losses);
  EXPECT_THAT(notes, ElementsAre());
}

TEST(StacksAnswerTest, KeepsOfSeveralWindowsWhatTheyHaveInCommon) {
  std::vector<Window> sent;
  sent.push_back(WebAndDatabase().Finish());
  sent.push_back(WebAndDatabase().Finish());
  sent[1].host = "h2";
  sent[1].begin += 20 * kSecond;
  sent[1].labels = {{"region", "eu"}, {"release", "1.3"}};
  std::vector<std::string> notes;
  const Answers answers = AnswersOf(sent);
  const auto windows = WindowsOf(ViewOf(answers), {}, &notes);
  ASSERT_TRUE(windows.ok()) << windows.status();
  const Window& window = windows->front();
  EXPECT_EQ(window.host, "");
  EXPECT_EQ(window.cpus, 0u);
  EXPECT_EQ(window.length, 30u * kSecond);
  EXPECT_EQ(window.losses.lost_samples, 6u);
  EXPECT_THAT(window.labels, ElementsAre(std::pair<std::string, std::string>("region", "eu")));
}

TEST(StacksAnswerTest, SaysWhichStacksItDoesNotKnow) {
  std::vector<Window> sent;
  sent.push_back(WebAndDatabase().Finish());
  std::vector<std::string> notes;
  Answers answers = AnswersOf(sent);
  answers.stacks.clear();
  const auto windows = WindowsOf(ViewOf(answers), {}, &notes);
  ASSERT_TRUE(windows.ok()) << windows.status();
  EXPECT_THAT(RowsAsText(windows->front()), HasSubstr("[unknown]<[unknown]> 1 100"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("3 stacks are missing in the table `stacks`")));
}

TEST(StacksAnswerTest, RefusesWhatIsCutOrMadeUp) {
  std::vector<Window> sent;
  sent.push_back(WebAndDatabase().Finish());
  std::vector<std::string> notes;
  const Answers whole = AnswersOf(sent);
  for (std::string Answers::*part : {&Answers::rows, &Answers::stacks, &Answers::windows}) {
    for (size_t size = 1; size < (whole.*part).size(); ++size) {
      Answers cut = whole;
      (cut.*part).resize(size);
      // A cut between two rows is a valid answer with fewer rows.
      const auto windows = WindowsOf(ViewOf(cut), {}, &notes);
      EXPECT_TRUE(windows.ok() || absl::IsDataLoss(windows.status())) << windows.status();
    }
    Answers huge = whole;
    (huge.*part) = std::string(30, '\xff');
    EXPECT_FALSE(WindowsOf(ViewOf(huge), {}, &notes).ok());
  }
}

class ClickHouseSourceTest : public testing::Test {
 protected:
  // Creates a source whose server gives these answers in turn.
  std::unique_ptr<Source> NewSource(std::vector<http::Response> answers) {
    return ClickHouseSource(
        std::make_unique<FakeClient>(
            [this, answers, i = size_t{0}](
                const http::Request& request) mutable -> absl::StatusOr<http::Response> {
              if (request.body.starts_with("SELECT version")) return server_.Answer(request);
              asked_.push_back(request);
              return i < answers.size() ? answers[i++] : http::Response{.status = 500};
            }),
        {.url = "http://db:8123", .database = "profiles"});
  }

  static http::Response Lines(const std::vector<Sum>& lines) {
    http::Response response = {.status = 200, .headers = {}, .body = {}};
    RowWriter row(response.body);
    for (const Sum& line : lines) {
      for (const std::string& key : line.keys) row.Text(key);
      row.Number(line.samples);
      row.Number(line.value);
    }
    return response;
  }

  static http::Response Event(std::string_view name) {
    http::Response response = NoEvent();
    RowWriter(response.body).Text(name);
    return response;
  }
  static http::Response NoEvent() { return {.status = 200, .headers = {}, .body = {}}; }

  FakeClickHouse server_;
  std::vector<http::Request> asked_;
  std::vector<std::string> notes_;
};

SumsQuestion TopFunction() { return {.selection = {}, .by = {}, .functions = true, .most = 1}; }

SumsQuestion ByService() {
  return {.selection = {}, .by = {{.field = Field::kService, .label = {}}}};
}

TEST_F(ClickHouseSourceTest, AddsTheLinesUpWhereAllAreThere) {
  const auto source = NewSource({Lines({{.keys = {"web"}, .samples = 7, .value = 70},
                                        {.keys = {"db"}, .samples = 2, .value = 20}})});
  const auto sums = source->Sums(ByService(), &notes_);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->samples, 9u);
  EXPECT_EQ(sums->value, 90u);
  EXPECT_THAT(sums->lines, ElementsAre(Sum{.keys = {"web"}, .samples = 7, .value = 70},
                                       Sum{.keys = {"db"}, .samples = 2, .value = 20}));
  EXPECT_THAT(asked_, SizeIs(1));
  EXPECT_THAT(asked_[0].url,
              AllOf(HasSubstr("skip_unavailable_shards=0"), HasSubstr("wait_end_of_query=1")));
}

TEST_F(ClickHouseSourceTest, AddsUpMoreLinesThanItIsToGive) {
  const auto source = NewSource({Lines({{.keys = {"web"}, .samples = 7, .value = 70},
                                        {.keys = {"db"}, .samples = 2, .value = 20}})});
  SumsQuestion heaviest = ByService();
  heaviest.most = 1;
  const auto sums = source->Sums(heaviest, &notes_);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->samples, 9u);
  EXPECT_THAT(sums->lines, ElementsAre(Sum{.keys = {"web"}, .samples = 7, .value = 70}));
  EXPECT_THAT(asked_, ElementsAre(testing::Field(&http::Request::body, HasSubstr("LIMIT 100000"))));
}

TEST_F(ClickHouseSourceTest, AsksWhatAllIsWhereLinesMayBeMissingOrCountTwice) {
  const SumsQuestion with_callees = {
      .selection = {}, .by = {}, .functions = true, .total = true, .most = 1};
  const Sum line = {.keys = {"web"}, .samples = 7, .value = 70};
  const std::vector<Sum> very_many(100'000, line);
  for (const auto& [question, lines] :
       {std::pair(ByService(), very_many), std::pair(with_callees, std::vector<Sum>{line})}) {
    const auto source = NewSource({Lines(lines), Lines({{.keys = {}, .samples = 9, .value = 90}})});
    const auto sums = source->Sums(question, &notes_);
    ASSERT_TRUE(sums.ok()) << sums.status();
    EXPECT_EQ(sums->samples, 9u);
    EXPECT_EQ(sums->value, 90u);
    EXPECT_THAT(sums->lines, SizeIs(question.most));
  }
}

TEST_F(ClickHouseSourceTest, DoesNotAddEventsUpWhereThereIsOne) {
  const auto source = NewSource(
      {Event("cpu-clock"), NoEvent(), Lines({{.keys = {"Work"}, .samples = 7, .value = 70}})});
  const auto answer = source->SumsOfOneEvent(TopFunction(), &notes_);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->event, "cpu-clock");
  EXPECT_EQ(answer->sums.samples, 7u);
  EXPECT_THAT(answer->sums.lines, SizeIs(1));
  ASSERT_THAT(asked_, SizeIs(3));
  EXPECT_THAT(asked_[0].body, HasSubstr("SELECT event\nFROM samples\nWHERE 1\nLIMIT 1"));
  EXPECT_THAT(asked_[1].body, HasSubstr("WHERE event != 'cpu-clock'"));
  EXPECT_THAT(asked_[2].body, testing::Not(HasSubstr("event")));
}

TEST_F(ClickHouseSourceTest, KnowsWhatAllIsOfOneOfSeveralEventsFromTheQuestionWhichThereAre) {
  const auto source = NewSource({Event("faults"), Event("cpu-clock"),
                                 Lines({{.keys = {"cpu-clock"}, .samples = 9, .value = 90},
                                        {.keys = {"faults"}, .samples = 4, .value = 4}}),
                                 Lines({{.keys = {"Work"}, .samples = 7, .value = 70}})});
  const auto answer = source->SumsOfOneEvent(TopFunction(), &notes_);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->event, "cpu-clock");
  EXPECT_EQ(answer->sums.samples, 9u);
  EXPECT_EQ(answer->sums.value, 90u);
  EXPECT_THAT(answer->sums.lines, SizeIs(1));
  ASSERT_THAT(asked_, SizeIs(4));
  EXPECT_THAT(asked_[3].body, HasSubstr("WHERE event = 'cpu-clock'"));
}

TEST_F(ClickHouseSourceTest, TakesNoPartOfAnEventForOne) {
  http::Response cut = Event("cpu-clock");
  cut.body.pop_back();
  EXPECT_TRUE(absl::IsDataLoss(NewSource({cut})->SumsOfOneEvent(TopFunction(), &notes_).status()));
}

TEST_F(ClickHouseSourceTest, SaysThatNoEventIsSelected) {
  const auto answer = NewSource({NoEvent()})->SumsOfOneEvent(TopFunction(), &notes_);
  EXPECT_TRUE(absl::IsNotFound(answer.status())) << answer.status();
}

TEST_F(ClickHouseSourceTest, SaysThatNothingIsSelected) {
  const auto source = NewSource({Lines({})});
  const auto sums = source->Sums({.selection = {}, .by = {}}, &notes_);
  EXPECT_TRUE(absl::IsNotFound(sums.status())) << sums.status();
}

TEST_F(ClickHouseSourceTest, GivesNoPartOfAnAnswer) {
  http::Response late = Lines({{.keys = {"web"}, .samples = 7, .value = 70}});
  late.body += "Code: 279, e.displayText() = DB::Exception: All connection tries failed";
  const auto sums = NewSource({late})->Sums(ByService(), &notes_);
  EXPECT_TRUE(absl::IsUnavailable(sums.status())) << sums.status();
  EXPECT_THAT(std::string(sums.status().message()), HasSubstr("servers of the cluster"));
  http::Response cut = Lines({{.keys = {"web"}, .samples = 7, .value = 70}});
  cut.body.pop_back();
  EXPECT_TRUE(absl::IsDataLoss(NewSource({cut})->Sums(ByService(), &notes_).status()));
}

TEST(RowBinaryTest, ReadsWhatItWrote) {
  std::string body;
  RowWriter writer(body);
  const std::string text(300, 'x');
  writer.Text(text);
  writer.Number(uint16_t{7});
  RowReader reader(body);
  EXPECT_EQ(reader.Text(), text);
  EXPECT_EQ(reader.Number<uint16_t>(), 7);
  EXPECT_TRUE(reader.ok() && reader.AtEnd());
  EXPECT_EQ(reader.Number<uint8_t>(), 0);
  EXPECT_FALSE(reader.ok());
}

TEST(BatchTest, AddsRowsUpThatAgreeInAllNames) {
  Window window = WebAndDatabase().Finish();
  // A second workload with equal names, which a file from another program may contain.
  window.workloads.push_back(window.workloads[0]);
  Row again = window.rows[0];
  again.workload = static_cast<uint32_t>(window.workloads.size() - 1);
  window.rows.push_back(again);
  const std::vector<Window> windows = [&] {
    std::vector<Window> one;
    one.push_back(std::move(window));
    return one;
  }();
  const auto batch = Batch::Of(windows);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->samples(), 3u);
  EXPECT_EQ(batch->SampleRows().rows, 3u);
}

}  // namespace
}  // namespace profiler::fleet::clickhouse
