#include "src/fleet/push/otlp_sender.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/base/write_signals.h"
#include "src/fleet/push/segment_delivery.h"
#include "src/fleet/push/sender_of_destination.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/format/otlp/testing/receiver.h"
#include "src/http/testing/test_server.h"

namespace profiler::fleet {
namespace {

using http::ServerAnswer;
using http::TestServer;
using otlp::Receiver;
using testing::HasSubstr;
using Outcome = Delivery::Outcome;

constexpr UnixTime kSecond = 1'000'000'000;

Window WindowAt(UnixTime second) {
  Window window = WebAndDatabase().Finish();
  window.begin = second * kSecond;
  return window;
}

constexpr std::string_view kWeb =
    "service.name=web host.name=h1 region=eu release=1.2 by 1:profiler 2:1.0.0 ";
constexpr std::string_view kDatabase =
    "service.name=db host.name=h1 container.id=c0ffee k8s.pod.uid=p-1 region=eu release=1.2 by "
    "1:profiler 2:1.0.0 ";

TEST(OtlpRequest, SaysWhatAWindowHas) {
  const Window window = WindowAt(100);
  const Receiver read(OtlpRequest({&window, 1}));
  const auto lines = [](std::string_view who, std::string_view type, std::string_view sample) {
    return absl::StrCat(View(who), View(type),
                        " at 100 for 10 every cpu/nanoseconds 100 perf.event.name=cpu-clock\n  ",
                        View(sample), "\n");
  };
  constexpr std::string_view kPoll =
      "poll<~libc.so.6> main<~nginx> process.executable.name=nginx "
      "process.executable.build_id.gnu=ab12 ";
  constexpr std::string_view kParse =
      "parse<~nginx> inline+main<~nginx> process.executable.name=nginx "
      "process.executable.build_id.gnu=ab12 ";
  constexpr std::string_view kCall =
      "do_syscall_64(kernel)<> main<~postgres> process.executable.name=postgres ";
  EXPECT_EQ(read.text, lines(kWeb, "samples/count", absl::StrCat(View(kPoll), 3)) +
                           lines(kWeb, "samples/count", absl::StrCat(View(kParse), 2)) +
                           lines(kWeb, "cpu/nanoseconds", absl::StrCat(View(kPoll), 300)) +
                           lines(kWeb, "cpu/nanoseconds", absl::StrCat(View(kParse), 200)) +
                           lines(kDatabase, "samples/count", absl::StrCat(View(kCall), 1)) +
                           lines(kDatabase, "cpu/nanoseconds", absl::StrCat(View(kCall), 100)));
}

TEST(OtlpRequest, HasTheTypeOfEachFrameAndTheBuildIdOfEachImage) {
  WindowBuilder builder;
  const auto frame = [&](uint32_t caller, const FrameNames& names) {
    return builder.Stack(caller, builder.Frame(names));
  };
  uint32_t stack = frame(kNoCaller, {"main", "node", "native", "gnu:ab12"});
  stack = frame(stack, {"JS:work", "[JIT]", "v8js", ""});
  stack = frame(stack, {"main.work", "app", "go", "htlhash:cd34"});
  stack = frame(stack, {"made", "[JIT]", "", ""});
  builder.Add({builder.Event("cpu-clock"), builder.Workload({.program = "node"}), stack, 2, 20});
  const Window window = std::move(builder).Finish();
  EXPECT_THAT(Receiver(OtlpRequest({&window, 1})).text,
              HasSubstr("\n  made(-)<> main.work(go)<app htlhash=cd34> JS:work(v8js)<> "
                        "main<node gnu=ab12> process.executable.name=node 2\n"));
}

TEST(OtlpRequest, NamesAServiceThatNobodyNamedByItsProgram) {
  WindowBuilder builder;
  for (const char* const program : {"nginx", ""}) {
    builder.Add({builder.Event("cpu-clock"), builder.Workload({.program = program}),
                 StackOf(builder, "main nginx"), 1, 1});
  }
  const Window window = std::move(builder).Finish();
  const std::string text = Receiver(OtlpRequest({&window, 1})).text;
  EXPECT_THAT(text, HasSubstr("service.name=unknown_service:nginx by"));
  EXPECT_THAT(text, HasSubstr("service.name=unknown_service by"));
}

TEST(OtlpRequest, HasPeriodsAsPyroscopeTakesThem) {
  WindowBuilder builder;
  const uint32_t workload = builder.Workload({.service = "s", .program = "p"});
  const uint32_t stack = StackOf(builder, "main p");
  builder.Add({builder.Event("offcpu-time"), workload, stack, 3, 700});
  builder.Add({builder.Event("sched:sched_switch"), workload, stack, 5, 5});
  const Window window = std::move(builder).Finish();
  const std::string text = Receiver(OtlpRequest({&window, 1})).text;
  for (const char* const head :
       {"samples/count for 0 every context_switch/count 1 perf.event.name=offcpu-time\n",
        "off_cpu/nanoseconds for 0 perf.event.name=offcpu-time\n",
        "samples/count for 0 every sched_sched_switch/count 1 perf.event.name=sched:sched_switch\n",
        "sched_sched_switch/count for 0 every sched_sched_switch/count 1 "
        "perf.event.name=sched:sched_switch\n"}) {
    EXPECT_THAT(text, HasSubstr(head));
  }
}

TEST(OtlpRequest, HasEachNameOnceAndEachProfileAnIdOfItsOwn) {
  const std::array<Window, 2> windows = {WindowAt(100), WindowAt(110)};
  const Receiver read(OtlpRequest(windows));
  EXPECT_EQ(read.functions(), 5u);  // main, poll, inline, parse, do_syscall_64
  EXPECT_EQ(read.ids.size(), 8u);
  for (const std::string& id : read.ids) EXPECT_EQ(id.size(), 16u);
  EXPECT_EQ(read.totals.at("samples/count"), 12);
  EXPECT_EQ(read.totals.at("cpu/nanoseconds"), 1200);
  EXPECT_EQ(OtlpRequest(windows), OtlpRequest(windows));
  const Receiver first(OtlpRequest({&windows[0], 1}));
  EXPECT_TRUE(std::ranges::includes(read.ids, first.ids));
}

TEST(OtlpRequest, HasTextsThatAreUtf8AndLabelsThatAreNoAttributesOfOurs) {
  WindowBuilder builder = WebAndDatabase();
  builder.window().labels = {{"host.name", "other"}, {"zone", "\xff"}};
  const uint32_t stack = builder.Stack(kNoCaller, "f\xc3", "lib\xfe.so");
  builder.Add({builder.Event("cycles"), builder.Workload({.program = "p\x80"}), stack, 1, 7});
  const Window window = std::move(builder).Finish();
  const Receiver read(OtlpRequest({&window, 1}));
  EXPECT_THAT(read.text, HasSubstr("f\xEF\xBF\xBD<~lib\xEF\xBF\xBD.so> "
                                   "process.executable.name=p\xEF\xBF\xBD 7"));
  EXPECT_THAT(read.text, HasSubstr("zone=\xEF\xBF\xBD "));
  EXPECT_THAT(read.text, testing::Not(HasSubstr("host.name=other")));
  EXPECT_EQ(read.totals.at("cycles/count"), 7);
}

// A client with a short timeout, so that a receiver that hangs does not slow the test.
class ImpatientClient : public http::Client {
 public:
  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    http::Request quick = request;
    quick.timeout = std::chrono::milliseconds(200);
    return client_->Send(quick);
  }

