// Runs `profiler push` as a user runs it. Contents of requests are tested in src/fleet/push; this
// test counts the requests.

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/http/testing/test_server.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using http::Always;
using http::ReceivedRequest;
using http::ServerAnswer;
using http::TestServer;
using testing::HasSubstr;

class PushTest : public testing::Test {
 protected:
  PushTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        spool_(folder_ + "/spool") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  // Adds segments number `first` and later to the spool. Each has one window of 6 samples.
  void AddSegments(int first, int count) const {
    auto spool = fleet::SegmentSpool::Open(spool_, {});
    ASSERT_TRUE(spool.ok()) << spool.status();
    for (int i = first; i < first + count; ++i) {
      fleet::Window window = fleet::WebAndDatabase().Finish();
      window.begin = i * fleet::UnixTime{10'000'000'000};
      ASSERT_TRUE(spool->Add(window).ok());
    }
  }

  std::vector<std::string> Command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {Runfile("profiler"), "push", spool_});
    return arguments;
  }
  Finished Push(std::vector<std::string> arguments) const {
    return tests::Run(Command(std::move(arguments)), folder_);
  }
  std::string FileWith(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  const std::string folder_, spool_;
};

TEST_F(PushTest, SendsAllOnceAndThenWhatIsNew) {
  AddSegments(1, 3);
  TestServer server(Always({}));
  const std::string to = "otlp+" + server.url();
  Finished pushed = Push({"--to", to});
  EXPECT_EQ(pushed.exit_code, 0) << pushed.err;
  EXPECT_EQ(pushed.err,
            absl::StrCat("[ profiler push: 18 samples in 3 segments to ", to, " (1 request) ]\n"));
  AddSegments(4, 1);
  pushed = Push({"--to", to});
  EXPECT_THAT(pushed.err, HasSubstr("6 samples in 1 segments"));
  pushed = Push({"--to", to});
  EXPECT_THAT(pushed.err, HasSubstr("0 samples in 0 segments"));
  EXPECT_EQ(server.received().size(), 2u);
}

TEST_F(PushTest, SendsNoMoreAtOnceThanItIsToldTo) {
  AddSegments(1, 3);
  TestServer server(Always({}));
  const Finished pushed = Push({"--to", "otlp+" + server.url(), "--batch-size", "1B"});
  EXPECT_EQ(pushed.exit_code, 0) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("18 samples in 3 segments"));
  EXPECT_EQ(server.received().size(), 3u);  // one per segment: segments are not split
}

TEST_F(PushTest, SendsToSeveralServersEachOnItsOwn) {
  AddSegments(1, 2);
  TestServer otlp(Always({})), pyroscope(Always({}));
  TestServer broken(Always({.status = 503}));
  const Finished pushed =
      Push({"--to", "otlp+" + otlp.url(), "--to", "pyroscope+" + pyroscope.url(), "--to",
            "otlp+" + broken.url(), "--tries", "1"});
  EXPECT_EQ(pushed.exit_code, 1);
  EXPECT_EQ(otlp.received().size(), 1u);
  EXPECT_EQ(pyroscope.received().size(), 4u);  // one per window and service: 2 × 2
  EXPECT_THAT(pushed.err, HasSubstr("HTTP 503"));
  EXPECT_THAT(pushed.err, HasSubstr("given up after 1 tries"));
  EXPECT_THAT(pushed.err, HasSubstr(", 2 not sent yet ]"));
}

