#include "src/fleet/push/segment_delivery.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/push/push_loop.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using Kind = SegmentDelivery::Progress::Kind;
using Outcome = Delivery::Outcome;

constexpr UnixTime kSecond = 1'000'000'000;
constexpr char kDestination[] = "otlp+http://host:4318";

// Returns the begins of windows in seconds: "10 20 ".
std::string Begins(std::span<const Window> batch) {
  std::string text;
  for (const Window& window : batch) absl::StrAppend(&text, window.begin / kSecond, " ");
  return text;
}

// A sender that first gives the answers that a test has set, one per batch, and then succeeds.
class FakeSender : public Sender {
 public:
  Delivery Send(std::span<const Window> batch) override {
    sent.push_back(Begins(batch));
    for (const Window& window : batch) {
      if (refused.contains(window.begin / kSecond)) {
        return {.outcome = Outcome::kRefused, .reason = "no such field"};
      }
    }
    if (answers.empty()) return {};
    Delivery answer = answers.front();
    answers.erase(answers.begin());
    return answer;
  }
  size_t RowsOfBatch() const override { return rows; }

  size_t rows = 6;  // number of rows of two windows
  std::vector<Delivery> answers;
  std::set<UnixTime> refused;
  std::vector<std::string> sent;
};

class Notes : public SegmentDelivery::Listener {
 public:
  void OnDelivered(const SegmentFile& file) override {
    absl::StrAppend(&delivered, file.begin / kSecond, " ");
  }
  void OnSkipped(const SegmentFile& file, std::string_view reason) override {
    absl::StrAppend(&skipped, file.begin / kSecond, ": ", std::string(reason), "\n");
  }
  void OnFailure(std::string_view reason, uint64_t failures,
                 SegmentDelivery::Duration wait) override {
    absl::StrAppend(&failed, failures, " ", std::string(reason), " ", wait / seconds(1), "\n");
  }
  void OnRemark(std::string_view remark) override { remarks += remark; }

  std::string delivered, skipped, failed, remarks;
};

class SegmentDeliveryTest : public testing::Test {
 protected:
  SegmentDeliveryTest() {
    fs::remove_all(path_);
    spool_.emplace(*SegmentSpool::Open(path_, {}));
  }

  void Add(std::initializer_list<UnixTime> begins) {
    for (const UnixTime second : begins) {
      Window window = WebAndDatabase().Finish();  // 3 rows, 6 samples
      window.begin = second * kSecond;
      ASSERT_TRUE(spool_->Add(window).ok());
    }
  }
  std::string PathOf(UnixTime second) const {
    return path_ + "/" + SegmentName("h1", second * kSecond);
  }

  std::unique_ptr<SegmentDelivery> Open() {
    auto delivery = SegmentDelivery::Open(*spool_, kDestination, sender_, notes_, options_,
                                          {.now = [this] { return now_; },
                                           .unix_now = [] { return 77 * kSecond; },
                                           .random = [this] { return random_; }});
    EXPECT_TRUE(delivery.ok()) << delivery.status();
    return *std::move(delivery);
  }
  // Runs steps until there is nothing to do at once.
  static SegmentDelivery::Progress Work(SegmentDelivery& delivery) {
    for (;;) {
      const auto progress = delivery.Step();
      EXPECT_TRUE(progress.ok()) << progress.status();
      if (!progress.ok() || progress->kind != Kind::kWorked) return *progress;
    }
  }
  std::string Sent() {
    std::string text;
    for (const std::string& batch : std::exchange(sender_.sent, {})) text += batch + "| ";
    return text;
  }

  const std::string path_ = testing::TempDir() + "/spool";
  std::optional<SegmentSpool> spool_;
  FakeSender sender_;
  Notes notes_;
  SegmentDelivery::Options options_;
  SegmentDelivery::Duration now_{0};
  double random_ = 1;
};

