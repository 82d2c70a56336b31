#include "src/fleet/clickhouse/clickhouse_sender.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/clickhouse/testing/fake_clickhouse.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet::clickhouse {
namespace {

using testing::HasSubstr;
using Outcome = Delivery::Outcome;

constexpr UnixTime kSecond = 1'000'000'000;

Window WindowAt(int64_t number) {
  Window window = WebAndDatabase().Finish();
  window.begin += number * 10 * kSecond;
  return window;
}

std::vector<Window> Windows(int64_t first, int64_t count) {
  std::vector<Window> windows;
  for (int64_t i = 0; i < count; ++i) windows.push_back(WindowAt(first + i));
  return windows;
}

class ClickHouseSenderTest : public testing::Test {
 protected:
  // Makes a sender as in a process that starts at the end of window number `now_in_windows`.
  std::unique_ptr<Sender> NewSender(int64_t now_in_windows, Schema schema = Schema::kOwn) {
    const UnixTime now = WindowAt(now_in_windows + 1).begin;
    return ClickHouseSender(std::make_unique<FakeClient>(server_),
                            {.address = {.url = "http://db:8123", .database = "profiles"},
                             .schema = schema,
                             .now = [now] { return now; }});
  }

  FakeClickHouse server_;
};

TEST_F(ClickHouseSenderTest, SendsStacksThenWindowsThenSamples) {
  const auto sender = NewSender(0);
  EXPECT_EQ(sender->Send(Windows(0, 1)).outcome, Outcome::kDelivered);
  std::vector<std::string> tables;
  for (const http::Request& request : server_.requests) {
    for (const char* table : {"stacks", "windows", "samples"}) {
      if (absl::StrContains(request.url, absl::StrCat("INTO%20%60", table))) {
        tables.emplace_back(table);
      }
    }
  }
  EXPECT_THAT(tables, testing::ElementsAre("stacks", "windows", "samples"));
  EXPECT_EQ(server_.stored.size(), 3u);
  EXPECT_EQ(server_.SamplesStored(), 6u);
}

TEST_F(ClickHouseSenderTest, SendsAStackOnceADay) {
  const auto sender = NewSender(10);
  sender->Send(Windows(0, 2));
  sender->Send(Windows(2, 2));
  EXPECT_EQ(server_.inserts["stacks"], 1u);
  EXPECT_EQ(server_.inserts["samples"], 2u);
  constexpr int64_t kWindowsOfDay = 8640;
  sender->Send(Windows(kWindowsOfDay, 1));
  EXPECT_EQ(server_.inserts["stacks"], 2u);
}

TEST_F(ClickHouseSenderTest, AsksWhatIsThereOnlyWhereItMayHaveSentItBefore) {
  const auto sender = NewSender(4);
  sender->Send(Windows(0, 2));
  EXPECT_EQ(server_.questions, 1u) << "this process has just begun";
  sender->Send(Windows(2, 2));
  EXPECT_EQ(server_.questions, 1u) << "what comes after a delivery is new";
  server_.fate = [](std::string_view) {
    return FakeClickHouse::Fate{.kept = 0, .answer = absl::UnavailableError("cut off")};
  };
  EXPECT_EQ(sender->Send(Windows(4, 1)).outcome, Outcome::kTryAgain);
  server_.fate = nullptr;
  EXPECT_EQ(sender->Send(Windows(4, 1)).outcome, Outcome::kDelivered);
  EXPECT_EQ(server_.questions, 2u) << "the one before it failed";
}

TEST_F(ClickHouseSenderTest, CountsABatchOnceThatIsSentAgainAfterDays) {
  EXPECT_EQ(NewSender(2)->Send(Windows(0, 3)).outcome, Outcome::kDelivered);
  const auto later = NewSender(500'000);
  EXPECT_EQ(later->Send(Windows(0, 3)).outcome, Outcome::kDelivered);
  EXPECT_EQ(server_.SamplesStored(), 18u);
  EXPECT_EQ(server_.inserts["samples"], 1u);
  // Segments also count once if they were in other batches before, even in the second of two old
  // batches in a row.
  EXPECT_EQ(later->Send(Windows(1, 3)).outcome, Outcome::kDelivered);
  EXPECT_EQ(later->Send(Windows(2, 2)).outcome, Outcome::kDelivered);
  EXPECT_EQ(server_.SamplesStored(), 24u);
}

TEST_F(ClickHouseSenderTest, CountsEachBatchOnceWhateverGoesWrong) {
  std::mt19937 random(7);
  const auto below = [&random](uint32_t bound) { return random() % bound; };
  uint64_t failures = 0;
  server_.fate = [&](std::string_view) -> FakeClickHouse::Fate {
    switch (below(4)) {
      case 0:  // everything is stored, but the answer is lost
        ++failures;
        return {.answer = absl::UnavailableError("the connection broke")};
      case 1:  // one shard has stored its part
        ++failures;
        return {
            .kept = below(4),
            .answer = FakeClickHouse::Error(
                500, "Code: 279, e.displayText() = DB::Exception: All connection tries failed")};
      case 2:
        ++failures;
        return {.kept = 0, .answer = absl::DeadlineExceededError("no answer")};
      default:
        return {};
    }
  };
  auto sender = NewSender(40);
  for (int64_t i = 0; i < 40; ++i) {
    while (sender->Send(Windows(i, 1)).outcome != Outcome::kDelivered) {
      if (below(3) == 0) sender = NewSender(40);  // kill -9
    }
  }
  EXPECT_GT(failures, 40u);
  EXPECT_EQ(server_.SamplesStored(), 40u * 6);
  EXPECT_EQ(server_.stored.size(), 40u * 3);
}

TEST_F(ClickHouseSenderTest, TheSameBatchIsTheSameBytesWithTheSameId) {
  server_.fate = [](std::string_view table) -> FakeClickHouse::Fate {
    if (table != "samples") return {};
    return {.kept = 0, .answer = absl::UnavailableError("cut off")};
  };
  std::vector<std::string> ids, bodies;
  for (int i = 0; i < 2; ++i) {
    NewSender(3)->Send(Windows(0, 3));
    const std::string& url = server_.requests.back().url;
    ids.push_back(url.substr(url.find("query_id=")));
    bodies.push_back(server_.requests.back().body);
  }
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(bodies[0], bodies[1]);
}

TEST_F(ClickHouseSenderTest, SaysHowToMakeTablesThatAreMissing) {
  server_.schema.reset();
  const Delivery delivery = NewSender(0)->Send(Windows(0, 1));
  EXPECT_EQ(delivery.outcome, Outcome::kTryAgain);
  EXPECT_THAT(delivery.reason,
              HasSubstr("profiler fleet init --to clickhouse+http://db:8123/profiles"));
}

TEST_F(ClickHouseSenderTest, LeavesTablesAloneThatAreNewerThanItIs) {
  server_.schema = kSchemaVersion + 1;
  const Delivery delivery = NewSender(0)->Send(Windows(0, 1));
  EXPECT_EQ(delivery.outcome, Outcome::kTryAgain);
  EXPECT_THAT(delivery.reason, HasSubstr("update the program"));
  EXPECT_TRUE(server_.inserts.empty());
}

TEST_F(ClickHouseSenderTest, RefusesATimeThatNoTableCanHave) {
  std::vector<Window> windows = Windows(0, 1);
  windows[0].begin = -kSecond;
  const Delivery delivery = NewSender(0)->Send(windows);
  EXPECT_EQ(delivery.outcome, Outcome::kRefused);
  EXPECT_THAT(delivery.reason, HasSubstr("check the machine's clock"));
}

TEST_F(ClickHouseSenderTest, AsksNewServersToWriteAtOnce) {
  server_.version = "26.7.2.1";
  NewSender(0)->Send(Windows(0, 1));
  EXPECT_THAT(server_.requests.back().url, HasSubstr("async_insert=0"));
}

struct AnswerCase {
  const char* what;
  http::Response answer;
  Outcome outcome;
  const char* reason;
};

TEST_F(ClickHouseSenderTest, TellsWhatIsForGoodFromWhatPasses) {
  const AnswerCase cases[] = {
      {"overload",
       FakeClickHouse::Error(500,
                             "Code: 252, e.displayText() = DB::Exception: Too many parts (300)"),
       Outcome::kTryAgain, "Too many parts"},
      {"bytes that are no rows",
       FakeClickHouse::Error(400, "Code: 33. DB::Exception: Cannot read all data"),
       Outcome::kRefused, "Cannot read all data"},
      {"an error behind an answer that went well",
       FakeClickHouse::Error(200, "Code: 241, e.displayText() = DB::Exception: Memory limit"),
       Outcome::kTryAgain, "Memory limit"},
      {"a code in a header",
       {.status = 500, .headers = {{"x-clickhouse-exception-code", "516"}}, .body = "no"},
       Outcome::kTryAgain,
       "--user-file"},
      {"a proxy with nobody behind it", FakeClickHouse::Error(502, "Bad Gateway\n<html>"),
       Outcome::kTryAgain, "HTTP status 502: Bad Gateway"},
      {"a body that is too long", FakeClickHouse::Error(413, "too large"), Outcome::kRefused,
       "HTTP status 413"},
  };
  for (const AnswerCase& test : cases) {
    SCOPED_TRACE(test.what);
    server_.fate = [&test](std::string_view) {
      return FakeClickHouse::Fate{.kept = 0, .answer = test.answer};
    };
    const Delivery delivery = NewSender(0)->Send(Windows(0, 1));
    EXPECT_EQ(delivery.outcome, test.outcome);
    EXPECT_THAT(delivery.reason, HasSubstr(test.reason));
  }
}

TEST_F(ClickHouseSenderTest, WaitsAsLongAsTheServerAsks) {
  server_.fate = [](std::string_view) {
    return FakeClickHouse::Fate{
        .kept = 0,
        .answer = http::Response{.status = 429, .headers = {{"retry-after", "17"}}, .body = {}}};
  };
  EXPECT_EQ(NewSender(0)->Send(Windows(0, 1)).wait, std::chrono::seconds(17));
}

TEST_F(ClickHouseSenderTest, SendsTheCollectorsRows) {
  EXPECT_EQ(NewSender(0, Schema::kOtel)->Send(Windows(0, 1)).outcome, Outcome::kDelivered);
  RowReader row(server_.bodies["otel_profiles"]);
  EXPECT_EQ(row.Number<int64_t>(), WindowAt(0).begin);
  EXPECT_EQ(row.Text().size(), 32u);
  EXPECT_EQ(row.Text(), "cpu-clock");
  EXPECT_EQ(row.Text(), "nanoseconds");
  EXPECT_EQ(row.Text(), "web");
}

}  // namespace
}  // namespace profiler::fleet::clickhouse