TEST_F(PushTest, SaysWhatItWouldSend) {
  AddSegments(1, 2);
  TestServer server(
      [](const ReceivedRequest&) { return ServerAnswer{.status = 400, .body = "no"}; });
  const std::string to = "pyroscope+" + server.url();
  const Finished dry = Push({"--to", to, "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr(to + "\n  to send  2 segments with 12 samples"));
  EXPECT_EQ(server.connections(), 0u);
  const Finished pushed = Push({"--to", to, "-q"});
  EXPECT_EQ(pushed.exit_code, 1);
  EXPECT_THAT(pushed.err, HasSubstr(".seg cannot be pushed to " + to + ": HTTP 400: no"));
  const Finished after = Push({"--to", to, "--dry-run"});
  EXPECT_THAT(after.out, HasSubstr("to send  0 segments"));
  EXPECT_THAT(after.out, HasSubstr(".seg  HTTP 400: no\n"));
}

TEST_F(PushTest, SignsInWithWhatIsInAFile) {
  AddSegments(1, 1);
  TestServer server(Always({}));
  const std::string to = "otlp+" + server.url();
  const Finished open = Push({"--to", to, "--token-file", FileWith("open", "t0k\n", 0644)});
  EXPECT_EQ(open.exit_code, 1);
  EXPECT_THAT(open.err, HasSubstr("chmod o-r"));
  EXPECT_EQ(server.received().size(), 0u);
  EXPECT_EQ(Push({"--to", to, "--token-file", FileWith("token", "t0k\n")}).exit_code, 0);
  EXPECT_EQ(server.received().at(0).Header("authorization"), "Bearer t0k");
}

TEST_F(PushTest, SaysInOneLineWhatIsWrong) {
  AddSegments(1, 1);
  const auto expect = [&](std::vector<std::string> arguments, int code, const char* says) {
    const Finished finished = Push(std::move(arguments));
    EXPECT_EQ(finished.exit_code, code) << says;
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  };
  expect({"--to", "otlp+http://user:secret@h"}, 2, "--user-file");
  expect({"--to", "otlp+http://h", "--batch-size", "0"}, 2, "--batch-size: '0' is not a size");
  expect({"--to", "http://h"}, 2, "begin with the kind of server");
  expect({"--to", "otlp+http://h", "--to", "otlp+http://H:4318/"}, 2, "is given twice");
  const Finished missing = tests::Run(
      {Runfile("profiler"), "push", folder_ + "/none", "--to", "otlp+http://h"}, folder_);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("/none: No such file"));
}

// A server that keeps the body of each request. It can leave the first requests without an answer.
class Notebook {
 public:
  ServerAnswer operator()(const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(request.body);
    arrived_.notify_all();
    if (deadly_ > 0 && bodies_.size() <= deadly_) return {.end = ServerAnswer::End::kNever};
    return {};
  }
  void AwaitRequest(size_t number) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return bodies_.size() >= number; });
  }
  // Leaves the first `requests` requests without an answer.
  void IsDeadly(size_t requests) { deadly_ = requests; }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  size_t deadly_ = 0;
  std::vector<std::string> bodies_;
};

TEST_F(PushTest, SendsTheSameBytesAgainWhenItWasKilled) {
  AddSegments(1, 5);
  Notebook notebook;
  notebook.IsDeadly(3);
  TestServer server([&](const ReceivedRequest& request) { return notebook(request); });
  const std::string to = "otlp+" + server.url();
  for (int i = 0; i < 3; ++i) {
    Running push(Command({"--to", to}), folder_);
    notebook.AwaitRequest(static_cast<size_t>(i) + 1);
    kill(push.pid(), SIGKILL);
    push.Wait();
    AddSegments(10 + i, 1);
  }
  const Finished pushed = Push({"--to", to});
  EXPECT_EQ(pushed.exit_code, 0) << pushed.err;
  const auto bodies = notebook.bodies();
  ASSERT_EQ(bodies.size(), 5u);
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(bodies[i] == bodies[0]) << i;
  EXPECT_THAT(pushed.err, HasSubstr("48 samples in 8 segments"));
}

TEST_F(PushTest, ServesMetricsOnlyWhileItFollows) {
  AddSegments(1, 1);
  Finished pushed = Push({});
  EXPECT_EQ(pushed.exit_code, 2);
  EXPECT_THAT(pushed.err, HasSubstr("give --to DESTINATION, or --follow --metrics ADDRESS:PORT"));
  pushed = Push({"--metrics", "127.0.0.1:0"});
  EXPECT_EQ(pushed.exit_code, 2);
  EXPECT_THAT(pushed.err, HasSubstr("--metrics needs --follow"));
}

TEST_F(PushTest, FollowsUntilItIsToldToEnd) {
  AddSegments(1, 1);
  Notebook notebook;
  TestServer server([&](const ReceivedRequest& request) { return notebook(request); });
  Running push(Command({"--to", "otlp+" + server.url(), "--follow"}), folder_);
  notebook.AwaitRequest(1);
  AddSegments(2, 1);
  notebook.AwaitRequest(2);
  kill(push.pid(), SIGTERM);
  const Finished ended = push.Wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("12 samples in 2 segments"));
}

}  // namespace
}  // namespace profiler::tests