TEST_F(SegmentDeliveryTest, SendsAllInOrderInBatchesThatTheServerLikes) {
  Add({30, 10, 20, 40, 50});
  const auto delivery = Open();
  EXPECT_EQ(delivery->pending(), 5u);
  EXPECT_EQ(Work(*delivery).kind, Kind::kIdle);
  EXPECT_EQ(Sent(), "10 20 | 30 40 | 50 | ");
  EXPECT_EQ(notes_.delivered, "10 20 30 40 50 ");
  const auto counters = delivery->counters();
  EXPECT_EQ(counters.segments, 5u);
  EXPECT_EQ(counters.samples, 30u);
  EXPECT_EQ(counters.rows, 15u);
  EXPECT_EQ(counters.batches, 3u);
  EXPECT_EQ(counters.attempts, 3u);
  EXPECT_EQ(counters.failures + counters.refused + counters.damaged + counters.gone, 0u);
  EXPECT_EQ(counters.last_success, 77 * kSecond);
}

TEST_F(SegmentDeliveryTest, SendsWhatIsAddedLaterAndNothingTwice) {
  Add({10});
  {
    const auto delivery = Open();
    Work(*delivery);
    Add({20});
    Work(*delivery);
    EXPECT_EQ(Sent(), "10 | 20 | ");
  }
  Add({30});
  notes_.delivered.clear();
  const auto delivery = Open();
  EXPECT_EQ(notes_.delivered, "10 20 ");  // so that the new spool learns of these segments
  Work(*delivery);
  EXPECT_EQ(Sent(), "30 | ");
}

