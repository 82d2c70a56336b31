#include "src/fleet/push/pyroscope_sender.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/write_signals.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/http/testing/test_server.h"
#include "src/importers/import.h"

namespace profiler::fleet {
namespace {

using http::ServerAnswer;
using http::TestServer;
using testing::HasSubstr;
using Outcome = Delivery::Outcome;

// Decodes "name=…&from=…" to one line per parameter, as a server reads it.
std::string Query(const std::string& url) {
  std::string text;
  for (size_t i = url.find('?') + 1; i < url.size(); ++i) {
    if (url[i] == '&') {
      text += '\n';
    } else if (url[i] == '%') {
      text += static_cast<char>(std::stoi(url.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += url[i];
    }
  }
  return text + "\n";
}

std::string Shown(const Window& window) {
  std::string text;
  for (const http::Request& request :
       PyroscopeRequests(window, "http://h", PyroscopeFormat::kFolded)) {
    absl::StrAppend(&text, request.method, " ", request.url.substr(0, request.url.find('?')), "\n",
                    Query(request.url), request.body);
  }
  return text;
}

TEST(PyroscopeRequests, AreOneAServiceAndEvent) {
  const Window window = WebAndDatabase().Finish();
  EXPECT_EQ(Shown(window), R"(POST http://h/ingest
name=web.cpu{service_name=web,host=h1,event=cpu-clock,region=eu,release=1.2}
from=1764115200
until=1764115210
units=samples
sampleRate=1000000000
aggregationType=sum
spyName=profiler
format=folded
nginx;main;inline;parse 200
nginx;main;poll 300
POST http://h/ingest
name=db.cpu{service_name=db,host=h1,event=cpu-clock,pod=p-1,region=eu,release=1.2}
from=1764115200
until=1764115210
units=samples
sampleRate=1000000000
aggregationType=sum
spyName=profiler
format=folded
postgres;main;do_syscall_64 100
)");
}

TEST(PyroscopeRequests, SendSamplesOfEventsThatAreNoTimes) {
  WindowBuilder builder;
  builder.window() = {.begin = 1'500'000'000, .length = 1'000'000'000, .frequency = 48.6};
  const uint32_t workload = builder.Workload({.service = "s", .program = "p"});
  builder.Add({builder.Event("cycles"), workload, StackOf(builder, "a;b i"), 5, 12345});
  builder.Add({builder.Event("offcpu-time"), workload, StackOf(builder, "a;c i"), 1, 777});
  const std::string text = Shown(std::move(builder).Finish());
  EXPECT_THAT(text, HasSubstr("name=s.cpu{service_name=s,event=cycles}\nfrom=1\nuntil=3\n"
                              "units=samples\nsampleRate=49\n"));
  EXPECT_THAT(text, HasSubstr("p;a;b 5\n"));
  EXPECT_THAT(text, HasSubstr("name=s.wall{service_name=s,event=offcpu-time}\n"));
  EXPECT_THAT(text, HasSubstr("p;a;c 777\n"));
}

TEST(PyroscopeRequests, HaveNamesThatTheServerReadsWhateverAServiceIsCalled) {
  WindowBuilder builder;
  builder.window() = {
      .host = "a,b}",
      .labels = {{"app.kubernetes.io/name", "x=y"}, {"__name__", "evil"}, {"host", "other"}}};
  const uint32_t workload =
      builder.Workload({.service = "n\xC3\xA9w{1}.service&x", .program = "p;q"});
  builder.Add({builder.Event("cpu-clock"), workload, StackOf(builder, "a;x;y i"), 1, 5});
  builder.Add({builder.Event("cpu-clock"), builder.Workload({.program = "p"}),
               builder.Stack(kNoCaller, "f;g\nh", "i"), 1, 6});
  const std::string text = Shown(std::move(builder).Finish());
  EXPECT_THAT(text, HasSubstr("name=n__w_1__service_x.cpu{service_name=n\xC3\xA9w{1_.service&x,"
                              "host=a_b_,event=cpu-clock,app_kubernetes_io_name=x=y}\n"));
  EXPECT_THAT(text, HasSubstr("name=unknown.cpu{service_name=unknown,"));
  EXPECT_THAT(text, HasSubstr("p:q;a;x;y 5\n"));
  EXPECT_THAT(text, HasSubstr("p;f:g h 6\n"));
}

TEST(PyroscopeRequests, CanHaveProfilesOfPprofs) {
  const Window window = WebAndDatabase().Finish();
  const auto requests = PyroscopeRequests(window, "http://h", PyroscopeFormat::kPprof);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_THAT(requests[0].url, testing::EndsWith("&format=pprof"));
  const std::string& body = requests[0].body;
  const auto read = importers::Import(std::as_bytes(std::span(body)), importers::Format::kPprof);
  ASSERT_TRUE(read.ok()) << read.status();
  uint64_t period = 0;
  for (const profile::Row& row : read->profile.rows) period += row.period;
  EXPECT_EQ(period, 500u);
}

std::unique_ptr<Sender> SenderTo(const TestServer& server) {
  IgnoreWriteSignals();
  return PyroscopeSender(*ParseDestination("pyroscope+" + server.url()), *http::CreateClient({}));
}

TEST(PyroscopeSender, SendsAllThatAWindowHas) {
  TestServer server(http::Always({}));
  const Window window = WebAndDatabase().Finish();
  EXPECT_EQ(SenderTo(server)->Send({&window, 1}).outcome, Outcome::kDelivered);
  uint64_t total = 0;
  for (const auto& request : server.received()) {
    for (const absl::string_view line : absl::StrSplit(request.body, '\n', absl::SkipEmpty())) {
      total += std::stoull(std::string(line.substr(line.rfind(' '))));
    }
  }
  EXPECT_EQ(server.received().size(), 2u);
  EXPECT_EQ(total, 600u);
}

TEST(PyroscopeSender, DoesNotSendAgainWhatWasAnswered) {
  int request = 0;
  TestServer server([&](const http::ReceivedRequest&) {
    return ServerAnswer{.status = ++request == 2 ? 503 : 200};
  });
  const auto sender = SenderTo(server);
  const Window window = WebAndDatabase().Finish();
  EXPECT_EQ(sender->Send({&window, 1}).outcome, Outcome::kTryAgain);
  EXPECT_EQ(sender->Send({&window, 1}).outcome, Outcome::kDelivered);
  std::string bodies;
  for (const auto& received : server.received()) {
    bodies += received.body.substr(0, received.body.find(';')) + " ";
  }
  EXPECT_EQ(bodies, "nginx postgres postgres ");
  // an explicit repetition is sent again
  EXPECT_EQ(sender->Send({&window, 1}).outcome, Outcome::kDelivered);
  EXPECT_EQ(server.received().size(), 5u);
}

TEST(PyroscopeSender, TellsWhatIsRefusedInPartFromWhatIsWhole) {
  int status = 400;
  TestServer server([&](const http::ReceivedRequest& request) {
    const bool is_web = request.body.starts_with("nginx");
    return ServerAnswer{.status = is_web ? 400 : status, .body = "unknown type"};
  });
  const auto sender = SenderTo(server);
  const Window window = WebAndDatabase().Finish();
  const Delivery none = sender->Send({&window, 1});
  EXPECT_EQ(none.outcome, Outcome::kRefused);
  EXPECT_EQ(none.reason, "HTTP 400: unknown type");
  status = 200;
  const Delivery half = sender->Send({&window, 1});
  EXPECT_EQ(half.outcome, Outcome::kDelivered);
  EXPECT_EQ(half.reason, "1 of the 2 requests of a window were refused: HTTP 400: unknown type");
}

}  // namespace
}  // namespace profiler::fleet