 private:
  const std::unique_ptr<http::Client> client_ = *http::CreateClient({});
};

Destination At(const TestServer& server) { return *ParseDestination("otlp+" + server.url()); }

Delivery SendTo(const TestServer& server) {
  IgnoreWriteSignals();
  const Window window = WindowAt(100);
  return OtlpSender(At(server), std::make_unique<ImpatientClient>())->Send({&window, 1});
}

TEST(OtlpSender, PostsAGzippedRequest) {
  TestServer server(http::Always({}));
  const Delivery delivery = SendTo(server);
  EXPECT_EQ(delivery.outcome, Outcome::kDelivered);
  EXPECT_EQ(delivery.reason, "");
  const auto request = server.received().at(0);
  EXPECT_EQ(request.method + " " + request.target, "POST /v1development/profiles");
  EXPECT_EQ(request.Header("content-type"), "application/x-protobuf");
  EXPECT_EQ(request.Header("content-encoding"), "gzip");
  const Window window = WindowAt(100);
  EXPECT_EQ(*Gunzip(request.body), OtlpRequest({&window, 1}));
}

TEST(OtlpSender, SaysWhatTheReceiverLeftOutAndDoesNotSendItAgain) {
  TestServer server(http::Always({.body = std::string("\x0a\x07\x08\x02\x12\x03"
                                                      "bad",
                                                      9)}));
  const Delivery delivery = SendTo(server);
  EXPECT_EQ(delivery.outcome, Outcome::kDelivered);
  EXPECT_EQ(delivery.reason, "the server rejected 2 profiles: bad");
  TestServer json(http::Always(
      {.headers = {{"Content-Type", "application/json"}}, .body = "{\"partialSuccess\":{}}"}));
  EXPECT_EQ(SendTo(json).outcome, Outcome::kDelivered);
}

TEST(OtlpSender, BelievesNobodyWhoIsNoReceiver) {
  TestServer server(http::Always(
      {.headers = {{"Content-Type", "text/html"}}, .body = "<html>Please log in</html>"}));
  const Delivery delivery = SendTo(server);
  EXPECT_EQ(delivery.outcome, Outcome::kTryAgain);
  EXPECT_THAT(delivery.reason, HasSubstr("HTTP 200: <html>Please log in</html>"));
}

TEST(SenderOfDestination, MakesThoseThatAreBuiltIn) {
  EXPECT_TRUE(SenderOfDestination(*ParseDestination("otlp+http://h"), {}).ok());
  EXPECT_TRUE(SenderOfDestination(*ParseDestination("pyroscope+http://h"), {}).ok());
  EXPECT_FALSE(
      SenderOfDestination(*ParseDestination("otlp+http://h"), {.token_file = "/none"}).ok());
}

// A receiver that accepts some batches and fails in various ways for all others.
class BadDay {
 public:
  ServerAnswer operator()(const http::ReceivedRequest& request) {
    using End = ServerAnswer::End;
    static const std::vector<ServerAnswer> kTroubles = {
        {.end = End::kNever},
        {.headers = {{"Content-Type", "text/html"}}, .body = "<html>"},
        {.status = 307, .headers = {{"Location", "http://127.0.0.1:1/"}}},
        {.status = 429, .headers = {{"Retry-After", "17"}}},
        {.status = 500, .body = "oops"},
        {.status = 404},
        {.status = 503, .end = End::kCutOff},
        {.end = End::kNoAnswer}};
    const Receiver read(*Gunzip(request.body));
    if (read.totals.at("samples/count") > 12) return {.status = 413, .body = "too large"};
    if (trouble_ < kTroubles.size()) return kTroubles[trouble_++];
    trouble_ = 0;
    samples += read.totals.at("samples/count");
    value += read.totals.at("cpu/nanoseconds");
    ids.insert(read.ids.begin(), read.ids.end());
    return {};
  }
  int64_t samples = 0, value = 0;
  std::set<std::string> ids;

