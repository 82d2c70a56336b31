#include "src/fleet/push/otlp_sender.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/write_signals.h"
#include "src/fleet/push/segment_delivery.h"
#include "src/fleet/push/sender_of_destination.h"
#include "src/fleet/testing/window_text.h"
#include "src/http/testing/test_server.h"

namespace profiler::fleet {
namespace {

using http::ServerAnswer;
using http::TestServer;
using protozero::pbf_reader;
using testing::HasSubstr;
using Outcome = Delivery::Outcome;

constexpr UnixTime kSecond = 1'000'000'000;

// A request as a receiver reads it, by the numbers that are published with the protocol's files
// (opentelemetry-proto 1.11.0) and not by ours. Numbers that lead nowhere throw.
class Receiver {
 public:
  explicit Receiver(const std::string& bytes) {
    pbf_reader request(bytes);
    std::vector<std::string> resources;
    while (request.next()) {
      if (request.tag() == 1)
        resources.push_back(request.get_string());
      else if (request.tag() == 2)
        ReadDictionary(request.get_message());
      else
        throw std::out_of_range("request");
    }
    for (const std::string& resource : resources) ReadResource(pbf_reader(resource));
  }

  std::string text;                       // a line a sample
  std::map<std::string, int64_t> totals;  // by type
  std::set<std::string> ids;
  size_t functions() const { return functions_.size() - 1; }

 private:
  static std::vector<int32_t> Packed(pbf_reader& message) {
    const auto range = message.get_packed_int32();
    return {range.begin(), range.end()};
  }
  // "key=value", of a KeyValue or, with keys by number, of a KeyValueAndUnit.
  std::string Attribute(pbf_reader attribute, bool by_number) const {
    std::string key, value;
    while (attribute.next()) {
      if (attribute.tag() == 1) {
        key = by_number ? strings_.at(static_cast<size_t>(attribute.get_int32()))
                        : attribute.get_string();
      } else if (attribute.tag() == 2) {
        pbf_reader any = attribute.get_message();
        while (any.next()) {
          if (any.tag() != 1) throw std::out_of_range("value");
          value = any.get_string();
        }
      }
    }
    return key + "=" + value;
  }

  void ReadDictionary(pbf_reader dictionary) {
    std::vector<std::string> attributes;
    while (dictionary.next()) {
      const uint32_t table = dictionary.tag();
      const std::string element = dictionary.get_string();
      switch (table) {
        case 1:
          mappings_.push_back(element);
          break;
        case 2:
          locations_.push_back(element);
          break;
        case 3:
          functions_.push_back(element);
          break;
        case 4:
          if (!element.empty()) throw std::out_of_range("link");
          break;
        case 5:
          strings_.push_back(element);
          break;
        case 6:
          attributes.push_back(element);
          break;
        case 7:
          stacks_.push_back(element);
          break;
        default:
          throw std::out_of_range("dictionary");
      }
    }
    for (const auto* table :
         {&mappings_, &locations_, &functions_, &strings_, &attributes, &stacks_}) {
      if (table->empty() || !table->front().empty()) throw std::out_of_range("element 0");
    }
    for (const std::string& attribute : attributes) {
      attributes_.push_back(Attribute(pbf_reader(attribute), true));
    }
  }

  // The number in `field` of an element.
  static int32_t NumberIn(const std::string& element, uint32_t field) {
    pbf_reader message(element);
    int32_t number = 0;
    while (message.next()) {
      if (message.tag() == field)
        number = message.get_int32();
      else
        message.skip();
    }
    return number;
  }