TEST_F(SegmentDeliveryTest, SendsWindowsOfAClockThatWasSetBack) {
  Add({500'000});
  const auto delivery = Open();
  Work(*delivery);
  Add({499'000, 10});
  Work(*delivery);
  EXPECT_EQ(Sent(), "500000 | 499000 | ");
  now_ += minutes(11);  // now the delivery lists all segments
  Work(*delivery);
  EXPECT_EQ(Sent(), "10 | ");
}

TEST_F(SegmentDeliveryTest, SendsTheSameBatchAgainLaterAndLater) {
  Add({10, 20});
  sender_.answers = {
      {Outcome::kTryAgain, "busy"}, {Outcome::kTryAgain, "busy"}, {Outcome::kTryAgain, "busy"}};
  options_.most_wait = seconds(4);
  random_ = 0.5;  // shortens each wait to three quarters
  const auto delivery = Open();
  std::string waits;
  for (int i = 0; i < 3; ++i) {
    const auto progress = Work(*delivery);
    EXPECT_EQ(progress.kind, Kind::kWaits);
    absl::StrAppend(&waits, progress.wait / std::chrono::milliseconds(1), " ");
    Add({30 + i});  // does not change the batch
    now_ += progress.wait - std::chrono::nanoseconds(1);
    EXPECT_EQ(Work(*delivery).kind, Kind::kWaits);
    now_ += std::chrono::nanoseconds(1);
  }
  EXPECT_EQ(waits, "750 1500 3000 ");
  EXPECT_EQ(Sent(), "10 20 | 10 20 | 10 20 | ");
  Work(*delivery);
  EXPECT_EQ(Sent(), "10 20 | 30 31 | 32 | ");
  EXPECT_EQ(delivery->counters().failures, 3u);
  EXPECT_EQ(delivery->failures_in_row(), 0u);
}

TEST_F(SegmentDeliveryTest, WaitsNoLongerThanItsLimit) {
  Add({10});
  sender_.answers.assign(40, {Outcome::kTryAgain, "busy"});
  const auto delivery = Open();
  SegmentDelivery::Duration longest{0};
  for (int i = 0; i < 40; ++i) {
    const auto progress = Work(*delivery);
    longest = std::max(longest, progress.wait);
    now_ += progress.wait;
  }
  EXPECT_EQ(longest, options_.most_wait);
}

TEST_F(SegmentDeliveryTest, ComesBackNoSoonerThanTheServerAsked) {
  Add({10});
  sender_.answers = {{Outcome::kTryAgain, "HTTP 429", seconds(120)},
                     {Outcome::kTryAgain, "HTTP 429", seconds(1'000'000)}};
  random_ = 0;
  const auto delivery = Open();
  EXPECT_EQ(Work(*delivery).wait, seconds(120));
  now_ += seconds(120);
  EXPECT_EQ(Work(*delivery).wait, options_.most_asked_wait);
  EXPECT_EQ(notes_.failed, "1 HTTP 429 120\n2 HTTP 429 3600\n");
}

TEST_F(SegmentDeliveryTest, FindsTheSegmentThatIsRefused) {
  Add({10, 20, 30, 40, 50});
  sender_.rows = 12;
  sender_.refused = {30};
  const auto delivery = Open();
  EXPECT_EQ(Work(*delivery).kind, Kind::kIdle);
  EXPECT_EQ(Sent(), "10 20 30 40 | 10 20 | 30 40 | 30 | 40 | 50 | ");
  EXPECT_EQ(notes_.skipped, "30: no such field\n");
  EXPECT_EQ(delivery->counters().refused, 1u);
  EXPECT_EQ(delivery->counters().samples, 24u);
}

TEST_F(SegmentDeliveryTest, DoesNotTryASkippedSegmentAgain) {
  Add({10, 20});
  sender_.refused = {10};
  Work(*Open());
  EXPECT_EQ(Sent(), "10 20 | 10 | 20 | ");
  sender_.refused.clear();
  notes_.delivered.clear();
  Work(*Open());
  EXPECT_EQ(Sent(), "");
  EXPECT_EQ(notes_.delivered, "20 ");
}

TEST_F(SegmentDeliveryTest, LosesLittleToAServerThatRefusesEverything) {
  Add({10, 20, 30, 40, 50, 60, 70, 80});
  sender_.refused = {10, 20, 30, 40, 50, 60, 70, 80};
  const auto delivery = Open();
  while (now_ < minutes(1)) now_ += std::max(Work(*delivery).wait, {seconds(1)});
  EXPECT_LE(delivery->counters().refused, 7u);
  sender_.refused.clear();
  for (int i = 0; i < 3; ++i) {
    const auto progress = Work(*delivery);
    now_ += progress.wait;
  }
  EXPECT_EQ(delivery->counters().refused + delivery->counters().segments, 8u);
  EXPECT_GE(delivery->counters().segments, 1u);
}

TEST_F(SegmentDeliveryTest, SaysWhichSegmentIsDamagedAndSendsTheOthers) {
  Add({10, 20, 30});
  fs::resize_file(PathOf(20), 100);
  auto delivery = Open();
  Work(*delivery);
  EXPECT_EQ(Sent(), "10 | 30 | ");
  EXPECT_THAT(notes_.skipped, testing::StartsWith("20: " + PathOf(20) + ": "));
  EXPECT_EQ(delivery->counters().damaged, 1u);
  delivery.reset();
  Work(*Open());
  EXPECT_EQ(Sent(), "");
}

TEST_F(SegmentDeliveryTest, TakesItThatSegmentsGo) {
  Add({10, 20, 30});
  const auto delivery = Open();
  fs::remove(PathOf(10));
  Work(*delivery);
  EXPECT_EQ(Sent(), "20 30 | ");
  EXPECT_EQ(delivery->counters().gone, 1u);
}

TEST_F(SegmentDeliveryTest, SendsABatchThatHasGoneMeanwhile) {
  Add({10, 20});
  sender_.answers = {{Outcome::kTryAgain, "busy"}};
  const auto delivery = Open();
  now_ += Work(*delivery).wait;
  fs::remove(PathOf(10));
  Work(*delivery);
  EXPECT_EQ(Sent(), "10 20 | 10 20 | ");
  EXPECT_EQ(notes_.delivered, "10 20 ");
}

TEST_F(SegmentDeliveryTest, WaitsForOthersUntilABatchIsFull) {
  options_.linger = minutes(1);
  Add({10});
  const auto delivery = Open();
  auto progress = Work(*delivery);
  EXPECT_EQ(progress.kind, Kind::kIdle);
  EXPECT_EQ(progress.wait, minutes(1));
  EXPECT_EQ(Sent(), "");
  now_ += seconds(10);
  Add({20});
  Work(*delivery);
  EXPECT_EQ(Sent(), "10 20 | ");
  Add({30});
  EXPECT_EQ(Work(*delivery).wait, minutes(1));
  now_ += minutes(1);
  Work(*delivery);
  EXPECT_EQ(Sent(), "30 | ");
}

TEST_F(SegmentDeliveryTest, TakesNoMoreBytesThanItMay) {
  Add({10, 20});
  options_.most_bytes = 1;
  Work(*Open());
  EXPECT_EQ(Sent(), "10 | 20 | ");
}

TEST_F(SegmentDeliveryTest, PassesOnWhatAServerSaysOfWhatItTook) {
  Add({10});
  sender_.answers = {{Outcome::kDelivered, "2 profiles left out"}};
  Work(*Open());
  EXPECT_EQ(notes_.remarks, "2 profiles left out");
}

TEST_F(SegmentDeliveryTest, IsDoneByOneProcessADestination) {
  const auto delivery = Open();
  const auto second = SegmentDelivery::Open(*spool_, kDestination, sender_, notes_, options_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
  EXPECT_TRUE(
      SegmentDelivery::Open(*spool_, "otlp+http://other:1", sender_, notes_, options_).ok());
}

// A sender that kills the process before or after one of its calls. It writes each batch that
// arrives to a file. A batch is identified by its segments; a server would identify it by its
// bytes.
class DeadlySender : public Sender {
 public:
  DeadlySender(std::string log, int deadly, bool before)
      : log_(std::move(log)), deadly_(deadly), before_(before) {}
  Delivery Send(std::span<const Window> batch) override {
    const bool is_deadly = ++calls_ == deadly_;
    if (is_deadly && before_) kill(getpid(), SIGKILL);
    std::ofstream(log_, std::ios::app) << Begins(batch) << "\n" << std::flush;
    if (is_deadly) kill(getpid(), SIGKILL);
    const bool is_refused = Begins(batch).find("30 ") != std::string::npos;
    return {.outcome = is_refused ? Outcome::kRefused : Outcome::kDelivered, .reason = "no"};
  }
  size_t RowsOfBatch() const override { return 9; }

 private:
  const std::string log_;
  const int deadly_;
  const bool before_;
  int calls_ = 0;
};

TEST_F(SegmentDeliveryTest, SendsTheVerySameBatchAgainWhenItWasKilledAtAnyMoment) {
  const std::string log = testing::TempDir() + "/arrived";
  fs::remove(log);
  Add({10, 20, 30, 40, 50, 60, 70, 80});
  bool is_over = false;
  int round = 0;
  for (; !is_over && round < 100; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      DeadlySender sender(log, 1 + round % 3, round % 2 == 0);
      Notes notes;
      const auto delivery = SegmentDelivery::Open(*spool_, kDestination, sender, notes, {});
      PushLoop loop({});
      const bool done = delivery.ok() && loop.Run(**delivery).ok();
      _exit(done ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    is_over = WIFEXITED(status);
    ASSERT_TRUE(!is_over || WEXITSTATUS(status) == 0);
    Add({100 + round});  // a batch in flight does not grow
  }
  EXPECT_TRUE(is_over);
  EXPECT_GT(round, 3);
  // If equal batches count once, each segment arrived once. The refused segment arrived only in
  // refused batches.
  std::ifstream file(log);
  std::set<std::string> batches;
  for (std::string line; std::getline(file, line);) batches.insert(line);
  std::map<std::string, int> times;
  for (const std::string& batch : batches) {
    if (batch.find("30 ") != std::string::npos) continue;
    for (const absl::string_view begin : absl::StrSplit(batch, ' ', absl::SkipEmpty())) {
      ++times[std::string(begin)];
    }
  }
  for (const char* begin : {"10", "20", "40", "50", "60", "70", "80"}) {
    EXPECT_EQ(times[begin], 1) << begin;
  }
  for (const auto& [begin, count] : times) EXPECT_EQ(count, 1) << begin;
}

TEST_F(SegmentDeliveryTest, GivesUpWhereItIsToldTo) {
  Add({10});
  sender_.answers.assign(9, {Outcome::kTryAgain, "busy"});
  options_.least_wait = std::chrono::microseconds(1);
  const auto delivery = SegmentDelivery::Open(*spool_, kDestination, sender_, notes_, options_);
  ASSERT_TRUE(delivery.ok());
  PushLoop loop({.most_failures = 3});
  EXPECT_EQ(loop.Run(**delivery).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Sent(), "10 | 10 | 10 | ");
}

}  // namespace
}  // namespace profiler::fleet