 private:
  size_t trouble_ = 0;
};

TEST(OtlpSender, LosesNothingAndSendsNothingTwiceOnABadDay) {
  IgnoreWriteSignals();
  const std::string path = testing::TempDir() + "/bad_day";
  std::filesystem::remove_all(path);
  auto spool = SegmentSpool::Open(path, {});
  ASSERT_TRUE(spool.ok()) << spool.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(spool->Add(WindowAt(100 + i)).ok());
  BadDay day;
  TestServer server([&](const http::ReceivedRequest& request) { return day(request); });
  const auto sender = OtlpSender(At(server), std::make_unique<ImpatientClient>());
  SegmentDelivery::Listener listener;
  std::chrono::nanoseconds now(0);
  const auto delivery = SegmentDelivery::Open(*spool, At(server).Text(), *sender, listener, {},
                                              {.now = [&] { return now; },
                                               .unix_now = [] { return UnixTime{1}; },
                                               .random = [] { return 0.5; }});
  ASSERT_TRUE(delivery.ok()) << delivery.status();
  for (;;) {
    const auto progress = (*delivery)->Step();
    ASSERT_TRUE(progress.ok()) << progress.status();
    now += progress->wait;
    if (progress->kind == SegmentDelivery::Progress::Kind::kIdle) break;
  }
  EXPECT_EQ(day.samples, 30);
  EXPECT_EQ(day.value, 3000);
  EXPECT_EQ(day.ids.size(), 20u);
  const auto counters = (*delivery)->counters();
  EXPECT_EQ(counters.samples, 30u);
  EXPECT_EQ(counters.refused, 0u);
  EXPECT_GE(counters.failures, 16u);
}

}  // namespace
}  // namespace profiler::fleet