  std::string Location(int32_t number) const {
    pbf_reader location(locations_.at(static_cast<size_t>(number)));
    std::string image, names;
    while (location.next()) {
      if (location.tag() == 1) {
        const auto mapping = static_cast<size_t>(location.get_int32());
        if (mapping != 0) {
          image = strings_.at(static_cast<size_t>(NumberIn(mappings_.at(mapping), 4)));
        }
      } else if (location.tag() == 3) {
        const auto function = static_cast<size_t>(NumberIn(location.get_string(), 1));
        absl::StrAppend(&names, names.empty() ? "" : "+",
                        strings_.at(static_cast<size_t>(NumberIn(functions_.at(function), 1))));
      } else if (location.tag() == 4) {
        for (const int32_t attribute : Packed(location)) {
          if (attributes_.at(static_cast<size_t>(attribute)) == "profile.frame.type=kernel") {
            names += "(kernel)";
          }
        }
      } else {
        location.skip();
      }
    }
    return absl::StrCat(names, "<", image, ">");
  }

  std::string Stack(int32_t number) const {
    pbf_reader stack(stacks_.at(static_cast<size_t>(number)));
    std::string names;
    while (stack.next()) {
      for (const int32_t location : Packed(stack)) absl::StrAppend(&names, Location(location), " ");
    }
    return names;
  }

  void ReadResource(pbf_reader resource_profiles) {
    std::string who;
    while (resource_profiles.next()) {
      const uint32_t field = resource_profiles.tag();
      pbf_reader message = resource_profiles.get_message();
      if (field == 1) {
        while (message.next()) absl::StrAppend(&who, Attribute(message.get_message(), false), " ");
      } else {
        while (message.next()) {
          if (message.tag() == 2) {
            ReadProfile(message.get_message(), who);
          } else {
            pbf_reader scope = message.get_message();
            while (scope.next()) who += "by " + scope.get_string() + " ";
          }
        }
      }
    }
  }

  std::string Type(pbf_reader type) const {
    std::string name;
    while (type.next()) {
      absl::StrAppend(&name, name.empty() ? "" : "/",
                      strings_.at(static_cast<size_t>(type.get_int32())));
    }
    return name;
  }

  void ReadProfile(pbf_reader profile, const std::string& who) {
    std::string type, head;
    while (profile.next()) {
      switch (profile.tag()) {
        case 1:
          type = Type(profile.get_message());
          break;
        case 2:
          ReadSample(profile.get_message(), who + type + head);
          totals[type] += value_;
          break;
        case 3:
          absl::StrAppend(&head, " at ", profile.get_fixed64() / kSecond);
          break;
        case 4:
          absl::StrAppend(&head, " for ", profile.get_uint64() / kSecond);
          break;
        case 5:
          absl::StrAppend(&head, " every ", Type(profile.get_message()));
          break;
        case 6:
          absl::StrAppend(&head, " ", profile.get_int64());
          break;
        case 7:
          ids.insert(profile.get_string());
          break;
        default:
          throw std::out_of_range("profile");
      }
    }
  }

  void ReadSample(pbf_reader sample, const std::string& head) {
    std::string stack, attributes;
    while (sample.next()) {
      switch (sample.tag()) {
        case 1:
          stack = Stack(sample.get_int32());
          break;
        case 2:
          for (const int32_t number : Packed(sample)) {
            absl::StrAppend(&attributes, attributes_.at(static_cast<size_t>(number)), " ");
          }
          break;
        case 4: {
          const auto values = sample.get_packed_int64();
          value_ = *values.begin();
          break;
        }
        default:
          throw std::out_of_range("sample");
      }
    }
    absl::StrAppend(&text, head, "\n  ", stack, attributes, value_, "\n");
  }

  std::vector<std::string> mappings_, locations_, functions_, strings_, attributes_, stacks_;
  int64_t value_ = 0;
};

std::string Unzipped(const std::string& packed) {
  z_stream stream{};
  inflateInit2(&stream, 16 + MAX_WBITS);
  std::string text(10 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

Window WindowAt(UnixTime second) {
  Window window = WebAndDatabase().Finish();
  window.begin = second * kSecond;
  return window;
}

TEST(OtlpRequest, SaysWhatAWindowHas) {
  const Window window = WindowAt(100);
  const Receiver read(OtlpRequest({&window, 1}));
  EXPECT_EQ(
      read.text,
      R"(service.name=web host.name=h1 region=eu release=1.2 by profiler 1.0.0 samples/count at 100 for 10 every cpu-clock/nanoseconds 20408163
  poll<libc.so.6> main<nginx> process.executable.name=nginx process.executable.build_id.gnu=ab12 3
service.name=web host.name=h1 region=eu release=1.2 by profiler 1.0.0 samples/count at 100 for 10 every cpu-clock/nanoseconds 20408163
  parse<nginx> inline+main<nginx> process.executable.name=nginx process.executable.build_id.gnu=ab12 2
service.name=web host.name=h1 region=eu release=1.2 by profiler 1.0.0 cpu-clock/nanoseconds at 100 for 10 every cpu-clock/nanoseconds 20408163
  poll<libc.so.6> main<nginx> process.executable.name=nginx process.executable.build_id.gnu=ab12 300
service.name=web host.name=h1 region=eu release=1.2 by profiler 1.0.0 cpu-clock/nanoseconds at 100 for 10 every cpu-clock/nanoseconds 20408163
  parse<nginx> inline+main<nginx> process.executable.name=nginx process.executable.build_id.gnu=ab12 200
service.name=db host.name=h1 container.id=c0ffee k8s.pod.uid=p-1 region=eu release=1.2 by profiler 1.0.0 samples/count at 100 for 10 every cpu-clock/nanoseconds 20408163
  do_syscall_64(kernel)<[kernel.kallsyms]> main<postgres> process.executable.name=postgres 1
service.name=db host.name=h1 container.id=c0ffee k8s.pod.uid=p-1 region=eu release=1.2 by profiler 1.0.0 cpu-clock/nanoseconds at 100 for 10 every cpu-clock/nanoseconds 20408163
  do_syscall_64(kernel)<[kernel.kallsyms]> main<postgres> process.executable.name=postgres 100
)");
}

TEST(OtlpRequest, HasEachNameOnceAndEachProfileAnIdOfItsOwn) {
  const std::array<Window, 2> windows = {WindowAt(100), WindowAt(110)};
  const Receiver read(OtlpRequest(windows));
  EXPECT_EQ(read.functions(), 5u);  // main, poll, inline, parse, do_syscall_64
  EXPECT_EQ(read.ids.size(), 8u);
  for (const std::string& id : read.ids) EXPECT_EQ(id.size(), 16u);
  EXPECT_EQ(read.totals.at("samples/count"), 12);
  EXPECT_EQ(read.totals.at("cpu-clock/nanoseconds"), 1200);
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
  EXPECT_THAT(read.text, HasSubstr("f\xEF\xBF\xBD<lib\xEF\xBF\xBD.so> "
                                   "process.executable.name=p\xEF\xBF\xBD 7"));
  EXPECT_THAT(read.text, HasSubstr("zone=\xEF\xBF\xBD "));
  EXPECT_THAT(read.text, testing::Not(HasSubstr("host.name=other")));
  EXPECT_EQ(read.totals.at("cycles/count"), 7);
}

// With little patience, so that a receiver that hangs costs a test little time.
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
  EXPECT_EQ(Unzipped(request.body), OtlpRequest({&window, 1}));
}

TEST(OtlpSender, SaysWhatTheReceiverLeftOutAndDoesNotSendItAgain) {
  TestServer server(http::Always({.body = std::string("\x0a\x07\x08\x02\x12\x03"
                                                      "bad",
                                                      9)}));
  const Delivery delivery = SendTo(server);
  EXPECT_EQ(delivery.outcome, Outcome::kDelivered);
  EXPECT_EQ(delivery.reason, "the receiver left out 2 profiles: bad");
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

// A receiver that takes some batches and does something else with all others, as a bad day has it.
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
    const Receiver read(Unzipped(request.body));
    if (read.totals.at("samples/count") > 12) return {.status = 413, .body = "too large"};
    if (trouble_ < kTroubles.size()) return kTroubles[trouble_++];
    trouble_ = 0;
    samples += read.totals.at("samples/count");
    value += read.totals.at("cpu-clock/nanoseconds");
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
